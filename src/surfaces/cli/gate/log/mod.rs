//! `log`: the verdict log, looked at, taken out, taken in, mended.

mod command;
mod export;
mod import;
mod repair;
mod tail;

pub(crate) use command::LogCommand;
