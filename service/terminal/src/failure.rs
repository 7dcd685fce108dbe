//! The failure of a command: its message, the fields at fault, the advice and the exit code.

use std::fmt::{self, Write as _};

use synod_client::{ErrorKind, Verdict, Violation, Violations};

use crate::escape::printable;
use crate::exit::Exit;

/// What a failed command prints on standard error, and its exit code.
///
/// The printed form is
///
/// ```text
/// error: CONFLICT: the settings are at revision 12, not at 9
///   settings.writeGraceMs: Invalid value: 1: must be between 1000 and 86400000 milliseconds
/// what to do: read the object again, and try with what it is now
/// ```
///
/// with one line for each field at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    exit: Exit,
    kind: Option<ErrorKind>,
    message: String,
    violations: Vec<Violation>,
    advice: String,
}

impl Failure {
    /// A failure of this machine rather than of the cluster: a port in use, a disk that is full.
    pub fn local(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            exit: Exit::Failure,
            kind: None,
            message: message.into(),
            violations: Vec::new(),
            advice: advice.into(),
        }
    }

    /// The same failure with another exit code.
    #[must_use]
    pub fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// A failure of this [`ErrorKind`], with the exit code and the advice of the kind.
    pub fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            exit: Exit::of(kind),
            kind: Some(kind),
            message: message.into(),
            violations: Vec::new(),
            advice: advice(kind).to_owned(),
        }
    }

    /// A failure because the input breaks rules. The message counts violations that were left out.
    pub fn invalid(message: impl Into<String>, violations: Violations) -> Self {
        let left_out = violations.len() - violations.iter().len();
        let mut failure = Self::of(ErrorKind::InvalidArgument, message)
            .with_violations(violations.iter().cloned().collect());
        if left_out > 0 {
            let _ = write!(failure.message, " (and {left_out} more faults)");
        }
        failure
    }

    /// The same failure, of a command about several things: it names the one that it is about.
    #[must_use]
    pub fn about(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// The same failure, with the field path of each violation mapped by `place`.
    #[must_use]
    pub fn at(mut self, place: impl Fn(&str) -> String) -> Self {
        for violation in &mut self.violations {
            violation.field = place(&violation.field);
        }
        self
    }

    /// The same failure, with these violations in place of its own.
    #[must_use]
    pub fn with_violations(mut self, violations: Vec<Violation>) -> Self {
        self.violations = violations;
        self
    }

    /// The same failure, with this advice in place of its own.
    #[must_use]
    pub fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// The same failure with the exit code [`Exit::Usage`]: the command line was wrong.
    #[must_use]
    pub fn in_usage(mut self) -> Self {
        self.exit = Exit::Usage;
        self
    }

    /// The exit code of the program.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Failure {
    /// The text ends with a line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => writeln!(f, "error: {kind}: {}", printable(&self.message))?,
            None => writeln!(f, "error: {}", printable(&self.message))?,
        }
        for violation in &self.violations {
            writeln!(f, "  {}", printable(&violation.to_string()))?;
        }
        writeln!(f, "what to do: {}", printable(&self.advice))
    }
}

impl std::error::Error for Failure {}

impl From<synod_client::Error> for Failure {
    fn from(error: synod_client::Error) -> Self {
        let violations = error.violations();
        // Each violation is printed on a line of its own, so the message need not repeat the first.
        let message = if violations.is_empty() {
            error.message()
        } else {
            "the request is invalid"
        };
        let failure = Self::of(error.kind(), message).with_violations(violations.to_vec());
        match error.execution() {
            Verdict::Refused | Verdict::NotExecuted => failure,
            // The outcome is unknown: finding it out comes before what the kind advises.
            Verdict::Unknown => failure.with_advice(advice(ErrorKind::UnknownOutcome)),
        }
    }
}

/// What a person can do about an error of this kind.
fn advice(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidArgument => "correct what is named above; `--help` has examples",
        ErrorKind::NotFound => "list what there is: names must be given in full",
        ErrorKind::AlreadyExists => "change the object that is there, or choose another name",
        ErrorKind::Conflict => "read the object again, and try with what it is now",
        ErrorKind::NotAMember => "join again; only members can do this",
        ErrorKind::StaleEpoch => "stop this process: another one has taken its place as a member",
        ErrorKind::NotDecodable => {
            "do not skip a release: every member must decode what others write"
        }
        ErrorKind::EncodingNotSelected => "encode in the selected version",
        ErrorKind::Immutable => "create another object instead; this field never changes",
        ErrorKind::NoAgreement => "wait for agreement: synod storage-versions check --wait 5m",
        ErrorKind::Draining => {
            "wait until writes in the other version can no longer land, then try again"
        }
        ErrorKind::RequestExpired | ErrorKind::UnknownOutcome => {
            "look whether it was done before you do it again"
        }
        ErrorKind::Compacted => "begin at a later revision: this one is no longer kept",
        ErrorKind::FutureRevision => {
            "wait, or give a revision that exists: `synod status` names the newest"
        }
        ErrorKind::TooLarge => "make it smaller, or split it",
        ErrorKind::Quota => "remove what is not needed, or raise the quota: synod settings set",
        ErrorKind::Overloaded => "try again in a while; nothing was changed",
        ErrorKind::Unavailable => {
            "check the endpoints, and that most of the replicas run; nothing was changed"
        }
        ErrorKind::DeadlineExceeded => {
            "give it more time with --timeout; if it was to change something, look whether it did"
        }
        ErrorKind::Unauthenticated => {
            "the cluster could not identify the caller: provide credentials"
        }
        ErrorKind::PermissionDenied => "ask whoever runs the cluster to let you do this",
        ErrorKind::SwitchedOff => {
            "an operator switched it off: `synod settings get` shows it; what was there is kept"
        }
        ErrorKind::DataLoss => {
            "leave the replica stopped, keep its files, and add a replica with a fresh id in its place"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_its_kind_each_fault_and_what_to_do() {
        let mut violations = Violations::new();
        violations.push(Violation::invalid_number(1, "must be at least 2").at("a.b"));
        violations.push(Violation::required("give it").at("c"));
        assert_eq!(
            Failure::invalid("the request is invalid", violations).to_string(),
            "error: INVALID_ARGUMENT: the request is invalid\n\
             \x20 a.b: Invalid value: 1: must be at least 2\n\
             \x20 c: Required value: give it\n\
             what to do: correct what is named above; `--help` has examples\n"
        );
    }

    #[test]
    fn a_failure_of_this_machine_has_no_kind() {
        let failure = Failure::local("the port 4600 is in use", "choose another one");
        assert_eq!(
            failure.to_string(),
            "error: the port 4600 is in use\nwhat to do: choose another one\n"
        );
        assert_eq!(failure.exit(), Exit::Failure);
    }

    #[test]
    fn every_kind_says_what_to_do_and_ends_as_its_exit_code_says() {
        for kind in ErrorKind::ALL {
            let failure = Failure::of(kind, "it failed");
            assert!(failure.to_string().contains("what to do: "), "{kind}");
            assert_eq!(failure.exit(), Exit::of(kind));
        }
    }

    #[test]
    fn faults_beyond_those_that_are_kept_are_counted() {
        let mut violations = Violations::new();
        for number in 0..102 {
            violations.push(Violation::invalid_number(number, "no"));
        }
        let text = Failure::invalid("bad", violations).to_string();
        assert!(
            text.starts_with("error: INVALID_ARGUMENT: bad (and 2 more faults)\n"),
            "{text}"
        );
    }

    #[test]
    fn an_error_text_cannot_move_the_cursor() {
        let text = Failure::of(ErrorKind::NotFound, "\u{1b}[2Jgone\nreally").to_string();
        assert!(
            text.starts_with("error: NOT_FOUND: \\u001b[2Jgone\\nreally\n"),
            "{text}"
        );
    }
}
