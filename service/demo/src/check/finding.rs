//! The checks, their promises and their findings.

use std::fmt;

/// One of the checks, in the order in which they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Check {
    Encodings,
    Selected,
    Common,
    Watchers,
    Objects,
    AgreementRevision,
    Persisted,
    Strict,
    Early,
    Listed,
    Migrated,
    Completed,
    Assumed,
    Path,
}

/// Every check.
pub(crate) const CHECKS: [Check; 14] = [
    Check::Encodings,
    Check::Selected,
    Check::Common,
    Check::Watchers,
    Check::Objects,
    Check::AgreementRevision,
    Check::Persisted,
    Check::Strict,
    Check::Early,
    Check::Listed,
    Check::Migrated,
    Check::Completed,
    Check::Assumed,
    Check::Path,
];

impl Check {
    /// The number of the check, from 1.
    pub(crate) fn number(self) -> usize {
        self as usize + 1
    }

    /// The promise that was kept if the check finds nothing.
    pub(crate) fn promise(self) -> &'static str {
        match self {
            Self::Encodings => {
                "no write was encoded in a version that was not allowed at its revision"
            }
            Self::Selected => "the selected version changed once, and only when the rule said so",
            Self::Common => "common and agreed versions changed exactly as the entries imply",
            Self::Watchers => "the watchers of all replicas saw the same events in one order",
            Self::Objects => "every object can be read, and no acknowledged write is lost",
            Self::AgreementRevision => {
                "the agreement revision moved exactly with common and selected"
            }
            Self::Persisted => "persisted holds every version that was really stored",
            Self::Strict => {
                "Synod kept no object in a version that was not selected at its revision"
            }
            Self::Early => {
                "what was encoded for Synod before its version was selected was refused, and not stored"
            }
            Self::Listed => "the objects that Synod lists are those of the watch, one by one",
            Self::Migrated => {
                "no migration outlived its agreement, and when one succeeded nothing old was stored"
            }
            Self::Completed => {
                "in the end all is stored in v2, and the release that reads v2 alone has been let in"
            }
            Self::Assumed => {
                "nothing was called safe while a server was missing, nor without saying what it assumes"
            }
            Self::Path => "all that the demo is about took place",
        }
    }
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) check: Check,
    /// What is wrong, as a sentence.
    pub(crate) message: String,
    /// The place in the recordings: file and line, with the text of the line.
    pub(crate) evidence: Option<String>,
}

impl Finding {
    pub(super) fn new(check: Check, message: impl Into<String>) -> Self {
        Self {
            check,
            message: message.into(),
            evidence: None,
        }
    }

    pub(super) fn with_evidence(mut self, evidence: impl fmt::Display) -> Self {
        self.evidence = Some(evidence.to_string());
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        match &self.evidence {
            Some(evidence) => write!(f, "\n      {evidence}"),
            None => Ok(()),
        }
    }
}
