//! The artifact gate, through the program and over real HTTP.

mod absences;
mod audit;
mod compounding;
mod documents;
mod house;
mod injected;
mod loopholes;
mod modularity;
mod pipelines;
mod showing;
mod sweep;
mod tiers;
