//! Files that Plenary writes: which it replaces, where it never writes, and leftovers.

mod leftovers;
mod links;
mod races;
mod replacing;
