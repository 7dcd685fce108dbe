//! The releases of the program that tests run beside each other.

use tokio::process::Command;

use crate::program::synod;

/// A release of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Release {
    Present,
    /// The program as it was at machine version 1.
    Older,
}

impl Release {
    /// A command of the release.
    pub(crate) fn command(self) -> Command {
        let mut command = Command::new(synod());
        if self == Self::Older {
            command.env("SYNOD_TEST_MACHINE_VERSION", "1");
        }
        command
    }
}
