//! Artifact reviews, through the program and over real HTTP.

mod absences;
mod audit;
mod documents;
mod harness;
mod loopholes;
mod modularity;
mod pipelines;
mod prior_verdicts;
mod prompt_injection;
mod review_pages;
mod sweep;
mod tiers;
