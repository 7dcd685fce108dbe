//! The house rules, as tests: `cargo xtask tidy`.
//!
//! Each rule is one file that states the rule and the reason, checks the checkout with one test, and shows with others
//! that it finds breaches: a rule that cannot fail is a defect.

mod attributes;
mod borders;
mod built;
mod bytes;
mod callers;
mod circles;
mod contents;
mod documents;
mod exhaustiveness;
mod file_names;
mod finding;
mod guarantees;
mod language;
mod links;
mod manifests;
mod operations;
mod privacy;
mod protocols;
mod queues;
mod reasons;
mod references;
mod selects;
mod sizes;
mod sleeps;
mod source;
mod tree;
mod words;
