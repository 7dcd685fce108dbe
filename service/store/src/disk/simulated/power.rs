//! Whether the power is on, and which life of the machine this is.

use std::io;

#[derive(Debug, Default)]
pub(super) struct Power {
    /// How many operations are left before the power fails.
    left: Option<u64>,
    is_off: bool,
    /// Counts restarts: what was opened in an earlier life does not work any more.
    life: u64,
}

impl Power {
    pub(super) fn cut_after(&mut self, operations: u64) {
        self.left = Some(operations);
    }

    pub(super) fn is_off(&self) -> bool {
        self.is_off
    }

    pub(super) fn life(&self) -> u64 {
        self.life
    }

    pub(super) fn restart(&mut self) {
        *self = Self {
            left: None,
            is_off: false,
            life: self.life + 1,
        };
    }

    /// Fails when the power is off.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.is_off {
            Err(io::Error::other("the power is off (simulated)"))
        } else {
            Ok(())
        }
    }

    /// Fails when the power is off, or went off since.
    pub(super) fn check_life(&self, life: u64) -> io::Result<()> {
        self.check()?;
        if life == self.life {
            return Ok(());
        }
        Err(io::Error::other(
            "the process that opened this file has died (simulated)",
        ))
    }

    /// Takes the power for one more operation that changes something.
    pub(super) fn spend(&mut self) -> io::Result<()> {
        self.check()?;
        if self.left == Some(0) {
            self.is_off = true;
        }
        self.left = self.left.and_then(|left| left.checked_sub(1));
        self.check()
    }
}
