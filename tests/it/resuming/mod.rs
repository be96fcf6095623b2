//! Councils whose process died, was stopped, or has a rival: what was answered is kept,
//! and nobody is asked twice.

mod broken;
mod concluding;
mod fallback;
mod hands;
mod house;
mod killed;
mod library;
mod lives;
mod older;
mod ownership;
mod retention;
mod stages;
mod stopped;
mod words;
