//! The verdict log: its rows, the file that is written from them, and what people do with both.

mod desk;
mod importing;
mod killed;
mod looking;
mod mending;
mod overriding;
mod repairing;
mod rows;
mod shelf;
mod writing;
