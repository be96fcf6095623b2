//! How deliberations end: the states, what can go wrong on the way, and who has a hand in it.

mod acceptance;
mod blind;
mod canary;
mod conclude;
mod directing;
mod hand;
mod house;
mod lot;
mod manners;
mod states;
mod stopping;
