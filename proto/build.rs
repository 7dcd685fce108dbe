//! Compiles the `.proto` sources, in Rust alone: no `protoc` is needed.

#[path = "build/access.rs"]
mod access;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use tonic_prost_build::Config;

/// Where the sources are; the folders below it are the packages.
const ROOT: &str = "proto";

/// The sources of the public protocol, which server reflection answers.
const SOURCES: &[&str] = &[
    "synod/v1/access.proto",
    "synod/v1/cluster.proto",
    "synod/v1/collections.proto",
    "synod/v1/common.proto",
    "synod/v1/controller_revisions.proto",
    "synod/v1/errors.proto",
    "synod/v1/leases.proto",
    "synod/v1/membership.proto",
    "synod/v1/objects.proto",
    "synod/v1/migrations.proto",
    "synod/v1/pipeline.proto",
    "synod/v1/rosters.proto",
    "synod/v1/sessions.proto",
    "synod/v1/storage_versions.proto",
    "synod/v1/watch.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let out = PathBuf::from(env::var("OUT_DIR")?);

    let mut compiler = protox::Compiler::new([ROOT])?;
    compiler
        .include_source_info(true)
        .include_imports(true)
        .open_files(SOURCES)?;
    // Not by way of the typed set, which does not know the options of this protocol.
    fs::write(
        out.join("synod.v1.binpb"),
        compiler.encode_file_descriptor_set(),
    )?;
    let access = access::generate(&compiler.descriptor_pool())?;
    fs::write(out.join("access.rs"), access)?;
    let public = compiler.file_descriptor_set();

    let mut prost = Config::new();
    // Every message type has its name: the codec finds the limits of a request by it, and the details of an error name
    // the types of their objects by it.
    prost
        .enable_type_names()
        .type_name_domain(["."], "type.googleapis.com");
    tonic_prost_build::configure()
        .bytes(".")
        .btree_map(".")
        .codec_path("crate::codec::GuardedCodec")
        .emit_rerun_if_changed(false)
        .compile_fds_with_config(public, prost)?;
    Ok(())
}
