//! The examples of the README, compiled as documentation tests.

#[doc = include_str!("../../README.md")]
struct Readme;
