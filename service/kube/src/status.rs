//! Refusals as the `Status` objects of Kubernetes, by one table.

use std::time::Duration;

use serde_json::{Map, Value, json};
use synod_model::{ErrorKind, Refusal, Violations};

use crate::kinds::{Kind, Verb};
use crate::managed::Conflict;
use crate::parts::Part;

/// Why a request was not done.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) code: u16,
    reason: &'static str,
    message: String,
    details: Box<Map<String, Value>>,
    /// When to try again, in seconds.
    pub(crate) retry_after: Option<u32>,
    /// Where the list could go on, however late it is.
    pub(crate) continue_token: Option<String>,
}

/// What a request was about, for its messages.
#[derive(Clone, Debug)]
pub(crate) struct About<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) verb: Verb,
    pub(crate) namespace: Option<&'a str>,
    /// Empty if no single object was asked for.
    pub(crate) name: &'a str,
    pub(crate) part: Part,
    /// Who asks; empty where nobody is asked.
    pub(crate) user: &'a str,
}

impl Fault {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: Box::default(),
            retry_after: None,
            continue_token: None,
        }
    }

    /// The fault of a read behind a write that was done: who takes it for the write's would write again.
    pub(crate) fn behind_a_write(_: Self) -> Self {
        Self::timeout()
    }

    fn about(mut self, about: &About<'_>, kind: &str) -> Self {
        self.details.insert("name".to_owned(), json!(about.name));
        self.details
            .insert("group".to_owned(), json!(about.kind.group));
        self.details.insert("kind".to_owned(), json!(kind));
        self
    }

    fn of_resource(self, about: &About<'_>) -> Self {
        let plural = about.kind.plural.to_string();
        self.about(about, &plural)
    }

    fn again(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self.details
            .insert("retryAfterSeconds".to_owned(), json!(seconds));
        self
    }

    fn because(mut self, causes: Vec<Value>) -> Self {
        self.details
            .insert("causes".to_owned(), Value::Array(causes));
        self
    }

    /// The request is malformed.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// Nothing is at this path.
    pub(crate) fn no_such_path() -> Self {
        Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
    }

    /// What is there takes no such method.
    pub(crate) fn no_such_method() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message)
    }

    /// No accepted form can be made.
    pub(crate) fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json, application/json;as=Table, \
                       application/json;as=PartialObjectMetadata, application/vnd.kubernetes.protobuf (of kinds of Kubernetes)";
        Self::new(406, "NotAcceptable", message)
    }

    /// A list that is sent page by page has no message.
    pub(crate) fn too_long_for_protobuf(page: u32) -> Self {
        let message = format!(
            "the list has more than a page, and is told in protobuf by pages alone: ask with a limit ({page} at most), or \
             accept application/json, too"
        );
        Self::new(406, "NotAcceptable", message)
    }

    /// The body has a form that is not read.
    pub(crate) fn unsupported(accepted: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// A dry run of what is no object would be a dry run in words alone.
    pub(crate) fn no_dry_run() -> Self {
        Self::bad_request("the dryRun feature is not supported for this resource")
    }

    pub(crate) fn too_large(bytes: usize) -> Self {
        let message = format!("Request entity too large: limit is {bytes}");
        Self::new(413, "RequestEntityTooLarge", message)
    }

    pub(crate) fn too_many() -> Self {
        Self::new(
            429,
            "TooManyRequests",
            "too many requests are being read: try again",
        )
        .again(1)
    }

    /// The body did not come in this time, and nothing was done.
    pub(crate) fn slow(patience: Duration) -> Self {
        let seconds = patience.as_secs();
        let message = format!("the body of the request did not come within {seconds} seconds");
        Self::new(408, "Timeout", message)
    }

    /// Nobody asks in the name of others: whoever has proved who it is asks for itself.
    pub(crate) fn no_others(header: &str) -> Self {
        let message = format!(
            "forbidden: the header {header} asks in the name of somebody else, and nobody can impersonate others here"
        );
        Self::new(403, "Forbidden", message)
    }

    pub(crate) fn timeout() -> Self {
        Self::new(
            504,
            "Timeout",
            "Timeout: request did not complete within the allotted time",
        )
    }

    pub(crate) fn not_found(about: &About<'_>) -> Self {
        let message = format!("{} \"{}\" not found", about.kind.qualified(), about.name);
        Self::new(404, "NotFound", message).of_resource(about)
    }

    pub(crate) fn already_exists(about: &About<'_>) -> Self {
        let message = format!(
            "{} \"{}\" already exists",
            about.kind.qualified(),
            about.name
        );
        Self::new(409, "AlreadyExists", message).of_resource(about)
    }

    /// A change met another state than it expected.
    pub(crate) fn conflict(about: &About<'_>, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{}\": {why}",
            about.kind.qualified(),
            about.name
        );
        Self::new(409, "Conflict", message).of_resource(about)
    }

    /// The object was changed since it was read.
    pub(crate) fn modified(about: &About<'_>) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(about, why)
    }

    /// Fields break rules: each with its path and the rule.
    pub(crate) fn invalid(about: &About<'_>, faults: &[(String, String)]) -> Self {
        let told: Vec<String> = faults
            .iter()
            .map(|(field, rule)| format!("{field}: {rule}"))
            .collect();
        let told = match told.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let Kind { kind, group, .. } = about.kind;
        let message = format!("{kind}.{group} \"{}\" is invalid: {told}", about.name);
        let causes = faults.iter().map(|(field, rule)| cause(field, rule));
        Self::new(422, "Invalid", message)
            .about(about, kind)
            .because(causes.collect())
    }

    /// What a request would be refused for by the machine.
    pub(crate) fn unsound(found: &Violations, about: &About<'_>) -> Self {
        let faults: Vec<(String, String)> = found
            .iter()
            .map(|fault| (place(&fault.field), fault.rule.to_string()))
            .collect();
        Self::invalid(about, &faults)
    }

    /// An option of a request breaks a rule.
    pub(crate) fn of_options(verb: Verb, field: &str, rule: &str) -> Self {
        let kind = match verb {
            Verb::Create => "CreateOptions",
            Verb::Update => "UpdateOptions",
            Verb::Patch => "PatchOptions",
            Verb::Delete | Verb::DeleteCollection => "DeleteOptions",
            Verb::Get => "GetOptions",
            Verb::List | Verb::Watch => "ListOptions",
        };
        let cause = cause(field, rule);
        let message = format!("{kind}.meta.k8s.io \"\" is invalid: {field}: {rule}");
        let mut fault = Self::new(422, "Invalid", message).because(vec![cause]);
        fault
            .details
            .insert("group".to_owned(), json!("meta.k8s.io"));
        fault.details.insert("kind".to_owned(), json!(kind));
        fault
    }

    /// A configuration would change what others manage.
    pub(crate) fn unapplied(conflicts: &[Conflict]) -> Self {
        let message = match conflicts {
            [Conflict { manager, path }] => {
                format!("Apply failed with 1 conflict: conflict with {manager}: {path}")
            }
            many => {
                let mut told = Vec::new();
                let mut last = "";
                for Conflict { manager, path } in many {
                    if manager != last {
                        told.push(format!("conflicts with {manager}:"));
                        last = manager;
                    }
                    told.push(format!("- {path}"));
                }
                let count = many.len();
                format!("Apply failed with {count} conflicts: {}", told.join("\n"))
            }
        };
        let causes = conflicts.iter().map(|Conflict { manager, path }| {
            let message = format!("conflict with {manager}");
            json!({"reason": "FieldManagerConflict", "message": message, "field": path})
        });
        Self::new(409, "Conflict", message).because(causes.collect())
    }

    /// A list or watch asks for a revision that is not kept any more.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// The fault that a refusal is for who asked this.
    pub(crate) fn of(refusal: &Refusal, about: &About<'_>) -> Self {
        let told = &refusal.message;
        match refusal.kind {
            ErrorKind::NotFound if about.name.is_empty() => Self::no_such_path(),
            ErrorKind::NotFound => Self::not_found(about),
            ErrorKind::AlreadyExists => Self::already_exists(about),
            ErrorKind::Conflict
            | ErrorKind::NotAMember
            | ErrorKind::StaleEpoch
            | ErrorKind::NotDecodable
            | ErrorKind::EncodingNotSelected
            | ErrorKind::NoAgreement
            | ErrorKind::Draining
            | ErrorKind::RequestExpired => Self::conflict(about, told),
            // Nothing has a name that nothing can have.
            ErrorKind::InvalidArgument if about.verb == Verb::Get => Self::not_found(about),
            ErrorKind::InvalidArgument | ErrorKind::Immutable => {
                Self::invalid(about, &faults(refusal))
            }
            ErrorKind::Quota | ErrorKind::SwitchedOff | ErrorKind::PermissionDenied => {
                Self::forbidden(refusal, about)
            }
            kind => Self::of_any(kind, told),
        }
    }

    /// The fault that a refusal is, whatever was asked.
    pub(crate) fn of_any(kind: ErrorKind, told: &str) -> Self {
        match kind {
            ErrorKind::Unauthenticated => Self::new(401, "Unauthorized", "Unauthorized"),
            ErrorKind::Compacted => Self::expired(told),
            ErrorKind::FutureRevision => {
                let prefix = "Too large resource version";
                let cause = json!({"reason": "ResourceVersionTooLarge", "message": prefix});
                let message = match told.starts_with(prefix) {
                    true => format!("Timeout: {told}"),
                    false => format!("Timeout: {prefix}: {told}"),
                };
                Self::new(504, "Timeout", message)
                    .because(vec![cause])
                    .again(1)
            }
            ErrorKind::TooLarge => Self::new(413, "RequestEntityTooLarge", told),
            ErrorKind::Overloaded => Self::new(429, "TooManyRequests", told).again(1),
            ErrorKind::Unavailable => Self::new(503, "ServiceUnavailable", told).again(1),
            // It may have been executed.
            ErrorKind::UnknownOutcome | ErrorKind::DeadlineExceeded => Self::timeout(),
            ErrorKind::DataLoss => Self::new(500, "InternalError", told),
            ErrorKind::NotFound => Self::new(404, "NotFound", told),
            ErrorKind::PermissionDenied | ErrorKind::Quota | ErrorKind::SwitchedOff => {
                Self::new(403, "Forbidden", told)
            }
            ErrorKind::InvalidArgument | ErrorKind::Immutable => Self::new(400, "BadRequest", told),
            ErrorKind::AlreadyExists
            | ErrorKind::Conflict
            | ErrorKind::NotAMember
            | ErrorKind::StaleEpoch
            | ErrorKind::NotDecodable
            | ErrorKind::EncodingNotSelected
            | ErrorKind::NoAgreement
            | ErrorKind::Draining
            | ErrorKind::RequestExpired => Self::new(409, "Conflict", told),
        }
    }

    fn forbidden(refusal: &Refusal, about: &About<'_>) -> Self {
        let resource = about.kind.qualified();
        let message = match refusal.kind {
            ErrorKind::PermissionDenied => {
                let place = match about.namespace {
                    Some(namespace) => format!("in the namespace \"{namespace}\""),
                    None => "at the cluster scope".to_owned(),
                };
                let Kind { plural, group, .. } = about.kind;
                let path = about.part.path(plural);
                let (user, verb) = (about.user, about.verb.name());
                format!(
                    "{resource}{} is forbidden: User \"{user}\" cannot {verb} resource \"{path}\" in API group \
                     \"{group}\" {place}: {}",
                    named(about.name),
                    refusal.message
                )
            }
            _ => format!(
                "{resource}{} is forbidden: {}",
                named(about.name),
                refusal.message
            ),
        };
        Self::new(403, "Forbidden", message).of_resource(about)
    }

    /// The `Status` object.
    pub(crate) fn status(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(token) = &self.continue_token {
            metadata.insert("continue".to_owned(), json!(token));
        }
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        });
        if !self.details.is_empty() {
            status["details"] = Value::Object((*self.details).clone());
        }
        status
    }
}

/// A field that breaks a rule, with the reason that Kubernetes has for rules that begin so.
fn cause(field: &str, rule: &str) -> Value {
    let reasons = [
        ("Required value", "FieldValueRequired"),
        ("Not found", "FieldValueNotFound"),
        ("Forbidden", "FieldValueForbidden"),
        ("Unsupported value", "FieldValueNotSupported"),
        ("Too long", "FieldValueTooLong"),
    ];
    let reason = reasons
        .into_iter()
        .find(|(beginning, _)| rule.starts_with(beginning));
    let reason = reason.map_or("FieldValueInvalid", |(_, reason)| reason);
    json!({"reason": reason, "message": rule, "field": field})
}

fn named(name: &str) -> String {
    match name {
        "" => String::new(),
        name => format!(" \"{name}\""),
    }
}

/// The fields that a refusal faults, by the names that they have in documents of Kubernetes.
fn faults(refusal: &Refusal) -> Vec<(String, String)> {
    let faults: Vec<(String, String)> = refusal
        .violations
        .iter()
        .map(|fault| (place(&fault.field), fault.rule.to_string()))
        .collect();
    if faults.is_empty() {
        return vec![("metadata".to_owned(), refusal.message.clone())];
    }
    faults
}

/// The place in a document of a field of a request of `synod.v1`.
fn place(field: &str) -> String {
    for (own, theirs) in [
        ("key.", "metadata."),
        ("attributes.", "metadata."),
        ("lease.", "metadata."),
        ("preconditions.", "metadata."),
        // Of a member that joins.
        ("labels", "metadata.labels"),
    ] {
        if let Some(rest) = field.strip_prefix(own) {
            return format!("{theirs}{rest}");
        }
    }
    field.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_behind_a_write_never_says_that_the_write_may_be_tried_again() {
        for kind in [
            ErrorKind::Unavailable,
            ErrorKind::Overloaded,
            ErrorKind::PermissionDenied,
            ErrorKind::Conflict,
        ] {
            let fault = Fault::behind_a_write(Fault::of_any(kind, "x"));
            assert_eq!((fault.code, fault.retry_after), (504, None));
        }
    }
}
