//! Artifact reviews, through the program and over real HTTP.

mod absences;
mod audit;
mod classifier;
mod classifier_situations;
mod documents;
mod harness;
mod loopholes;
mod modularity;
mod pipelines;
mod prior_verdicts;
mod prompt_injection;
mod repeated_content;
mod review_pages;
mod several_files;
mod sweep;
mod tiers;
