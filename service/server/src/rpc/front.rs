//! The calls of `synod.v1` for another protocol that this replica serves.
//!
//! Another protocol translates its requests to messages of `synod.v1`, and its calls go through the gate that gRPC's go
//! through: the same identities, policy, admission, limits, deadlines, metrics, traces and audit log, whatever it is.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName};
use prost::Message;
use synod_model::{ErrorKind, Refusal, WallTime};
use synod_proto::access::Names;
use synod_proto::status::from_status;
use synod_proto::v1;
use tokio::time::Instant;

use super::admission::AdmissionSlot;
use super::gate::GateParts;
use super::handlers::Known;
use super::layer::gate;
use super::passing::{Opened, Passing};
use crate::access::Standing;
use crate::connections::{Call, Held, Line};
use crate::guards::Guards;
use crate::handle::{Asking, Handle};
use crate::http::{Probe, may_read_metrics};
use crate::metrics::RpcMetrics;
use crate::seams::{Caller, ConnectionInfo};
use crate::stop::Stop;
use crate::traces::{Parent, Traces};
use crate::watch::Cursor;

/// What discovery reads, and who is not known is refused for.
const COLLECTIONS: &str = "synod.v1.Collections/List";

/// What another protocol calls a replica by. Clones share it.
#[derive(Clone)]
pub struct Front {
    pub(super) gate: Arc<GateParts>,
}

/// Who has sent a request of another protocol, and over which connection.
#[derive(Clone)]
pub struct Origin {
    caller: Caller,
    remote: Arc<str>,
    line: Option<Arc<Line>>,
    /// The name of the request in the logs.
    pub trace: Arc<str>,
}

/// A request in progress: until this is dropped, its connection is not idle.
pub struct InProgress(#[expect(dead_code, reason = "its drop ends the call")] Option<Call>);

/// The events of a watch.
pub struct Events {
    cursor: Cursor,
    _place: AdmissionSlot,
}

impl Front {
    pub(crate) fn new(
        metrics: &Arc<RpcMetrics>,
        handle: Handle,
        guards: Guards,
        traces: Traces,
        stop: Stop,
    ) -> Self {
        Self {
            gate: gate(metrics, handle, guards, traces, stop),
        }
    }

    /// Finds out who sends a request. Its token is taken out of the headers.
    #[must_use]
    pub fn origin(&self, connection: &ConnectionInfo, headers: &mut HeaderMap) -> Origin {
        let access = &self.gate.guards.access;
        Origin {
            trace: self.gate.names.of(headers),
            caller: access.caller(&connection.caller, headers),
            remote: Arc::clone(&connection.remote),
            line: connection.line.clone(),
        }
    }

    /// Whether a header tells who calls, if a front proxy sends it. What is believed is taken out of the headers by
    /// [`Self::origin`].
    #[must_use]
    pub fn tells_who_calls(&self, header: &HeaderName) -> bool {
        self.gate.guards.access.tells_who_calls(header)
    }

    /// The proved name of who sends a request; `None` where nobody is asked who they are.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if nothing proves who it is; `UNAVAILABLE`, if it is to connect anew.
    pub fn identity(&self, origin: &Origin) -> Result<Option<String>, Refusal> {
        let actor = self.standing(origin, COLLECTIONS)?.standing.actor();
        Ok(actor.map(|actor| actor.identity.as_str().to_owned()))
    }

    /// The groups that a front proxy tells of who sends a request, as the policy knows them; `None` if nobody speaks for it.
    ///
    /// # Errors
    ///
    /// As [`Self::identity`].
    pub fn told_groups(&self, origin: &Origin) -> Result<Option<Vec<String>>, Refusal> {
        Ok(self.standing(origin, COLLECTIONS)?.standing.told_groups())
    }

    /// The status and the text of a probe with this query, which everybody may read; `None` if there is no such check.
    #[must_use]
    pub fn probe(&self, probe: Probe<'_>, query: Option<&str>) -> Option<(u16, String)> {
        let probed = &self.gate.handle.itself().probed;
        let (status, text) = probed.answer(probe, query)?;
        Some((status.as_u16(), text))
    }

    /// The metrics of this replica, in the form of [`OPEN_METRICS`](crate::OPEN_METRICS).
    ///
    /// # Errors
    ///
    /// As [`Self::may_read_metrics`].
    pub fn metrics(&self, origin: &Origin) -> Result<String, Refusal> {
        self.may_read_metrics(origin)?;
        Ok((self.gate.handle.itself().metrics_text)())
    }

    /// Whether the sender of a request may read the metrics.
    ///
    /// # Errors
    ///
    /// As [`Self::identity`], and `PERMISSION_DENIED` with the reason.
    pub fn may_read_metrics(&self, origin: &Origin) -> Result<(), Refusal> {
        may_read_metrics(&self.gate.guards.access, &origin.caller)
    }

    /// Whether the sender of a request may call the method of this path with a message that names this. Nothing is called,
    /// and the audit log is told of nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::identity`], and `PERMISSION_DENIED` with the reason.
    pub fn may(
        &self,
        origin: &Origin,
        path: &'static str,
        named: &impl Names,
    ) -> Result<(), Refusal> {
        self.standing(origin, path)?.check(named)
    }

    /// The same for a call that is to follow: the audit log is told of a refusal, as of one of the call.
    ///
    /// # Errors
    ///
    /// As [`Self::may`].
    pub fn admit(
        &self,
        origin: &Origin,
        path: &'static str,
        named: &impl Names,
    ) -> Result<(), Refusal> {
        let asking = self.standing(origin, path)?;
        asking
            .check(named)
            .inspect_err(|refusal| asking.denied(Some(named), refusal))
    }

    /// What the sender of a request may do now.
    fn standing(&self, origin: &Origin, path: &'static str) -> Result<Asking, Refusal> {
        let known = Known::of_path(path);
        let mut asking = self.asking(origin, known, Instant::now());
        self.gate.stand(&mut asking, known, &origin.caller)?;
        Ok(asking)
    }

    /// Calls the method of this path (`synod.v1.Service/Method`), which has one answer.
    ///
    /// # Errors
    ///
    /// The refusal of the call.
    pub async fn call<A: Message + Default>(
        &self,
        origin: &Origin,
        path: &'static str,
        message: &impl Message,
        deadline: Instant,
    ) -> Result<A, Refusal> {
        let answered = self.passing(origin, path, message, deadline).answered();
        let answer = answered.await.map_err(|status| from_status(&status))?;
        A::decode(answer.message()).map_err(|error| {
            let message = format!("the answer of {path} cannot be read: {error}");
            Refusal::new(ErrorKind::UnknownOutcome, message)
        })
    }

    /// Opens a watch. `deadline` bounds only the opening.
    ///
    /// # Errors
    ///
    /// The refusal of the watch.
    pub async fn watch(
        &self,
        origin: &Origin,
        request: &v1::WatchRequest,
        deadline: Instant,
    ) -> Result<Events, Refusal> {
        let opening = self.passing(origin, "synod.v1.Watch/Watch", request, deadline);
        let opened = opening.open().await;
        let Opened { cursor, place } = opened.map_err(|status| from_status(&status))?;
        Ok(Events {
            cursor,
            _place: place,
        })
    }

    fn passing(
        &self,
        origin: &Origin,
        path: &'static str,
        message: &impl Message,
        deadline: Instant,
    ) -> Passing {
        let known = Known::of_path(path);
        let asking = Asking {
            span: self
                .gate
                .span_below(known, &origin.trace, &origin.caller, Parent::default()),
            ..self.asking(origin, known, deadline)
        };
        let message: Bytes = message.encode_to_vec().into();
        let now = Instant::now();
        Passing::begin(&self.gate, known, asking, &origin.caller, message, now)
    }

    fn asking(&self, origin: &Origin, known: &'static Known, deadline: Instant) -> Asking {
        let line = origin.line.clone();
        Asking {
            deadline,
            ..self.gate.asking(known, &origin.trace, line, &origin.remote)
        }
    }

    /// All collections, with the versions in which each counts objects: what discovery shows to everybody who is known. With them
    /// the revision that they are of.
    ///
    /// # Errors
    ///
    /// As [`Self::identity`], and as any read.
    pub async fn collections(
        &self,
        origin: &Origin,
        deadline: Instant,
    ) -> Result<(Vec<v1::CollectionListItem>, u64), Refusal> {
        let mut request = v1::CollectionsListRequest::default();
        let mut found = Vec::new();
        loop {
            let page: v1::CollectionsListResponse = self
                .discovered(origin, COLLECTIONS, &request, deadline)
                .await?;
            found.extend(page.items);
            if page.continue_token.is_empty() {
                let revision = page.header.map(|header| header.revision);
                return Ok((found, revision.unwrap_or_default()));
            }
            request.continue_token = page.continue_token;
        }
    }

    /// One collection, as [`Self::collections`] has it; `None` if it is not declared. With `read`, as of a revision that is asked
    /// for, which needs no leader where the replica has reached it.
    ///
    /// # Errors
    ///
    /// As [`Self::collections`].
    pub async fn collection(
        &self,
        origin: &Origin,
        resource: v1::GroupResource,
        read: Option<v1::ReadOptions>,
        deadline: Instant,
    ) -> Result<Option<v1::Collection>, Refusal> {
        let request = v1::CollectionsGetRequest {
            resource: Some(resource),
            read,
        };
        let found: Result<v1::CollectionsGetResponse, Refusal> = self
            .discovered(origin, "synod.v1.Collections/Get", &request, deadline)
            .await;
        match found {
            Ok(found) => Ok(found.collection),
            // A name that no collection can have is declared by nobody.
            Err(refusal)
                if matches!(
                    refusal.kind,
                    ErrorKind::NotFound | ErrorKind::InvalidArgument
                ) =>
            {
                Ok(None)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// What follows from all that members say of a resource; what discovery shows beside what is stored. Nothing if nobody does. It is
    /// of this revision or a later one, and needs no leader where the replica has reached it.
    ///
    /// # Errors
    ///
    /// As [`Self::collections`].
    pub async fn storage_status(
        &self,
        origin: &Origin,
        resource: v1::GroupResource,
        revision: u64,
        deadline: Instant,
    ) -> Result<v1::StorageVersionStatus, Refusal> {
        let request = v1::StorageVersionsGetRequest {
            resource: Some(resource),
            read: Some(v1::ReadOptions {
                min_revision: Some(revision),
                ..v1::ReadOptions::default()
            }),
        };
        let found: Result<v1::StorageVersionsGetResponse, Refusal> = self
            .discovered(origin, "synod.v1.StorageVersions/Get", &request, deadline)
            .await;
        match found {
            Ok(found) => {
                let version = found.storage_version.and_then(|version| version.status);
                Ok(version.unwrap_or_default())
            }
            Err(refusal) if refusal.kind == ErrorKind::NotFound => {
                Ok(v1::StorageVersionStatus::default())
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Calls a method that tells only what is served, which everybody may know who is known.
    async fn discovered<A: Message + Default>(
        &self,
        origin: &Origin,
        path: &'static str,
        message: &impl Message,
        deadline: Instant,
    ) -> Result<A, Refusal> {
        self.identity(origin)?;
        let passing = self.passing(origin, path, message, deadline);
        let answered = passing.standing_as(Standing::of_anybody()).answered();
        let answer = answered.await.map_err(|status| from_status(&status))?;
        A::decode(answer.message()).map_err(|error| {
            let message = format!("the answer of {path} cannot be read: {error}");
            Refusal::new(ErrorKind::UnknownOutcome, message)
        })
    }

    /// The wall-clock time, for display.
    #[must_use]
    pub fn wall_time(&self) -> WallTime {
        self.gate.handle.wall_time()
    }

    /// Resolves when the replica shuts down: streams are to end then.
    pub async fn stopped(&self) {
        self.gate.stop.requested().await;
    }
}

impl Origin {
    /// Marks the connection as busy for as long as the answer is kept.
    #[must_use]
    pub fn begin(&self) -> InProgress {
        InProgress(self.line.as_ref().map(Line::call))
    }

    /// An answer in the pieces that are given to the network, which are counted until it has taken them: a connection that
    /// does not take its answers is cut.
    pub fn counted(&self, bytes: Bytes) -> Vec<Bytes> {
        match &self.line {
            Some(line) => Held::own(line, bytes).pieces().collect(),
            None => vec![bytes],
        }
    }
}

impl Events {
    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Option<v1::WatchResponse> {
        let message = self.cursor.next().await?;
        let mut bytes = BytesMut::with_capacity(message.len());
        for piece in message.pieces() {
            bytes.extend_from_slice(piece);
        }
        v1::WatchResponse::decode(bytes.freeze()).ok()
    }
}
