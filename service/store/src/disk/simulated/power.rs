//! Whether the simulated power is on, and how often the machine was restarted.

use std::io;

#[derive(Debug, Default)]
pub(super) struct Power {
    /// The number of operations before the power fails.
    left: Option<u64>,
    is_off: bool,
    /// Counts restarts: a file that was opened before a restart no longer works.
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

    /// Fails when the power is off, or the machine was restarted since `life`.
    pub(super) fn check_life(&self, life: u64) -> io::Result<()> {
        self.check()?;
        if life == self.life {
            return Ok(());
        }
        Err(io::Error::other(
            "the process that opened this file has died (simulated)",
        ))
    }

    /// Counts one more operation that changes something, and fails when the power does.
    pub(super) fn spend(&mut self) -> io::Result<()> {
        self.check()?;
        if self.left == Some(0) {
            self.is_off = true;
        }
        self.left = self.left.and_then(|left| left.checked_sub(1));
        self.check()
    }
}
