//! `log`: shows, exports, imports or repairs the verdict log.

mod command;
mod export;
mod import;
mod repair;
mod tail;

pub(crate) use command::LogCommand;
