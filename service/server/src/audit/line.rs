//! One line of the audit log.

use serde::Serialize;
use synod_model::{ErrorKind, Refusal, Verdict, WallTime};
use synod_proto::access::{Named, Names};
use synod_proto::status::verdict;

use crate::access::{Called, Standing, describe};
use crate::limits::AUDIT_STRANGERS_MAX;

/// The most things that a line says a call is about: a transaction may name many.
const OBJECTS_MAX: usize = 8;

/// The most bytes of a text that a caller has a part in.
const TEXT_BYTES_MAX: usize = 512;

/// A call as it comes.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// Its name in the logs of every replica that it passes.
    pub(crate) trace: &'a str,
    /// The address that it comes from.
    pub(crate) peer: &'a str,
    pub(crate) standing: &'a Standing,
    pub(crate) called: Called,
}

/// What is known of a call. The order of the fields is that in the line.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    /// When the call came, in UTC.
    time: String,
    /// The name in the logs of every replica that the call passed.
    request: String,
    /// Who calls; `None` if nobody knows.
    identity: Option<String>,
    /// The address that the call came from.
    peer: String,
    method: &'static str,
    /// What the call is about, as far as a grant could limit it.
    objects: Vec<String>,
    /// How many more there are.
    #[serde(skip_serializing_if = "is_zero")]
    more_objects: usize,
    /// The exactly-once key, as `<session>/<sequence>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// Whether it was only tried.
    #[serde(skip_serializing_if = "is_false")]
    dry_run: bool,
    #[serde(flatten)]
    outcome: Outcome,
}

/// What has become of a call.
#[derive(Debug, Default, Serialize)]
pub(super) struct Outcome {
    /// Whether the policy allowed it.
    decision: &'static str,
    /// What came of it then: `done`, `refused`, `not executed` or `unknown`.
    outcome: &'static str,
    /// The revision of the store right after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    /// The reason of a refusal, as in the errors of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The refusal in words. A rule that has refused may quote what it was given, so only what the policy says is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Line {
    pub(super) fn of(now: WallTime, call: Call<'_>) -> Self {
        let actor = call.standing.actor();
        Self {
            time: now.to_string(),
            request: call.trace.to_owned(),
            identity: actor.map(|actor| actor.identity.to_string()),
            peer: call.peer.to_owned(),
            method: call.called.path,
            objects: Vec::new(),
            more_objects: 0,
            request_id: None,
            dry_run: false,
            outcome: Outcome::default(),
        }
    }

    /// What the call is about.
    pub(super) fn about<N: Names + ?Sized>(mut self, request: &N) -> Self {
        request.visit(&mut |named| match named {
            Named::Request(key) => {
                self.request_id = Some(format!("{}/{}", key.session, key.sequence));
            }
            Named::DryRun => self.dry_run = true,
            named => {
                let object = cut(describe(named));
                if self.objects.contains(&object) {
                    return;
                }
                if self.objects.len() == OBJECTS_MAX {
                    self.more_objects += 1;
                    return;
                }
                self.objects.push(object);
            }
        });
        self
    }

    pub(super) fn with(self, outcome: Outcome) -> Self {
        Self { outcome, ..self }
    }

    /// The line, with its end.
    pub(super) fn to_text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a line has texts and numbers alone");
        text.push('\n');
        text
    }
}

impl Outcome {
    pub(super) fn done(revision: Option<u64>) -> Self {
        Self {
            decision: "allowed",
            outcome: "done",
            revision,
            ..Self::default()
        }
    }

    /// Nobody waits for the answer any more.
    pub(super) fn unknown() -> Self {
        Self {
            decision: "allowed",
            outcome: "unknown",
            ..Self::default()
        }
    }

    pub(super) fn refused(refusal: &Refusal) -> Self {
        if matches!(
            refusal.kind,
            ErrorKind::PermissionDenied | ErrorKind::Unauthenticated
        ) {
            return Self::denied(refusal);
        }
        Self {
            decision: "allowed",
            outcome: match verdict(refusal) {
                Verdict::Refused => "refused",
                Verdict::NotExecuted => "not executed",
                Verdict::Unknown => "unknown",
            },
            reason: Some(refusal.kind.reason()),
            ..Self::default()
        }
    }

    pub(super) fn denied(refusal: &Refusal) -> Self {
        Self {
            decision: "denied",
            outcome: "refused",
            reason: Some(refusal.kind.reason()),
            why: Some(cut(refusal.message.clone())),
            ..Self::default()
        }
    }
}

/// The line in place of those about strangers that were left out in the last second.
#[derive(Serialize)]
struct LeftOut {
    time: String,
    /// How many.
    left_out: usize,
    #[serde(flatten)]
    outcome: Outcome,
}

/// The line, with its end, in place of so many lines about callers whom nobody knows.
pub(super) fn left_out(now: WallTime, count: usize) -> String {
    let why = format!(
        "{count} more calls were refused in this second since nobody knows who calls: each second has {AUDIT_STRANGERS_MAX} \
         lines of such calls"
    );
    let line = LeftOut {
        time: now.to_string(),
        left_out: count,
        outcome: Outcome::denied(&Refusal::new(ErrorKind::Unauthenticated, why)),
    };
    let mut text = serde_json::to_string(&line).expect("a line has texts and numbers alone");
    text.push('\n');
    text
}

/// The begin of a text, without the controls that JSON would spell out in six bytes each.
fn cut(text: String) -> String {
    let mut text = text.replace(char::is_control, " ");
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    if end < text.len() {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
