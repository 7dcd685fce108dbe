//! Members: reading them, and the single calls that a membership is made of.

use synod_model::{
    Adopt, ClusterId, Epoch, GroupResource, InstanceId, Join, Labels, Leave, MarkReady, MemberId,
    Renew, Report, ReportEntry, Revision, StatementNumber,
};
use synod_proto::{Change, v1};
use tokio_stream::StreamExt as _;
use tonic::{Response, Status};

use super::{Client, stubs};
use crate::pages::Pages;
use crate::read_options::list_options;
use crate::transport::{Failure, Repeats, Try};
use crate::values::read;
use crate::{
    Changed, Error, Header, Joined, MemberPage, MemberView, ReadOptions, Renewed, Reported,
};

/// Which members to list, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListMembers {
    /// Only members that have all of these labels.
    pub labels: Labels,
    /// How to read.
    pub read: ReadOptions,
    /// How many to ask for at a time; at most 5,000. `None`: 500.
    pub page_size: Option<u32>,
}

impl ListMembers {
    /// All members, linearizable.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only members that have all of these labels.
    #[must_use]
    pub fn with_labels(mut self, labels: Labels) -> Self {
        self.labels = labels;
        self
    }
}

list_options!(ListMembers);

/// A member that makes a request, with its fencing token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberEpoch {
    /// The member.
    pub member: MemberId,
    /// The epoch that its join returned.
    pub epoch: Epoch,
    /// The cluster that issued the epoch. `None`: the cluster is not checked.
    pub cluster: Option<ClusterId>,
}

impl Client {
    /// Reads one member.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such member (any more).
    pub async fn member(&self, id: &MemberId, options: ReadOptions) -> Result<MemberView, Error> {
        let message = v1::MembershipGetRequest {
            id: id.to_string(),
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move { stubs::membership(attempt.channel).get(request).await }
        });
        read::<v1::MembershipGetResponse, _>(answer.await?)
    }

    /// Reads members, page by page, all at one revision.
    #[must_use]
    pub fn members(&self, list: ListMembers) -> Pages<MemberPage> {
        list.pages(self.clone())
    }

    /// Joins once, without renewing: for programs that keep their membership themselves. Others use [`Client::join`].
    ///
    /// # Errors
    ///
    /// `STALE_EPOCH`: the join names a lost epoch, and another instance has taken the id since.
    pub async fn send_join(&self, join: Join) -> Result<Joined, Error> {
        let answer = self.joining_change(Change::new(join), |attempt: Try, message| {
            let request = attempt.request::<v1::MembershipJoinRequest>(message);
            async move { stubs::membership(attempt.channel).join(request).await }
        });
        read::<v1::MembershipJoinResponse, _>(answer.await?)
    }

    /// Renews a membership once.
    ///
    /// # Errors
    ///
    /// `NOT_A_MEMBER` and `STALE_EPOCH`: the epoch is over.
    pub async fn send_renew(&self, member: &MemberEpoch) -> Result<Renewed, Error> {
        let change = member.change(|member, epoch| Renew { member, epoch });
        let message = v1::MembershipRenewRequest::of(&change, 1);
        // Renewing twice does no harm, so the call is repeated like a read.
        let call = self.call(crate::session::deadline(self.timeout), Repeats::Read);
        let answer = call.run(|attempt| renew_once(attempt, message.clone()));
        let answer = answer.await.map_err(|failure: Failure| failure.error)?;
        Renewed::from_answer(answer)
    }

    /// Marks a member as ready: it serves.
    ///
    /// # Errors
    ///
    /// `NOT_A_MEMBER` and `STALE_EPOCH`: the epoch is over.
    pub async fn send_ready(&self, member: &MemberEpoch) -> Result<Changed, Error> {
        let change = member.change(|member, epoch| MarkReady { member, epoch });
        let answer = self.fenced_change(change, |attempt: Try, message| {
            let request = attempt.request::<v1::MembershipReadyRequest>(message);
            async move { stubs::membership(attempt.channel).ready(request).await }
        });
        read::<v1::MembershipReadyResponse, _>(answer.await?)
    }

    /// Removes a member and all that depends on it, for its own process, which speaks for it as `instance`. `drained` says that none
    /// of the member's writes can land any more.
    ///
    /// # Errors
    ///
    /// `NOT_A_MEMBER` and `STALE_EPOCH`: the epoch is over. `CONFLICT`: another instance speaks for the member.
    pub async fn send_leave(
        &self,
        member: &MemberEpoch,
        instance: &InstanceId,
        drained: bool,
    ) -> Result<Header, Error> {
        let change = member.change(|member, epoch| Leave {
            member,
            epoch,
            drained,
            instance: Some(instance.clone()),
            stopped: false,
        });
        self.remove_member(change).await
    }

    /// Evicts a member: removes it and all that depends on it, without its process, which may not know of it. What it may still
    /// write drains until its proof of membership has run out and for `write_grace` more. `stopped` says that its process has
    /// stopped: then it drains for `write_grace` alone, and answers name what was said as an assumption.
    ///
    /// # Errors
    ///
    /// `NOT_A_MEMBER` and `STALE_EPOCH`: the epoch is over.
    pub async fn evict_member(&self, member: &MemberEpoch, stopped: bool) -> Result<Header, Error> {
        let change = member.change(|member, epoch| Leave {
            member,
            epoch,
            drained: false,
            instance: None,
            stopped,
        });
        self.remove_member(change).await
    }

    async fn remove_member(&self, change: Change<Leave>) -> Result<Header, Error> {
        let answer = self.fenced_change(change, |attempt: Try, message| {
            let request = attempt.request::<v1::MembershipLeaveRequest>(message);
            async move { stubs::membership(attempt.channel).leave(request).await }
        });
        let answer: v1::MembershipLeaveResponse = answer.await?;
        read(answer.header)
    }

    /// Reports what a member encodes, decodes and serves. With `replace`, its entries for other resources are removed.
    ///
    /// `number` must be greater than that of every report and adoption of the member under its epoch: it tells a late
    /// request, which was given up, from a newer one. A [`Membership`](crate::Membership) counts by itself.
    ///
    /// # Errors
    ///
    /// `NOT_A_MEMBER` and `STALE_EPOCH`: the epoch is over. `NOT_DECODABLE`: the member cannot decode a selected
    /// version. `CONFLICT`: the member has used a greater number, which the metadata `last_number` names.
    pub async fn send_report(
        &self,
        member: &MemberEpoch,
        number: StatementNumber,
        entries: Vec<ReportEntry>,
        replace: bool,
    ) -> Result<Reported, Error> {
        let change = member.change(|member, epoch| Report {
            member,
            epoch,
            number,
            entries,
            replace,
        });
        let answer = self.fenced_change(change, |attempt: Try, message| {
            let request = attempt.request::<v1::StorageVersionsReportRequest>(message);
            async move {
                stubs::storage_versions(attempt.channel)
                    .report(request)
                    .await
            }
        });
        read::<v1::StorageVersionsReportResponse, _>(answer.await?)
    }

    /// Says that a voting member has adopted what was selected at this revision. `number` is as in
    /// [`Client::send_report`].
    ///
    /// # Errors
    ///
    /// `NOT_A_MEMBER` and `STALE_EPOCH`: the epoch is over. `CONFLICT`: something else was selected since, or the
    /// member has used a greater number, which the metadata `last_number` names.
    pub async fn send_adopt(
        &self,
        member: &MemberEpoch,
        number: StatementNumber,
        resource: &GroupResource,
        selected_revision: Revision,
    ) -> Result<Changed, Error> {
        let change = member.change(|member, epoch| Adopt {
            member,
            epoch,
            number,
            resource: resource.clone(),
            selected_revision,
        });
        let answer = self.fenced_change(change, |attempt: Try, message| {
            let request = attempt.request::<v1::StorageVersionsAdoptRequest>(message);
            async move {
                stubs::storage_versions(attempt.channel)
                    .adopt(request)
                    .await
            }
        });
        read::<v1::StorageVersionsAdoptResponse, _>(answer.await?)
    }
}

impl MemberEpoch {
    fn change<B>(&self, body: impl FnOnce(MemberId, Epoch) -> B) -> Change<B> {
        let mut change = Change::new(body(self.member.clone(), self.epoch));
        change.epoch_cluster = self.cluster;
        change
    }

    /// The message that renews this epoch.
    pub(crate) fn renewal(&self, correlation: u64) -> v1::MembershipRenewRequest {
        let change = self.change(|member, epoch| Renew { member, epoch });
        v1::MembershipRenewRequest::of(&change, correlation)
    }
}

impl Renewed {
    /// The result of a renewal.
    ///
    /// # Errors
    ///
    /// The refusal in the answer, or that the answer has no result.
    pub(crate) fn from_answer(answer: v1::MembershipRenewResponse) -> Result<Self, Error> {
        use v1::membership_renew_response::Result as Headed;
        match answer.result {
            Some(Headed::Renewed(renewed)) => Ok(Self {
                header: read(answer.header)?,
                ttl: std::time::Duration::from_millis(renewed.ttl_ms),
            }),
            Some(Headed::Refusal(refusal)) => Err(synod_model::Refusal::from(refusal).into()),
            None => Err(no_result()),
        }
    }
}

fn no_result() -> Error {
    let fault = synod_model::Violation::required("every replica sets it").at("result");
    Error::malformed(&fault.into())
}

async fn renew_once(
    attempt: Try,
    message: v1::MembershipRenewRequest,
) -> Result<Response<v1::MembershipRenewResponse>, Status> {
    let request = attempt.request(tokio_stream::once(message));
    let answers = stubs::membership(attempt.channel).renew(request).await?;
    match answers.into_inner().next().await {
        // A refusal in the stream becomes the status of this call, so that another replica can be tried.
        Some(Ok(v1::MembershipRenewResponse {
            result: Some(v1::membership_renew_response::Result::Refusal(refusal)),
            ..
        })) => Err(synod_proto::status::to_status(refusal.into())),
        Some(answer) => answer.map(Response::new),
        None => Err(Status::unavailable(
            "the stream of renewals ended without an answer",
        )),
    }
}
