//! The Kubernetes API under load, and under requests that nobody sane sends.
//!
//! `http` speaks HTTP/1.1 by hand; each of the others is one thing that is done to three replicas, for a moment here and for
//! long by `cargo xtask endure`.

mod fuzz;
mod http;
mod informers;
mod listing;
mod stored;
