//! The details of a status: what is written into them, as far as it fits, and what is read from them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use prost::{Message, Name};
use prost_types::Any;
use synod_model::{
    Collection, ControllerRevision, Current, ErrorKind, Lease, Member, Object, Refusal, Roster,
    Settings, Violation,
};
use tonic::Code;
use tonic_types::pb::bad_request::FieldViolation;
use tonic_types::pb::{BadRequest, ErrorInfo, Status};

use super::key;
use crate::limits::{STATUS_DETAILS_BYTES_MAX, STATUS_MESSAGE_BYTES_MAX};
use crate::v1;

/// The `domain` of every `google.rpc.ErrorInfo` that Synod writes.
pub const DOMAIN: &str = "synod";

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";

/// The bytes that an item of a list takes beside its content: its tag and length, and those of a message around it.
const FRAME: usize = 16;

/// The message, or as much of it as a status may carry.
pub(super) fn cut(message: &str) -> Cow<'_, str> {
    const ELLIPSIS: &str = "...";
    if message.len() <= STATUS_MESSAGE_BYTES_MAX {
        return Cow::Borrowed(message);
    }
    let end = message.floor_char_boundary(STATUS_MESSAGE_BYTES_MAX - ELLIPSIS.len());
    Cow::Owned(format!("{}{ELLIPSIS}", &message[..end]))
}

/// The details of the status of a refusal: metadata first, then violations, then the current object, as far as they fit.
pub(super) fn encode(code: Code, message: &str, refusal: &Refusal) -> Bytes {
    let mut room = Room {
        left: STATUS_DETAILS_BYTES_MAX,
        omitted: false,
    };
    let violations: Vec<FieldViolation> = refusal.violations.iter().map(field_violation).collect();

    room.take(DOMAIN.len() + ERROR_INFO.len() + BAD_REQUEST.len() + key::OMITTED.len() + 8 * FRAME);
    let facts = refusal.metadata.iter();
    // `NOT_EXECUTED` matters most, so it gets room first.
    let (first, others): (Vec<_>, Vec<_>) = facts.partition(|(name, _)| *name == key::NOT_EXECUTED);
    let fitting = first
        .into_iter()
        .chain(others)
        .filter(|(name, value)| room.take(name.len() + value.len() + FRAME));
    let mut metadata: BTreeMap<String, String> = fitting
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let violations: Vec<_> = violations
        .into_iter()
        .filter(|v| room.take(v.encoded_len() + FRAME))
        .collect();
    let current = refusal
        .current
        .as_deref()
        .map(current)
        .filter(|any| room.take(any.encoded_len() + FRAME));
    if room.omitted {
        metadata.insert(key::OMITTED.to_owned(), true.to_string());
    }

    let info = ErrorInfo {
        reason: refusal.kind.reason().to_owned(),
        domain: DOMAIN.to_owned(),
        metadata: metadata.into_iter().collect(),
    };
    let mut details = vec![any(ERROR_INFO, &info)];
    if !violations.is_empty() {
        details.push(any(
            BAD_REQUEST,
            &BadRequest {
                field_violations: violations,
            },
        ));
    }
    details.extend(current);
    Status {
        code: code.into(),
        message: message.to_owned(),
        details,
    }
    .encode_to_vec()
    .into()
}

/// What is left of the bytes that a status may carry.
struct Room {
    left: usize,
    /// Whether something did not fit.
    omitted: bool,
}

impl Room {
    /// Takes this many bytes, if there are so many.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.omitted |= left.is_none();
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

fn field_violation(violation: &Violation) -> FieldViolation {
    FieldViolation {
        field: violation.field.clone(),
        description: violation.rule.clone(),
        ..Default::default()
    }
}

fn current(current: &Current) -> Any {
    match current {
        Current::Settings(settings) => {
            any(&v1::Settings::type_url(), &v1::Settings::from(settings))
        }
        Current::Member(member) => any(&v1::Member::type_url(), &v1::Member::from(member)),
        Current::Collection(collection) => any(
            &v1::Collection::type_url(),
            &v1::Collection::from(&**collection),
        ),
        Current::Object(object) => any(&v1::Object::type_url(), &v1::Object::from(&**object)),
        Current::ControllerRevision(revision) => any(
            &v1::ControllerRevision::type_url(),
            &v1::ControllerRevision::from(revision),
        ),
        Current::Roster(roster) => any(&v1::Roster::type_url(), &v1::Roster::from(&**roster)),
        Current::Lease(lease) => any(&v1::Lease::type_url(), &v1::Lease::from(lease)),
    }
}

fn any(type_url: &str, message: &impl Message) -> Any {
    Any {
        type_url: type_url.to_owned(),
        value: message.encode_to_vec(),
    }
}

/// What Synod wrote into the details of a status.
#[derive(Debug, Default)]
pub(super) struct Details {
    /// `None` if Synod did not write the status, or a later release did and its kind is not known here.
    pub(super) kind: Option<ErrorKind>,
    /// The reason of a later release.
    pub(super) unknown: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) violations: Vec<Violation>,
    pub(super) current: Option<Current>,
}

impl Details {
    /// Reads what it understands and passes over the rest.
    pub(super) fn decode(bytes: &[u8]) -> Self {
        let mut read = Self::default();
        let Ok(status) = Status::decode(bytes) else {
            return read;
        };
        let Some(info) =
            find::<ErrorInfo>(&status.details, ERROR_INFO).filter(|info| info.domain == DOMAIN)
        else {
            return read;
        };
        read.kind = ErrorKind::from_reason(&info.reason);
        read.unknown = read.kind.is_none().then_some(info.reason);
        read.metadata = info.metadata.into_iter().collect();
        if let Some(request) = find::<BadRequest>(&status.details, BAD_REQUEST) {
            let named = request.field_violations.into_iter();
            read.violations = named
                .map(|v| Violation {
                    field: v.field,
                    rule: v.description,
                })
                .collect();
        }
        read.current = find_current(&status.details);
        read
    }
}

fn find_current(details: &[Any]) -> Option<Current> {
    let settings = find::<v1::Settings>(details, &v1::Settings::type_url());
    if let Some(settings) = settings.and_then(|settings| Settings::try_from(settings).ok()) {
        return Some(Current::Settings(settings));
    }
    let lease = find::<v1::Lease>(details, &v1::Lease::type_url());
    if let Some(lease) = lease.and_then(|lease| Lease::try_from(lease).ok()) {
        return Some(Current::Lease(lease));
    }
    let roster = find::<v1::Roster>(details, &v1::Roster::type_url());
    if let Some(roster) = roster.and_then(|roster| Roster::try_from(roster).ok()) {
        return Some(Current::Roster(Arc::new(roster)));
    }
    let collection = find::<v1::Collection>(details, &v1::Collection::type_url());
    if let Some(collection) = collection.and_then(|pb| Collection::try_from(pb).ok()) {
        return Some(Current::Collection(Arc::new(collection)));
    }
    let object = find::<v1::Object>(details, &v1::Object::type_url());
    if let Some(object) = object.and_then(|pb| Object::try_from(pb).ok()) {
        return Some(Current::Object(Arc::new(object)));
    }
    let member = find::<v1::Member>(details, &v1::Member::type_url());
    if let Some(member) = member.and_then(|member| Member::try_from(member).ok()) {
        return Some(Current::Member(member));
    }
    let revision = find::<v1::ControllerRevision>(details, &v1::ControllerRevision::type_url())?;
    let revision = ControllerRevision::try_from(revision).ok()?;
    Some(Current::ControllerRevision(revision))
}

fn find<T: Message + Default>(details: &[Any], type_url: &str) -> Option<T> {
    let any = details.iter().find(|any| any.type_url == type_url)?;
    T::decode(any.value.as_slice()).ok()
}
