//! A server's life: until its clients leave or somebody says stop, and then in order.

use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::super::runs::hall::open_as_many_as_allowed;
use super::super::session::{Done, Session};
use super::super::signals::Signals;
use super::super::ui::talk;
use crate::error::Error;
use crate::hosting::House;
use crate::providers::sweep_scratch_folders;

/// What a server waits for.
pub(super) type Stop = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves, then ends what was running where it can be taken up again.
pub(super) fn serve_until_stopped(
    session: Session<'_>,
    serve: impl AsyncFnOnce(Arc<House>, Stop) -> Result<(), Error>,
) -> Result<Done, Error> {
    open_as_many_as_allowed();
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    sweep_scratch_folders();
    let say = if session.ui.is_quiet() { |_: &str| {} } else { talk };
    let house = House::new(session.premises.without_questions(), say);
    let done = runtime.block_on(async {
        let (tell, told) = oneshot::channel();
        let stop = Box::pin(async move { drop(told.await) });
        let serving = async {
            let served = serve(Arc::clone(&house), stop).await;
            house.close().await;
            served.map(|()| Done::Well)
        };
        tokio::select! {
            done = serving => done,
            () = heed(&house, tell) => Ok(Done::Interrupted),
        }
    });
    // Somebody may still read standard input, and would wait for it for ever.
    runtime.shutdown_background();
    done
}

/// Waits until somebody says stop, and tells the server; returns when they say it again, and mean
/// at once. Runs end with the first word, whoever is still connected: they cost money.
async fn heed(house: &House, tell: oneshot::Sender<()>) {
    let mut signals = Signals::open();
    signals.next().await;
    house.interrupt_all();
    // A server that has ended by itself does not hear it.
    let _ = tell.send(());
    signals.next().await;
}
