//! A server's life: until its clients leave or somebody says stop, and then in order.

use std::sync::Arc;

use tokio::runtime::Builder;

use super::super::session::{Done, Session};
use super::super::signals::told_to_stop;
use super::super::ui::talk;
use crate::error::Error;
use crate::hosting::House;

/// What a server waits for.
pub(super) type Stop = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves, then ends what was running where it can be taken up again.
pub(super) fn serve_until_stopped(
    session: Session<'_>,
    serve: impl AsyncFnOnce(Arc<House>, Stop) -> Result<(), Error>,
) -> Result<Done, Error> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    let say = if session.ui.is_quiet() { |_: &str| {} } else { talk };
    let house = House::new(session.premises, say);
    let served = runtime.block_on(async {
        let served = serve(Arc::clone(&house), Box::pin(told_to_stop())).await;
        house.close().await;
        served
    });
    // Somebody may still read standard input, and would wait for it for ever.
    runtime.shutdown_background();
    served.map(|()| Done::Well)
}
