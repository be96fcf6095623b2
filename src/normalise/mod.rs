//! stub
use crate::domain::council::{opinion::Opinion, report::Report, review::Review, words::Mode};
pub struct Read<T> {
    pub document: T,
    pub repaired: bool,
}
pub struct Unreadable {
    pub reason: String,
    pub refusal: bool,
}
pub fn opinion(_t: &str, _m: Mode) -> Result<Read<Opinion>, Unreadable> {
    Err(Unreadable { reason: String::new(), refusal: false })
}
pub fn review(_t: &str, _l: &[char]) -> Result<Read<Review>, Unreadable> {
    Err(Unreadable { reason: String::new(), refusal: false })
}
pub fn report(_t: &str, _l: &[char]) -> Result<Read<Report>, Unreadable> {
    Err(Unreadable { reason: String::new(), refusal: false })
}
pub fn schema(_p: crate::domain::ask::Purpose) -> std::sync::Arc<serde_json::Value> {
    std::sync::Arc::new(serde_json::Value::Null)
}
