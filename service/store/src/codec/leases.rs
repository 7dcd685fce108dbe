//! Leases, their queues and candidates, and the commands that change them.

use std::sync::Arc;

use synod_machine::{Change, Command, Holder, Row};
use synod_model::{
    AcquireLease, Epoch, FencingToken, Hold, HolderIdentity, Lease, LeaseCandidate, LeaseKey,
    MemberId, PutLeaseCandidate, ReleaseLease, RenewLease, RenewLeaseCandidate, Revision,
    SemanticVersion, Strategy, Ticket, Ttl, Waiter, WallTime, WithdrawLeaseCandidate,
};
use synod_proto::storage::v1 as pb;

use super::CodecError;
use super::values::{epoch, member_id, metadata_from_pb, metadata_to_pb, parsed, required, ttl};

type Result<T> = std::result::Result<T, CodecError>;

/// A member and its epoch, where one is named.
type Speaker = Option<(MemberId, Epoch)>;

pub(super) fn acquire_to_pb(acquire: &AcquireLease) -> pb::AcquireLease {
    pb::AcquireLease {
        key: acquire.key.to_string(),
        holder: acquire.holder.to_string(),
        ttl_ms: acquire.ttl.as_millis(),
        wait_ms: acquire.wait.map(Ttl::as_millis),
        if_member: speaker_to_pb(&acquire.if_member),
    }
}

pub(super) fn acquire_from_pb(acquire: pb::AcquireLease) -> Result<Command> {
    Ok(Command::AcquireLease(AcquireLease {
        key: key(&acquire.key)?,
        holder: holder(&acquire.holder)?,
        ttl: ttl(acquire.ttl_ms)?,
        wait: acquire.wait_ms.map(ttl).transpose()?,
        if_member: speaker_from_pb(acquire.if_member)?,
    }))
}

pub(super) fn renew_to_pb(renew: &RenewLease) -> pb::RenewLease {
    pb::RenewLease {
        key: renew.key.to_string(),
        token: renew.token.get(),
    }
}

pub(super) fn renew_from_pb(renew: &pb::RenewLease) -> Result<Command> {
    Ok(Command::RenewLease(RenewLease {
        key: key(&renew.key)?,
        token: token(renew.token),
    }))
}

pub(super) fn release_to_pb(release: &ReleaseLease) -> pb::ReleaseLease {
    pb::ReleaseLease {
        key: release.key.to_string(),
        holder: release.holder.to_string(),
        token: release.token.map(FencingToken::get),
    }
}

pub(super) fn release_from_pb(release: &pb::ReleaseLease) -> Result<Command> {
    Ok(Command::ReleaseLease(ReleaseLease {
        key: key(&release.key)?,
        holder: holder(&release.holder)?,
        token: release.token.map(token),
    }))
}

pub(super) fn put_candidate_to_pb(put: &PutLeaseCandidate) -> pb::PutLeaseCandidate {
    pb::PutLeaseCandidate {
        key: put.key.to_string(),
        identity: put.identity.to_string(),
        binary_version: put.binary_version.to_string(),
        emulation_version: put.emulation_version.as_ref().map(ToString::to_string),
        strategy: put.strategy.to_string(),
        ttl_ms: put.ttl.as_millis(),
    }
}

pub(super) fn put_candidate_from_pb(put: &pb::PutLeaseCandidate) -> Result<Command> {
    Ok(Command::PutLeaseCandidate(PutLeaseCandidate {
        key: key(&put.key)?,
        identity: holder(&put.identity)?,
        binary_version: semantic_version(&put.binary_version)?,
        emulation_version: emulation_version(put.emulation_version.as_deref())?,
        strategy: strategy(&put.strategy)?,
        ttl: ttl(put.ttl_ms)?,
    }))
}

pub(super) fn renew_candidate_to_pb(renew: &RenewLeaseCandidate) -> pb::RenewLeaseCandidate {
    pb::RenewLeaseCandidate {
        candidate: Some(contender_to_pb(&renew.key, &renew.identity)),
    }
}

pub(super) fn renew_candidate_from_pb(renew: pb::RenewLeaseCandidate) -> Result<Command> {
    let (key, identity) = contender_from_pb(renew.candidate)?;
    Ok(Command::RenewLeaseCandidate(RenewLeaseCandidate {
        key,
        identity,
    }))
}

pub(super) fn withdraw_candidate_to_pb(
    withdraw: &WithdrawLeaseCandidate,
) -> pb::WithdrawLeaseCandidate {
    pb::WithdrawLeaseCandidate {
        candidate: Some(contender_to_pb(&withdraw.key, &withdraw.identity)),
    }
}

pub(super) fn withdraw_candidate_from_pb(withdraw: pb::WithdrawLeaseCandidate) -> Result<Command> {
    let (key, identity) = contender_from_pb(withdraw.candidate)?;
    Ok(Command::WithdrawLeaseCandidate(WithdrawLeaseCandidate {
        key,
        identity,
    }))
}

pub(super) fn seen_to_pb((key, revision): &(LeaseKey, Revision)) -> pb::SeenLease {
    pb::SeenLease {
        key: key.to_string(),
        resource_version: revision.get(),
    }
}

pub(super) fn seen_from_pb(seen: &pb::SeenLease) -> Result<(LeaseKey, Revision)> {
    Ok((key(&seen.key)?, Revision::new(seen.resource_version)))
}

pub(super) fn place_to_pb(key: &LeaseKey, ticket: Ticket) -> pb::LeasePlace {
    pb::LeasePlace {
        key: key.to_string(),
        ticket: ticket.get(),
    }
}

pub(super) fn place_from_pb(place: &pb::LeasePlace) -> Result<(LeaseKey, Ticket)> {
    Ok((key(&place.key)?, ticket(place.ticket)))
}

pub(super) fn contender_to_pb(key: &LeaseKey, identity: &HolderIdentity) -> pb::LeaseContender {
    pb::LeaseContender {
        key: key.to_string(),
        identity: identity.to_string(),
    }
}

pub(super) fn contender_from_pb(
    contender: Option<pb::LeaseContender>,
) -> Result<(LeaseKey, HolderIdentity)> {
    let contender = required("candidate", contender)?;
    Ok((key(&contender.key)?, holder(&contender.identity)?))
}

pub(super) fn lease_to_pb(lease: &Lease) -> pb::Lease {
    pb::Lease {
        key: lease.key.to_string(),
        hold: lease.hold.as_ref().map(|hold| pb::LeaseHold {
            holder: hold.holder.to_string(),
            token: hold.token.get(),
            ticket: hold.ticket.map(Ticket::get),
            ttl_ms: hold.ttl.as_millis(),
            member: speaker_to_pb(&hold.member),
            acquired_ms: hold.acquired.as_millis(),
        }),
        transitions: lease.transitions,
        preferred: lease.preferred.as_ref().map(ToString::to_string),
        metadata: Some(metadata_to_pb(&lease.metadata)),
    }
}

pub(super) fn lease_from_pb(lease: pb::Lease) -> Result<Arc<Lease>> {
    Ok(Arc::new(Lease {
        key: key(&lease.key)?,
        hold: lease.hold.map(hold_from_pb).transpose()?,
        transitions: lease.transitions,
        preferred: lease.preferred.as_deref().map(holder).transpose()?,
        metadata: metadata_from_pb(lease.metadata)?,
    }))
}

fn hold_from_pb(hold: pb::LeaseHold) -> Result<Hold> {
    Ok(Hold {
        holder: holder(&hold.holder)?,
        token: token(hold.token),
        ticket: hold.ticket.map(ticket),
        ttl: ttl(hold.ttl_ms)?,
        member: speaker_from_pb(hold.member)?,
        acquired: WallTime::from_millis(hold.acquired_ms),
    })
}

pub(super) fn waiter_to_pb(key: &LeaseKey, ticket: Ticket, waiter: &Waiter) -> pb::LeaseWaiter {
    pb::LeaseWaiter {
        place: Some(place_to_pb(key, ticket)),
        holder: waiter.holder.to_string(),
        ttl_ms: waiter.ttl.as_millis(),
        wait_ms: waiter.wait.as_millis(),
        member: speaker_to_pb(&waiter.member),
    }
}

pub(super) fn waiter_from_pb(waiter: pb::LeaseWaiter) -> Result<Row> {
    let (key, ticket) = place_from_pb(&required("place", waiter.place)?)?;
    let waiter = Waiter {
        holder: holder(&waiter.holder)?,
        ttl: ttl(waiter.ttl_ms)?,
        wait: ttl(waiter.wait_ms)?,
        member: speaker_from_pb(waiter.member)?,
    };
    Ok(Row::LeaseWaiter(key, ticket, Arc::new(waiter)))
}

pub(super) fn candidate_to_pb(candidate: &LeaseCandidate) -> pb::LeaseCandidate {
    pb::LeaseCandidate {
        candidate: Some(contender_to_pb(&candidate.lease, &candidate.identity)),
        binary_version: candidate.binary_version.to_string(),
        emulation_version: candidate
            .emulation_version
            .as_ref()
            .map(ToString::to_string),
        strategy: candidate.strategy.to_string(),
        ttl_ms: candidate.ttl.as_millis(),
        metadata: Some(metadata_to_pb(&candidate.metadata)),
    }
}

pub(super) fn candidate_from_pb(candidate: pb::LeaseCandidate) -> Result<Arc<LeaseCandidate>> {
    let (lease, identity) = contender_from_pb(candidate.candidate)?;
    Ok(Arc::new(LeaseCandidate {
        lease,
        identity,
        binary_version: semantic_version(&candidate.binary_version)?,
        emulation_version: emulation_version(candidate.emulation_version.as_deref())?,
        strategy: strategy(&candidate.strategy)?,
        ttl: ttl(candidate.ttl_ms)?,
        metadata: metadata_from_pb(candidate.metadata)?,
    }))
}

pub(super) fn lease_change_to_pb(
    key: &LeaseKey,
    before: Option<&Lease>,
    after: Option<&Lease>,
) -> pb::LeaseChange {
    pb::LeaseChange {
        key: key.to_string(),
        before: before.map(lease_to_pb),
        after: after.map(lease_to_pb),
    }
}

pub(super) fn lease_change_from_pb(change: pb::LeaseChange) -> Result<Change> {
    Ok(Change::Lease {
        key: key(&change.key)?,
        before: change.before.map(lease_from_pb).transpose()?,
        after: change.after.map(lease_from_pb).transpose()?,
    })
}

pub(super) fn candidate_change_to_pb(
    lease: &LeaseKey,
    identity: &HolderIdentity,
    before: Option<&LeaseCandidate>,
    after: Option<&LeaseCandidate>,
) -> pb::LeaseCandidateChange {
    pb::LeaseCandidateChange {
        candidate: Some(contender_to_pb(lease, identity)),
        before: before.map(candidate_to_pb),
        after: after.map(candidate_to_pb),
    }
}

pub(super) fn candidate_change_from_pb(change: pb::LeaseCandidateChange) -> Result<Change> {
    let (lease, identity) = contender_from_pb(change.candidate)?;
    Ok(Change::LeaseCandidate {
        lease,
        identity,
        before: change.before.map(candidate_from_pb).transpose()?,
        after: change.after.map(candidate_from_pb).transpose()?,
    })
}

pub(super) fn lease_holder(text: &str) -> Result<Holder> {
    Ok(Holder::Lease(key(text)?))
}

pub(super) fn token(number: u64) -> FencingToken {
    FencingToken::new(Revision::new(number))
}

pub(super) fn ticket(number: u64) -> Ticket {
    Ticket::new(Revision::new(number))
}

fn key(text: &str) -> Result<LeaseKey> {
    parsed("key", LeaseKey::parse(text))
}

fn holder(text: &str) -> Result<HolderIdentity> {
    parsed("holder", HolderIdentity::parse(text))
}

fn semantic_version(text: &str) -> Result<SemanticVersion> {
    parsed("version", SemanticVersion::parse(text))
}

fn emulation_version(text: Option<&str>) -> Result<Option<SemanticVersion>> {
    text.map(semantic_version).transpose()
}

fn strategy(text: &str) -> Result<Strategy> {
    parsed("strategy", Strategy::parse(text))
}

/// A lease and the token that it is to be held by.
pub(super) fn lease_token_to_pb((lease, token): &(LeaseKey, FencingToken)) -> pb::LeaseToken {
    pb::LeaseToken {
        key: lease.to_string(),
        token: token.get(),
    }
}

pub(super) fn lease_token_from_pb(named: &pb::LeaseToken) -> Result<(LeaseKey, FencingToken)> {
    Ok((key(&named.key)?, token(named.token)))
}

fn speaker_to_pb(speaker: &Speaker) -> Option<pb::MemberEpoch> {
    speaker.as_ref().map(|(member, epoch)| pb::MemberEpoch {
        member: member.to_string(),
        epoch: epoch.get(),
    })
}

fn speaker_from_pb(speaker: Option<pb::MemberEpoch>) -> Result<Speaker> {
    let speaker =
        speaker.map(|speaker| Ok((member_id("member", &speaker.member)?, epoch(speaker.epoch))));
    speaker.transpose()
}
