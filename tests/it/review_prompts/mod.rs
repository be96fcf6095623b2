//! Prompts of a review's seats, and that foreign text stays inside its fence.

mod fences;
mod harness;
mod messages;
mod situations;
mod visibility;
