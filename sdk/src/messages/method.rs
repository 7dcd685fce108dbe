//! The methods of the protocol, and how each may be called.

use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor, Value};
use synod_model::{ErrorKind, Feature, UpdateSettings};
use synod_proto::{Change, v1};

use super::PROTOCOL;
use crate::Error;

/// A method with one request and one answer.
#[derive(Clone, Debug)]
pub(crate) struct Method(MethodDescriptor);

/// How a request may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It changes nothing, or executing it twice does no harm: it is sent to any replica, as often as needed.
    Read,
    /// It changes something, and nothing when it comes again: it is sent as often as needed.
    Repeatable,
    /// The caller keeps the session itself: the request has its own exactly-once key.
    Keyed,
    /// It changes something, and takes a place in the client's session.
    Change,
    /// It changes something that a member's epoch fences, so it can be sent without a session.
    Fenced,
    /// It is a join, which the member's instance fences, so it can be sent without a session, too.
    Joining,
}

/// The field of the exactly-once key.
const REQUEST_ID: &str = "request_id";

impl Method {
    /// The method of this name, such as `synod.v1.Objects/Create`; a leading slash is allowed.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no such method, or it is a stream.
    pub(crate) fn find(name: &str) -> Result<Self, Error> {
        let wanted = name.trim_start_matches('/');
        let found = wanted.split_once('/').and_then(|(service, method)| {
            let service = PROTOCOL.get_service_by_name(service)?;
            service.methods().find(|known| known.name() == method)
        });
        match found {
            Some(method) if method.is_client_streaming() || method.is_server_streaming() => {
                let message = format!("{wanted} is a stream and cannot be called as one request");
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
            Some(method) => Ok(Self(method)),
            None => {
                let message = format!(
                    "{wanted:?} is no method of this protocol; one is named as in synod.v1.Objects/Create"
                );
                Err(Error::new(ErrorKind::InvalidArgument, message))
            }
        }
    }

    /// Its path over HTTP/2.
    pub(crate) fn path(&self) -> String {
        format!("/{}/{}", self.0.parent_service().full_name(), self.0.name())
    }

    pub(crate) fn request(&self) -> MessageDescriptor {
        self.0.input()
    }

    pub(crate) fn answer(&self) -> MessageDescriptor {
        self.0.output()
    }

    /// How this request may be sent.
    pub(crate) fn nature(&self, request: &DynamicMessage) -> Nature {
        let Some(key) = self.request().get_field_by_name(REQUEST_ID) else {
            let changes = self.answer().get_field_by_name("changed").is_some();
            return if changes {
                Nature::Repeatable
            } else {
                Nature::Read
            };
        };
        let dry_run = request.get_field_by_name("dry_run");
        if dry_run.is_some_and(|flag| *flag == Value::Bool(true)) {
            return Nature::Read;
        }
        if request.has_field(&key) {
            return Nature::Keyed;
        }
        if self.request().full_name() == "synod.v1.MembershipJoinRequest" {
            Nature::Joining
        } else if self.is_fenced() {
            Nature::Fenced
        } else {
            Nature::Change
        }
    }

    /// The first of the features whose switches this request names, if it changes settings.
    pub(crate) fn names_switch_of(&self, request: &DynamicMessage) -> Option<Feature> {
        if self.request().full_name() != "synod.v1.ClusterUpdateSettingsRequest" {
            return None;
        }
        let request: v1::ClusterUpdateSettingsRequest = request.transcode_to().ok()?;
        // What breaks a rule is refused by the replica.
        let update: Change<UpdateSettings> = request.try_into().ok()?;
        update.body.patch.names_switch_of()
    }

    /// Whether this request waits at the replica until there is something to answer.
    pub(crate) fn waits(&self, request: &DynamicMessage) -> bool {
        let wait = self.request().get_field_by_name("wait_ms");
        wait.is_some_and(|wait| request.has_field(&wait))
    }

    /// Whether the epoch of the member in the request fences it.
    fn is_fenced(&self) -> bool {
        let request = self.request();
        let speaks = |field: &str, message: &str| {
            let field = request.get_field_by_name(field);
            let kind = field.map(|field| field.kind());
            kind.and_then(|kind| kind.as_message().map(|it| it.full_name() == message))
        };
        speaks("member", "synod.v1.MemberEpoch") == Some(true)
    }
}
