//! What the README shows, so that it compiles.

#[doc = include_str!("../../README.md")]
struct Readme;
