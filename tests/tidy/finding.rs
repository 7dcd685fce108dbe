//! A breach of a rule: its place, and what is wrong there.

use std::fmt;

use crate::source::Source;
use crate::tree::Tree;

/// A breach of a rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Finding {
    path: String,
    /// Counted from one; zero means the file as a whole.
    line: usize,
    message: String,
}

impl Finding {
    /// A finding at a line, counted from one.
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A finding about a file as a whole.
    pub(crate) fn about(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }
}

/// `path:line: message`, which editors and terminals turn into a link.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Fails the test with everything that `rule` finds in the Rust files of the checkout.
#[track_caller]
pub(crate) fn assert_none_in_sources(rule: fn(&Source) -> Vec<Finding>) {
    assert_none(Tree::load().sources().iter().flat_map(rule).collect());
}

/// Fails the test with all findings, sorted by place.
#[track_caller]
pub(crate) fn assert_none(mut findings: Vec<Finding>) {
    findings.sort();
    findings.dedup();
    assert!(findings.is_empty(), "\n{}\n", lines(&findings));
}

/// The findings as text, one a line, for the tests of the rules to compare.
pub(crate) fn lines(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    lines.join("\n")
}
