//! Where the store lies: flags win over the environment, the environment over
//! `council.yaml`, the file over the defaults.

mod locate;

pub use locate::{ConfigError, Flags, Located, locate};
