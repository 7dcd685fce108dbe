//! What is named when deadlines have passed.

use std::collections::BTreeSet;

use synod_machine::Expire;
use synod_model::{Epoch, MemberId};
use synod_proto::storage::v1 as pb;

use super::super::controller_revisions::{renewed_from_pb, renewed_to_pb};
use super::super::leases::{
    contender_from_pb, contender_to_pb, place_from_pb, place_to_pb, seen_from_pb, seen_to_pb,
};
use super::super::migrations;
use super::super::objects::{key_from_pb, key_to_pb};
use super::super::values::{resource_from_pb, resource_to_pb, session_id};
use super::{Result, who, who_from_pb};

pub(super) fn to_pb(expire: &Expire) -> pb::Expire {
    let epochs = |members: &BTreeSet<(MemberId, Epoch)>| {
        members
            .iter()
            .filter_map(|(member, epoch)| who(member, *epoch))
            .collect()
    };
    pb::Expire {
        members: epochs(&expire.members),
        sessions: expire
            .sessions
            .iter()
            .map(|session| session.get())
            .collect(),
        unreported: epochs(&expire.unreported),
        leases: expire.leases.iter().map(seen_to_pb).collect(),
        lease_waiters: expire
            .lease_waiters
            .iter()
            .map(|(key, ticket)| place_to_pb(key, *ticket))
            .collect(),
        lease_candidates: expire
            .lease_candidates
            .iter()
            .map(|(key, identity)| contender_to_pb(key, identity))
            .collect(),
        objects: expire.objects.iter().map(key_to_pb).collect(),
        claims: migrations::claims_to_pb(&expire.claims),
        retries: expire.retries.iter().map(migrations::id_to_pb).collect(),
        observations: expire.observations.iter().map(resource_to_pb).collect(),
        marks: expire
            .marks
            .iter()
            .map(|(key, mark)| renewed_to_pb(key, mark))
            .collect(),
    }
}

pub(super) fn from_pb(expire: pb::Expire) -> Result<Expire> {
    let epochs = |members: Vec<pb::MemberEpoch>| {
        members
            .into_iter()
            .map(|who| who_from_pb(Some(who)))
            .collect()
    };
    let members: Result<_> = epochs(expire.members);
    let unreported: Result<_> = epochs(expire.unreported);
    let sessions = expire.sessions.into_iter().map(session_id).collect();
    let keys = expire.objects.into_iter();
    let objects: Result<_> = keys.map(|key| key_from_pb(Some(key))).collect();
    Ok(Expire {
        members: members?,
        sessions,
        unreported: unreported?,
        leases: expire
            .leases
            .iter()
            .map(seen_from_pb)
            .collect::<Result<_>>()?,
        lease_waiters: expire
            .lease_waiters
            .iter()
            .map(place_from_pb)
            .collect::<Result<_>>()?,
        lease_candidates: expire
            .lease_candidates
            .into_iter()
            .map(|candidate| contender_from_pb(Some(candidate)))
            .collect::<Result<_>>()?,
        objects: objects?,
        claims: migrations::claims_from_pb(expire.claims)?,
        retries: expire
            .retries
            .into_iter()
            .map(|id| migrations::id_from_pb(Some(id)))
            .collect::<Result<_>>()?,
        observations: expire
            .observations
            .into_iter()
            .map(|resource| resource_from_pb(Some(resource)))
            .collect::<Result<_>>()?,
        marks: expire
            .marks
            .into_iter()
            .map(renewed_from_pb)
            .collect::<Result<_>>()?,
    })
}
