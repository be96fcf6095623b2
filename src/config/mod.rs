//! Where the store lies: flags win over the environment, the environment over the
//! default, which lies beside the nearest `council.yaml` upward.

mod locate;

pub use locate::{ConfigError, Flags, Located, locate};
