//! [`Failure`]: the error of every function here, in a form that any language can convert.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde_json::{Value, json};
use synod_client::json::current;
use synod_client::{Current, Error, Verdict, Violations};

/// An error, with everything that a program may decide by: its fields are those of [`Details`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(Box<Details>);

/// The content of a [`Failure`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// The reason as in the protocol, without its prefix, such as `CONFLICT`: a program decides by this.
    pub kind: &'static str,
    /// A sentence for people: the object, the rule, and what to do.
    pub message: String,
    /// Whether the request was executed: `refused` by a rule, `not_executed`, or `unknown`: it may have been executed,
    /// or may still be.
    pub execution: &'static str,
    /// Whether the same call, made again later, may succeed without the danger of being executed twice.
    pub retryable: bool,
    /// Every broken rule of an invalid request.
    pub violations: Vec<Fault>,
    /// Facts for programs, by name.
    pub metadata: BTreeMap<String, String>,
    /// The present object, where a comparison failed: the document of its message.
    pub current: Option<String>,
    /// The name of the message in `current`, such as `Object` or `Lease`.
    pub current_type: Option<&'static str>,
    /// The key to ask for the request's outcome with, if the outcome is unknown and the request had a key.
    pub request_key: Option<RequestKey>,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The path of the field; empty for the document itself.
    pub field: String,
    /// What is wrong, and what would be right.
    pub rule: String,
}

/// The key of one request, never used for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// The cluster that gave the session.
    pub cluster: String,
    /// The session that the request belongs to.
    pub session: u64,
    /// The request's place in the session.
    pub sequence: u64,
}

impl Deref for Failure {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl Failure {
    /// The failure as a document, with the keys `code`, `message`, `execution`, `retryable`, `violations`, `metadata`,
    /// `current` with `currentType`, and `requestKey`, the last three if they are set.
    #[must_use]
    pub fn to_json(&self) -> String {
        let violations = self.violations.iter();
        let mut document = json!({
            "code": self.kind,
            "message": self.message,
            "execution": self.execution,
            "retryable": self.retryable,
            "violations": violations
                .map(|fault| json!({"field": fault.field, "rule": fault.rule}))
                .collect::<Value>(),
            "metadata": self.metadata,
        });
        if let Some(current) = &self.current {
            document["current"] = serde_json::from_str(current).unwrap_or_default();
        }
        if let Some(name) = self.current_type {
            document["currentType"] = name.into();
        }
        if let Some(key) = &self.request_key {
            document["requestKey"] = json!({
                "clusterId": key.cluster,
                "session": key.session.to_string(),
                "sequence": key.sequence.to_string(),
            });
        }
        document.to_string()
    }

    /// The failure of a request that breaks a rule and was not sent.
    pub(crate) fn invalid(violations: impl Into<Violations>) -> Self {
        Error::invalid(violations).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let violations = error.violations().iter();
        Self(Box::new(Details {
            kind: error.kind().reason(),
            message: error.message().to_owned(),
            execution: match error.execution() {
                Verdict::Refused => "refused",
                Verdict::NotExecuted => "not_executed",
                Verdict::Unknown => "unknown",
            },
            retryable: error.retryable(),
            violations: violations
                .map(|violation| Fault {
                    field: violation.field.clone(),
                    rule: violation.rule.clone(),
                })
                .collect(),
            metadata: error.metadata().clone(),
            current: error.current().map(|object| current(object).to_string()),
            current_type: error.current().map(message_of),
            request_key: error.request_key().map(|key| RequestKey {
                cluster: key.cluster.to_string(),
                session: key.session.get(),
                sequence: key.sequence.get(),
            }),
        }))
    }
}

/// The name of the message that the present object is.
fn message_of(current: &Current) -> &'static str {
    match current {
        Current::Settings(_) => "Settings",
        Current::Member(_) => "Member",
        Current::Collection(_) => "Collection",
        Current::Object(_) => "Object",
        Current::ControllerRevision(_) => "ControllerRevision",
        Current::Lease(_) => "Lease",
        Current::Roster(_) => "Roster",
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for Failure {}
