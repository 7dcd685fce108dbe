//! Finds or builds the program as it was at machine version 1, for tests of upgrades.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::program::{PRESENT, aside, built};

/// The variable with the path of that program, relative to the root of the checkout.
const VARIABLE: &str = "SYNOD_OLDER_BINARY";

/// The path of the program as it was at machine version 1. It is looked up, or built, once.
pub(crate) fn older() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(path) = env::var_os(VARIABLE) {
            return synod_tests::checkout().join(path);
        }
        let with = ["--features", "synod/machine-version-1"];
        let older = built(&[&PRESENT[..], &with].concat(), "synod");
        let older = aside(&older, "synod-machine-1");
        // A target folder holds one program of a name: whoever looks for it there expects the present one.
        built(&PRESENT, "synod");
        older
    })
}
