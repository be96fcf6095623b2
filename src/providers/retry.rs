//! stub
use super::request::CallError;
use crate::domain::ask::ErrorType;
use std::time::Duration;
pub const ATTEMPTS_MAX: u8 = 2;
pub fn again(_e: &CallError, _a: u8, _t: Duration, _d: u64) -> Option<Duration> {
    None
}
pub fn falls_back(_e: ErrorType) -> bool {
    false
}
