//! The features of external crates that tests need: see `Cargo.toml`. No code belongs here.
