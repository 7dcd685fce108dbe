//! The forms that backups in a folder have, as far as their names and first bytes show them.

use super::encryption::is_encrypted;

/// The first bytes of a backup that no command has changed.
const PLAIN: &[u8] = b"SYNODBKP";

/// The form of a backup in a folder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Form {
    /// The form that `verify` and `restore` read.
    Plain,
    /// The format of age.
    Age,
    /// The output of any other command.
    Other,
}

impl Form {
    /// Every form. The suffix of the plain one is the end of no other.
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Age, Self::Other];

    /// The form of a file that begins so.
    pub(super) fn of_begin(begin: &[u8]) -> Self {
        if begin.starts_with(PLAIN) {
            Self::Plain
        } else if is_encrypted(begin) {
            Self::Age
        } else {
            Self::Other
        }
    }

    /// The end of the names of such files.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Plain => ".backup",
            Self::Age => ".backup.age",
            Self::Other => ".backup.through",
        }
    }
}
