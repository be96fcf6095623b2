//! Work that waits for the disk, done where nobody else waits for it.

use crate::error::Error;

/// The store waits for the disk; whoever else is served does not wait for the store.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::Runtime(std::io::Error::other(error))))
}
