//! The newest machine version that this process knows.

use std::sync::OnceLock;

use crate::EVIDENCE_SINCE;

/// The highest machine version, that is behaviour of apply, that this build knows.
///
/// A process may know less, as [`known_machine_version`] says. The replicated state carries the version that is in force, and
/// moves it once every replica has announced that it knows the new one.
pub const MACHINE_VERSION: u32 = EVIDENCE_SINCE;

static LIMIT: OnceLock<u32> = OnceLock::new();

/// The newest machine version that this process knows: that of the build, unless [`limit_machine_version`] was called.
#[must_use]
pub fn known_machine_version() -> u32 {
    LIMIT.get().copied().unwrap_or(MACHINE_VERSION)
}

/// Makes this process behave as a build that knows no later machine version, which tests of upgrades run beside the
/// present one. The program calls it before anything else.
///
/// # Panics
///
/// It was called before.
pub fn limit_machine_version(newest: u32) {
    let limited = LIMIT.set(newest.min(MACHINE_VERSION));
    assert!(limited.is_ok(), "the limit is set once");
}
