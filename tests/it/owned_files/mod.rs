//! Files that Plenary writes: which it replaces, where it never writes, and what stays behind.

mod leftovers;
mod links;
mod races;
mod replacing;
