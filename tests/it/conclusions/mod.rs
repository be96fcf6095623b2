//! How deliberations end: the states, what can go wrong on the way, and who has a hand in it.

mod acceptance;
mod blind;
mod canary;
mod lot;
mod manners;
mod states;
