//! The Rust code of the README and of the guides, compiled as documentation tests.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../docs/guides/api-server.md")]
struct ApiServer;

#[doc = include_str!("../../docs/guides/objects.md")]
struct Objects;
