//! The histories of controllers: the calls that read and change ControllerRevisions.

mod asked;

use synod_model::{
    AdoptControllerRevisions, ControllerHistory, CreateControllerRevision,
    DeleteControllerRevisions, InUse, Labels, Mark, MarkControllerRevisions, MarkTie, NamePrefix,
    Namespace, NamespacedName, ObjectName, Preconditions, ReleaseControllerRevision, Revision,
    RollbackControllerRevision, RollbackTarget, TruncateControllerRevisions,
    UpdateControllerRevision,
};
use synod_proto::wire::Wire as _;
use synod_proto::{Change, v1};

use super::{Client, stubs};
use crate::pages::Pages;
use crate::transport::Try;
use crate::values::{RevisionAnswered, read};
use crate::{Changed, Error, HistoryChanged, HistoryPage, ReadOptions, RevisionDiff, RevisionView};

pub use asked::{ListControllerRevisions, Wanted};

/// The history of one controller. Made by [`Client::history`].
#[derive(Clone, Debug)]
pub struct History {
    client: Client,
    history: ControllerHistory,
}

/// Calls one method of the service: as a change in the session, or for a dry run as a read.
macro_rules! send {
    ($client:expr, $dry_run:expr, $body:expr, $method:ident, $request:ident) => {{
        let dry_run: bool = $dry_run;
        let send = |attempt: Try, message: v1::$request| {
            let request = attempt.request(message);
            async move {
                stubs::controller_revisions(attempt.channel)
                    .$method(request)
                    .await
            }
        };
        let change = Change::new($body);
        if dry_run {
            let mut message = v1::$request::from(&change);
            message.dry_run = true;
            $client.read(|attempt| send(attempt, message.clone())).await
        } else {
            $client.change(change, send).await
        }
    }};
}

/// As [`send`], for changes that have no dry run.
macro_rules! change {
    ($client:expr, $body:expr, $method:ident, $request:ident) => {
        $client
            .change(Change::new($body), |attempt: Try, message: v1::$request| {
                let request = attempt.request(message);
                async move {
                    stubs::controller_revisions(attempt.channel)
                        .$method(request)
                        .await
                }
            })
            .await
    };
}

impl Client {
    /// The history of a controller. This sends no request.
    #[must_use]
    pub fn history(&self, history: ControllerHistory) -> History {
        let client = self.clone();
        History { client, history }
    }

    /// Reads one ControllerRevision.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no ControllerRevision of this name.
    pub async fn controller_revision(
        &self,
        key: &NamespacedName,
        options: ReadOptions,
    ) -> Result<RevisionView, Error> {
        let message = v1::ControllerRevisionsGetRequest {
            namespace: key.namespace().unwrap_or_default().to_owned(),
            name: key.name().to_owned(),
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move {
                stubs::controller_revisions(attempt.channel)
                    .get(request)
                    .await
            }
        });
        read::<v1::ControllerRevisionsGetResponse, _>(answer.await?)
    }

    /// Reads ControllerRevisions of any owner, all at one revision, ordered by namespace and name.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the list took so long that its revision left the window: begin again.
    pub async fn controller_revisions(
        &self,
        list: ListControllerRevisions,
    ) -> Result<HistoryPage, Error> {
        let text = |text: Option<String>| text.unwrap_or_default();
        let labels = list.labels.iter();
        let first = v1::ControllerRevisionsListRequest {
            read: list.read.to_wire(),
            namespace: text(list.namespace.map(|it| it.to_string())),
            labels: labels
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            owner_kind: text(list.owner_kind.map(|it| it.to_string())),
            owner_name: text(list.owner_name.map(|it| it.to_string())),
            ..v1::ControllerRevisionsListRequest::default()
        };
        Pages::new(self.clone(), first).all().await
    }

    /// Returns what changed from one ControllerRevision of a namespace to another; `None` is a nil revision.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is none of one of the names. `TOO_LARGE`: the difference is too long for one answer.
    pub async fn diff_controller_revisions(
        &self,
        namespace: &Namespace,
        from: Option<&ObjectName>,
        to: Option<&ObjectName>,
    ) -> Result<RevisionDiff, Error> {
        let text = |name: Option<&ObjectName>| name.map(ToString::to_string).unwrap_or_default();
        let message = v1::ControllerRevisionsDiffRequest {
            namespace: namespace.to_string(),
            from: text(from),
            to: text(to),
            read: None,
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move {
                stubs::controller_revisions(attempt.channel)
                    .diff(request)
                    .await
            }
        });
        read::<v1::ControllerRevisionsDiffResponse, _>(answer.await?)
    }

    /// Changes the number, the labels or the annotations of a ControllerRevision. Its data never changes.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: the preconditions name no resource version. `IMMUTABLE`: the request has other data or a
    /// lower number. `CONFLICT`: the ControllerRevision does not meet the preconditions.
    pub async fn update_controller_revision(
        &self,
        update: UpdateControllerRevision,
    ) -> Result<Changed, Error> {
        let sent = change!(self, update, update, ControllerRevisionsUpdateRequest);
        read::<v1::ControllerRevisionsUpdateResponse, _>(sent?)
    }

    /// Deletes one ControllerRevision, in use or not.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `CONFLICT`: the ControllerRevision does not meet the preconditions.
    pub async fn delete_controller_revision(
        &self,
        key: NamespacedName,
        preconditions: Preconditions,
    ) -> Result<Changed, Error> {
        let one = DeleteControllerRevisions::One { key, preconditions };
        let sent = change!(self, one, delete, ControllerRevisionsDeleteRequest);
        let answer: v1::ControllerRevisionsDeleteResponse = sent?;
        let header = read(answer.header)?;
        let changed = true;
        Ok(Changed { header, changed })
    }
}

impl History {
    /// The controller whose history this is.
    #[must_use]
    pub fn of(&self) -> &ControllerHistory {
        &self.history
    }

    /// Records the data that the controller wants now, and returns whether it is new. If the controller has wanted this
    /// data before, that ControllerRevision becomes the newest again.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: the newest is not the expected one (`if_newest`). `ALREADY_EXISTS`: too many names collide.
    pub async fn create(&self, wanted: Wanted) -> Result<RevisionAnswered, Error> {
        let dry_run = wanted.dry_run;
        let owner = &self.history.owner.name;
        let prefix = match wanted.prefix {
            Some(prefix) => prefix,
            None => NamePrefix::parse(owner.as_str()).map_err(Error::invalid)?,
        };
        let selector = self.history.selector.iter();
        let own = wanted.labels.iter();
        let added = selector.filter(|(key, _)| wanted.labels.get(key).is_none());
        let labels = Labels::parse(own.chain(added)).map_err(Error::invalid)?;
        let create = CreateControllerRevision {
            history: self.history.clone(),
            data: wanted.data,
            equality: wanted.equality,
            prefix,
            labels,
            annotations: wanted.annotations,
            number: wanted.number,
            collision_count: wanted.collision_count,
            history_limit: wanted.history_limit,
            if_newest: wanted.if_newest,
            mark_update: wanted.mark_update,
            name: None,
        };
        let client = &self.client;
        let sent = send!(
            client,
            dry_run,
            create,
            create,
            ControllerRevisionsCreateRequest
        );
        read::<v1::ControllerRevisionsCreateResponse, _>(sent?)
    }

    /// Reads the history, oldest first, all at one revision. A history that was never begun is empty.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the read took so long that its revision left the window: begin again.
    pub async fn read(&self, options: ReadOptions) -> Result<HistoryPage, Error> {
        let first = v1::ControllerRevisionsHistoryRequest {
            history: self.history.to_wire(),
            read: options.to_wire(),
            ..v1::ControllerRevisionsHistoryRequest::default()
        };
        Pages::new(self.client.clone(), first).all().await
    }

    /// Makes an older ControllerRevision the newest, and returns it.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such ControllerRevision. `CONFLICT`: the newest is not the expected one (`if_newest`).
    pub async fn rollback(
        &self,
        to: RollbackTarget,
        if_newest: Option<Revision>,
        dry_run: bool,
    ) -> Result<RevisionAnswered, Error> {
        let rollback = RollbackControllerRevision {
            history: self.history.clone(),
            to,
            if_newest,
        };
        let client = &self.client;
        let sent = send!(
            client,
            dry_run,
            rollback,
            rollback,
            ControllerRevisionsRollbackRequest
        );
        read::<v1::ControllerRevisionsRollbackResponse, _>(sent?)
    }

    /// Marks ControllerRevisions as in use, or renews these marks. A mark that is `None` here stays as it is.
    ///
    /// The marks are removed together with `tie`; marks tied to renewals, if this is not called again in time.
    /// Repeating a call with the same marks costs no revision. The newest is live without a mark.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: the owner controls no ControllerRevision of a name, or the object of the tie does not exist.
    /// `CONFLICT`: the object of the tie is another one. `NOT_A_MEMBER`, `STALE_EPOCH`: the member of the tie does not
    /// hold this epoch. `QUOTA`: too many marks are tied to one member or object. `TOO_LARGE`: this would change the
    /// marks of more than 16 MiB of ControllerRevisions; mark fewer at first, then all.
    pub async fn mark_live(
        &self,
        current: Option<Mark>,
        update: Option<Mark>,
        in_use: Option<InUse>,
        tie: MarkTie,
    ) -> Result<Changed, Error> {
        let marking = MarkControllerRevisions {
            history: self.history.clone(),
            current,
            update,
            in_use,
            tie,
        };
        let sent = change!(
            self.client,
            marking,
            mark_live,
            ControllerRevisionsMarkLiveRequest
        );
        read::<v1::ControllerRevisionsMarkLiveResponse, _>(sent?)
    }

    /// Deletes the oldest that are not live, until at most `limit` of these are left. The newest is always live.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: the newest is not the expected one (`if_newest`).
    pub async fn truncate(
        &self,
        limit: u32,
        if_newest: Option<Revision>,
        dry_run: bool,
    ) -> Result<HistoryChanged, Error> {
        let truncate = TruncateControllerRevisions {
            history: self.history.clone(),
            limit,
            if_newest,
        };
        let client = &self.client;
        let sent = send!(
            client,
            dry_run,
            truncate,
            truncate,
            ControllerRevisionsTruncateRequest
        );
        read::<v1::ControllerRevisionsTruncateResponse, _>(sent?)
    }

    /// Adopts the ControllerRevision of this name; for `None`, all that have the selector's labels and no controller.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: another owner controls the ControllerRevision.
    pub async fn adopt(&self, name: Option<ObjectName>) -> Result<HistoryChanged, Error> {
        let adopt = AdoptControllerRevisions {
            history: self.history.clone(),
            name,
        };
        let sent = change!(self.client, adopt, adopt, ControllerRevisionsAdoptRequest);
        read::<v1::ControllerRevisionsAdoptResponse, _>(sent?)
    }

    /// Ends the owner's control of a ControllerRevision, without deleting it. One that is gone, or that the owner does
    /// not control, is left unchanged.
    ///
    /// # Errors
    ///
    /// No replica could execute it in time.
    pub async fn release(&self, name: &ObjectName) -> Result<Changed, Error> {
        let release = ReleaseControllerRevision {
            key: NamespacedName::new(Some(&self.history.namespace), name),
            owner: self.history.owner.uid,
            preconditions: Preconditions::default(),
        };
        let sent = change!(
            self.client,
            release,
            release,
            ControllerRevisionsReleaseRequest
        );
        read::<v1::ControllerRevisionsReleaseResponse, _>(sent?)
    }

    /// Deletes all ControllerRevisions that the owner controls, in use or not. They are not deleted together with their
    /// owner, only by this call.
    ///
    /// # Errors
    ///
    /// No replica could execute it in time.
    pub async fn delete(&self, dry_run: bool) -> Result<HistoryChanged, Error> {
        let all = DeleteControllerRevisions::HistoryOf {
            namespace: self.history.namespace.clone(),
            owner: self.history.owner.uid,
        };
        let client = &self.client;
        let sent = send!(
            client,
            dry_run,
            all,
            delete_history,
            ControllerRevisionsDeleteHistoryRequest
        );
        read::<v1::ControllerRevisionsDeleteHistoryResponse, _>(sent?)
    }
}
