//! The checked-in files that are generated from the protocol are up to date.
//!
//! `UPDATE_GOLDEN=1 cargo test -p synod-bound --test bound generated` writes them.

use std::path::PathBuf;

use synod_bound::generate::{Protocol, node, python};

/// Compares a file below `bindings/` with what would be generated, or writes it.
fn hold(file: &str, generated: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, generated).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == generated,
        "bindings/{file} is not what the protocol says: run this test with UPDATE_GOLDEN=1"
    );
}

#[test]
fn the_messages_and_services_of_python_are_those_of_the_protocol() {
    for (file, generated) in python::files(&Protocol::load()) {
        hold(&format!("python/python/synod/{file}"), &generated);
    }
}

#[test]
fn the_messages_and_services_of_node_are_those_of_the_protocol() {
    for (file, generated) in node::files(&Protocol::load()) {
        hold(&format!("node/ts/generated/{file}"), &generated);
    }
}
