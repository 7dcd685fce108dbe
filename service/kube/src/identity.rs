//! Identity leases: a lease in `kube-system` by which an API server says that it is there is a member.
//!
//! | what Kubernetes does | what it is here |
//! |---|---|
//! | create with the label `apiserver.kubernetes.io/identity=kube-apiserver` | join; the lease's name is the member's id |
//! | update by the same holder | renew; with another duration or other labels, join again, which keeps the epoch |
//! | update by another holder | join: a new epoch, and what the other one reported stays, as in Kubernetes |
//! | delete | leave |
//!
//! Nothing is kept here: what a lease is is read from the member. Its instance is the holder, without the name of the lease
//! before it where it begins with that, since both together are too long for an instance. Its labels are those of the lease,
//! its TTL the duration. A member that joined otherwise is shown as a lease if it has that label.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use synod_model::{ErrorKind, InstanceId, Refusal};
use synod_proto::v1;
use tracing::info;

use crate::documents::{attributes, document, micro_time};
use crate::kinds::Kind;
use crate::leases::Wanted;
use crate::present::is_expected;
use crate::reads::Present;
use crate::reports;
use crate::request::Asked;
use crate::selectors::labels_match;
use crate::sources::{Calls, Page, Paging, Scope, Start};
use crate::status::{About, Fault};

/// The namespace of identity leases.
pub(crate) const NAMESPACE: &str = "kube-system";

/// The label of identity leases, and what it says of those of API servers of Kubernetes.
const LABEL: (&str, &str) = ("apiserver.kubernetes.io/identity", "kube-apiserver");

/// The annotation with the epoch of the member.
const EPOCH: &str = "synod.io/epoch";

/// What parts a holder's own name from the name of its lease, with which it begins.
const PARTS: char = '_';

/// The epoch that a join says that it has lost so that it replaces nobody: no member has this one, or an earlier one.
const NOBODY: u64 = 1;

/// What stands before a token that continues a list of leases in its members.
const MEMBERS: &str = "members.";

/// What stands before the revision of the members in a token behind which a list goes on with the leases.
const LEASES: &str = "leases.";

/// What a list or watch of leases shows.
pub(crate) struct Shown {
    pub(crate) leases: bool,
    pub(crate) members: bool,
}

/// Whether a document is one of an identity lease.
pub(crate) fn is_of_member(document: &Value, about: &About<'_>) -> bool {
    about.namespace == Some(NAMESPACE) && is_labelled(document)
}

/// Whether a document has the label of identity leases.
pub(crate) fn is_labelled(document: &Value) -> bool {
    document["metadata"]["labels"][LABEL.0] == LABEL.1
}

/// Whether a member is shown as a lease.
pub(crate) fn is_shown(member: &v1::Member) -> bool {
    let labels = member.metadata.as_ref().map(|metadata| &metadata.labels);
    labels.is_some_and(|labels| labels.get(LABEL.0).is_some_and(|value| value == LABEL.1))
}

/// Whether a member joined by its lease, as a holder that begins with the lease's name, as those of Kubernetes do.
pub(crate) fn is_by_lease(member: &v1::Member) -> bool {
    is_shown(member) && member.instance.starts_with(PARTS)
}

/// The labels of members that are shown as leases.
pub(crate) fn labels() -> BTreeMap<String, String> {
    [(LABEL.0.to_owned(), LABEL.1.to_owned())].into()
}

/// What these leases may be.
pub(crate) fn shown_in(scope: &Scope) -> Shown {
    let members = scope.namespace.as_deref().is_none_or(|it| it == NAMESPACE);
    // Leases have no labels.
    let leases = !members || labels_match(&scope.selection.labels, &Value::Null);
    Shown { leases, members }
}

/// The lease that a member is, if it has this much left, at this time.
///
/// A member that is shown counts, so no clock is to take it for expired: what is left is known at least, and by the leader
/// alone, so the lease is told to be renewed half its duration ago at the earliest.
pub(crate) fn of(kind: &Kind, member: &v1::Member, left: Option<u64>, now: u64) -> Value {
    let ttl = member.ttl_ms;
    let age = left.map_or(0, |left| ttl.saturating_sub(left)).min(ttl / 2);
    let metadata = member.metadata.clone().unwrap_or_default();
    let metadata = v1::Metadata {
        namespace: NAMESPACE.to_owned(),
        generation: 0,
        ..metadata
    };
    let spec = json!({
        "holderIdentity": holder(&metadata.name, &member.instance),
        "leaseDurationSeconds": ttl.div_ceil(1_000),
        "renewTime": micro_time(now.saturating_sub(age)),
    });
    let mut document = document(kind, Some(&metadata), json!({ "spec": spec }));
    // In a dry run it has none.
    if member.epoch > 0 {
        document["metadata"]["annotations"][EPOCH] = json!(member.epoch.to_string());
    }
    document
}

/// What an instance is called as the holder of the lease of this name.
fn holder(name: &str, instance: &str) -> String {
    match instance.starts_with(PARTS) {
        true => format!("{name}{instance}"),
        false => instance.to_owned(),
    }
}

/// The instance that the holder of the lease of this name is; `None` if no holder may be called so, since it would be shown
/// as another one.
fn instance<'a>(name: &str, holder: &'a str) -> Option<&'a str> {
    match holder.strip_prefix(name) {
        Some(rest) if rest.starts_with(PARTS) => Some(rest),
        _ => Some(holder).filter(|holder| !holder.starts_with(PARTS)),
    }
}

/// The member that a lease is; `None` if it is none.
///
/// # Errors
///
/// As any read.
pub(crate) async fn find(
    calls: &Calls,
    namespace: Option<&str>,
    name: &str,
    asked: Asked,
) -> Result<Option<Present>, Refusal> {
    if namespace != Some(NAMESPACE) {
        return Ok(None);
    }
    match calls.member(name, asked).await {
        Ok(present) => Ok(Some(present).filter(|present| is_shown(&present.member))),
        // A name that no member can have is that of none.
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

/// The member that is to be written.
pub(crate) async fn present(calls: &Calls, about: &About<'_>) -> Result<Option<Present>, Fault> {
    find(calls, about.namespace, about.name, Asked::Newest)
        .await
        .map_err(|refusal| Fault::of(&refusal, about))
}

/// Lets the member join that a lease is of.
pub(crate) async fn create(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
) -> Result<(), Fault> {
    let request = asked_for(document, about)?;
    let request = v1::MembershipJoinRequest {
        lost_epoch: Some(NOBODY),
        ..request
    };
    match join(calls, &request).await {
        Ok(_) => Ok(()),
        // Somebody was faster.
        Err(refusal) if refusal.kind == ErrorKind::StaleEpoch => Err(Fault::already_exists(about)),
        Err(refusal) => Err(Fault::of(&refusal, about)),
    }
}

/// Makes a member what the document of its lease says, if it is the one that is expected.
pub(crate) async fn update(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
    present: &Present,
) -> Result<(), Fault> {
    let member = &present.member;
    let metadata = member.metadata.clone().unwrap_or_default();
    let mut request = asked_of(document, about, expected, member)?;
    let is_same = request.instance == member.instance;
    let done =
        if is_same && request.ttl_ms == Some(member.ttl_ms) && request.labels == metadata.labels {
            renew(calls, member).await.map(|()| member.epoch)
        } else {
            if is_same {
                request.version.clone_from(&member.version);
                request.endpoint.clone_from(&member.endpoint);
            }
            request.lost_epoch = Some(member.epoch);
            join(calls, &request).await
        };
    let epoch = done.map_err(|refusal| fault(&refusal, about))?;
    if is_same {
        return Ok(());
    }
    let now = v1::Member {
        epoch,
        reported: false,
        ..member.clone()
    };
    // The lease is taken over, whatever becomes of this: until the first report of the new process, which carries it, too,
    // what the one before has reported stands.
    if let Err(refusal) = reports::carry(calls, &now).await {
        info!(
            member = about.name,
            error = %refusal.message,
            "what a member had reported was not said again for its new process: its first report does that"
        );
    }
    Ok(())
}

/// The join that a document asks of this member for, if it is the one that is expected.
pub(crate) fn asked_of(
    document: &Value,
    about: &About<'_>,
    expected: &v1::Preconditions,
    member: &v1::Member,
) -> Result<v1::MembershipJoinRequest, Fault> {
    let metadata = member.metadata.clone().unwrap_or_default();
    is_expected(&metadata, expected, about)?;
    if !is_of_member(document, about) {
        let rule = format!(
            "Forbidden: the lease is a member by {}: delete it to leave",
            LABEL.1
        );
        let field = format!("metadata.labels[{}]", LABEL.0);
        return Err(invalid(about, &field, rule));
    }
    asked_for(document, about)
}

/// Removes a member whose lease is deleted. Answers its uid.
pub(crate) async fn leave(
    calls: &Calls,
    about: &About<'_>,
    expected: &v1::Preconditions,
    member: &v1::Member,
    is_dry: bool,
) -> Result<String, Fault> {
    let metadata = member.metadata.clone().unwrap_or_default();
    is_expected(&metadata, expected, about)?;
    if is_dry {
        return Ok(metadata.uid);
    }
    let request = v1::MembershipLeaveRequest {
        member: Some(epoch_of(member)),
        ..v1::MembershipLeaveRequest::default()
    };
    let left: Result<v1::MembershipLeaveResponse, Refusal> =
        calls.call("synod.v1.Membership/Leave", &request).await;
    left.map_err(|refusal| fault(&refusal, about))?;
    Ok(metadata.uid)
}

/// Who speaks under the epoch that a member has.
pub(crate) fn epoch_of(member: &v1::Member) -> v1::MemberEpoch {
    let name = member.metadata.as_ref().map(|own| own.name.clone());
    v1::MemberEpoch {
        member: name.unwrap_or_default(),
        epoch: member.epoch,
        cluster_id: String::new(),
    }
}

/// What became of the member while it was written, as it is to who knows of its lease alone.
fn fault(refusal: &Refusal, about: &About<'_>) -> Fault {
    match refusal.kind {
        ErrorKind::NotAMember => Fault::not_found(about),
        ErrorKind::StaleEpoch => Fault::modified(about),
        _ => Fault::of(refusal, about),
    }
}

fn invalid(about: &About<'_>, field: &str, rule: String) -> Fault {
    Fault::invalid(about, &[(field.to_owned(), rule)])
}

/// The join that a document asks for.
pub(crate) fn asked_for(
    document: &Value,
    about: &About<'_>,
) -> Result<v1::MembershipJoinRequest, Fault> {
    let Wanted { holder, ttl_ms } = Wanted::of(document, about)?;
    let mut faults = Vec::new();
    let labels = attributes(&document["metadata"], &mut faults).labels;
    let field = "spec.holderIdentity".to_owned();
    let own = match instance(about.name, &holder) {
        _ if holder.is_empty() => {
            let rule = "Required value: a member is a process, which names itself";
            faults.push((field, rule.to_owned()));
            ""
        }
        None => {
            let rule = format!("Invalid value: must not begin with {PARTS}");
            faults.push((field, rule));
            ""
        }
        Some(own) => {
            if let Err(fault) = InstanceId::parse(own) {
                faults.push((field, fault.rule));
            }
            own
        }
    };
    if !faults.is_empty() {
        return Err(Fault::invalid(about, &faults));
    }
    Ok(v1::MembershipJoinRequest {
        id: about.name.to_owned(),
        instance: own.to_owned(),
        ttl_ms: Some(ttl_ms),
        labels,
        ..v1::MembershipJoinRequest::default()
    })
}

/// Joins. Answers the epoch.
async fn join(calls: &Calls, request: &v1::MembershipJoinRequest) -> Result<u64, Refusal> {
    let joined: v1::MembershipJoinResponse =
        calls.call("synod.v1.Membership/Join", request).await?;
    Ok(joined.epoch)
}

async fn renew(calls: &Calls, member: &v1::Member) -> Result<(), Refusal> {
    use v1::membership_renew_response::Result as Answered;
    let request = v1::MembershipRenewRequest {
        member: Some(epoch_of(member)),
        correlation: 0,
    };
    let answer: v1::MembershipRenewResponse =
        calls.call("synod.v1.Membership/Renew", &request).await?;
    match answer.result {
        Some(Answered::Refusal(refusal)) => Err(refusal.into()),
        Some(Answered::Renewed(_)) | None => Ok(()),
    }
}

/// A page of leases. Those that are members come first: while they are read at the present, it is known what they have left.
pub(crate) async fn page(
    calls: &Calls,
    scope: &Scope,
    start: Start,
    size: u32,
) -> Result<Page, Refusal> {
    let Shown { leases, members } = shown_in(scope);
    if !members {
        return calls.leases(scope, start, size).await;
    }
    let start = match within(start) {
        Within::Leases(start) => return calls.leases(scope, start, size).await,
        Within::Members(start) => start,
    };
    let is_exact = matches!(start, Start::First(Asked::Exact(_)) | Start::After(_));
    let mut page = of_members(calls, scope, start, size).await?;
    if !page.next.is_empty() {
        page.next = format!("{MEMBERS}{}", page.next);
        return Ok(page);
    }
    if !leases {
        return Ok(page);
    }
    let room = u32::try_from(page.items.len()).map_or(0, |taken| size.saturating_sub(taken));
    if room == 0 {
        page.next = format!("{LEASES}{}", page.revision);
        return Ok(page);
    }
    let rest = at_revision(calls, scope, page.revision, is_exact, room).await?;
    page.items.extend(rest.items);
    page.next = rest.next;
    Ok(page)
}

/// Where in a list of leases a page begins.
enum Within {
    Members(Start),
    Leases(Start),
}

fn within(start: Start) -> Within {
    let behind = |token: &str| token.strip_prefix(LEASES).map(str::parse::<u64>);
    match start {
        Start::First(asked) => Within::Members(Start::First(asked)),
        Start::After(token) => match (token.strip_prefix(MEMBERS), behind(&token)) {
            (Some(rest), _) => Within::Members(Start::After(rest.to_owned())),
            (None, Some(Ok(revision))) => Within::Leases(Start::First(Asked::Exact(revision))),
            (None, _) => Within::Leases(Start::After(token)),
        },
        Start::AtPresent(token) => match (token.strip_prefix(MEMBERS), behind(&token)) {
            (Some(rest), _) => Within::Members(Start::AtPresent(rest.to_owned())),
            (None, Some(_)) => Within::Leases(Start::First(Asked::Newest)),
            (None, None) => Within::Leases(Start::AtPresent(token)),
        },
    }
}

/// The first leases at a revision: as they are now if nothing has changed since, because then it is known what they have left.
async fn at_revision(
    calls: &Calls,
    scope: &Scope,
    revision: u64,
    is_exact: bool,
    size: u32,
) -> Result<Page, Refusal> {
    if !is_exact {
        let start = Start::First(Asked::NotOlderThan(revision));
        let page = calls.leases(scope, start, size).await?;
        if page.revision == revision {
            return Ok(page);
        }
    }
    let start = Start::First(Asked::Exact(revision));
    calls.leases(scope, start, size).await
}

/// A page of the members that are leases.
async fn of_members(
    calls: &Calls,
    scope: &Scope,
    start: Start,
    size: u32,
) -> Result<Page, Refusal> {
    let paging = Paging::of(start, size);
    let found = calls.members(paging, labels()).await?;
    let now = calls.now_ms();
    let of = |item: &v1::MemberListItem| {
        let member = item.member.as_ref()?;
        Some(of(&scope.kind, member, item.remaining_ms, now))
    };
    Ok(Page {
        items: found.items.iter().filter_map(of).collect(),
        revision: found
            .header
            .map(|header| header.revision)
            .unwrap_or_default(),
        next: found.continue_token,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::KINDS;

    #[test]
    fn a_holder_is_shown_as_it_was_named() {
        let name = "apiserver-wj467rbl25eeviqacfhvg2yvnm";
        let long = format!("{name}_5c6b4ad4-1b0c-4a8c-9d8a-6f1b2f3c4d5e");
        for own in [long.as_str(), name, "x", "x_y", &format!("{name}-2_x")] {
            let instance = instance(name, own).unwrap_or_default();
            assert!(InstanceId::parse(instance).is_ok(), "{instance}");
            assert_eq!(holder(name, instance), own);
        }
        assert_eq!(instance(name, "_x"), None);
    }

    #[test]
    fn a_lease_of_a_member_that_counts_looks_expired_to_nobody() {
        let member = v1::Member {
            ttl_ms: 10_000,
            ..v1::Member::default()
        };
        let renewed = |left| of(&KINDS[0], &member, left, 20_000)["spec"]["renewTime"].clone();
        assert_eq!(renewed(Some(9_000)), micro_time(19_000));
        assert_eq!(renewed(Some(1)), micro_time(15_000));
        assert_eq!(renewed(None), micro_time(20_000));
    }

    #[test]
    fn a_token_tells_where_in_a_list_it_goes_on() {
        let of = |start| match within(start) {
            Within::Members(start) => format!("members {start:?}"),
            Within::Leases(start) => format!("leases {start:?}"),
        };
        let after = |token: &str| of(Start::After(token.to_owned()));
        assert_eq!(after("members.x"), "members After(\"x\")");
        assert_eq!(after("leases.7"), "leases First(Exact(7))");
        assert_eq!(after("x"), "leases After(\"x\")");
        let present = |token: &str| of(Start::AtPresent(token.to_owned()));
        assert_eq!(present("members.x"), "members AtPresent(\"x\")");
        assert_eq!(present("leases.7"), "leases First(Newest)");
    }
}
