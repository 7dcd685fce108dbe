//! Compiles the `.proto` sources, in Rust alone: no `protoc` is needed.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use protox::prost::Message as _;

/// Where the sources are; the folders below it are the packages.
const ROOT: &str = "proto";

/// What clients speak, and what reflection tells them about.
const PUBLIC: &[&str] = &[
    "synod/v1/cluster.proto",
    "synod/v1/common.proto",
    "synod/v1/errors.proto",
    "synod/v1/membership.proto",
    "synod/v1/sessions.proto",
    "synod/v1/storage_versions.proto",
    "synod/v1/watch.proto",
];

/// What only replicas speak and store.
const INTERNAL: &[&str] = &[
    "synod/peer/v1/peer.proto",
    "synod/storage/v1/checkpoint.proto",
    "synod/storage/v1/log.proto",
    "synod/storage/v1/values.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let out = PathBuf::from(env::var("OUT_DIR")?);

    let public = protox::compile(PUBLIC, [ROOT])?;
    fs::write(out.join("synod.v1.binpb"), public.encode_to_vec())?;

    let all = protox::compile(PUBLIC.iter().chain(INTERNAL), [ROOT])?;
    tonic_prost_build::configure().bytes(".").btree_map(".").emit_rerun_if_changed(false).compile_fds(all)?;
    Ok(())
}
