//! Listens for what the Principal does from elsewhere: another terminal, another process.
//!
//! One question to the store every now and then serves all runs of a process. Only a
//! stop needs it: whispers and directives are found when the next ask is written down.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::store::Store;

/// A person who said stop should see it take effect; the question costs some microseconds.
const PAUSE: Duration = Duration::from_millis(200);

/// Rings whenever somebody intervened, in whichever run.
#[derive(Debug, Clone)]
pub struct Ear(watch::Receiver<u64>);

impl Ear {
    /// Hears nothing, ever.
    pub fn deaf() -> Self {
        Self(watch::channel(0).1)
    }

    /// An ear, and the work that must go on for it to hear. It does not ask before it opens,
    /// which would take a connection while a run is about to start: whatever was said in this
    /// store before rings once, and runs find nothing new.
    pub fn open(store: Arc<dyn Store>) -> (Self, impl Future<Output = ()> + Send) {
        let (heard, ear) = watch::channel(0);
        let listening = async move {
            while !heard.is_closed() {
                tokio::time::sleep(PAUSE).await;
                // A store that cannot be asked now can be asked later.
                let Ok(now) = store.last_intervention() else { continue };
                heard.send_if_modified(|known| std::mem::replace(known, now) != now);
            }
        };
        (Self(ear), listening)
    }

    /// Waits until somebody has intervened since this was called last.
    pub(super) async fn ring(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
