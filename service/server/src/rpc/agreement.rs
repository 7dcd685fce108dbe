//! The call `CheckAgreement`: converts the machine's verdict to a message of a bounded size.

use std::collections::BTreeMap;

use synod_machine::{
    AgreementQuery, AgreementVerdict, Obstacle, ResourceAgreement, check_agreement as verdict_on,
};
use synod_model::{ApiVersion, MemberId, Refusal};
use synod_proto::limits::{AGREEMENTS_MAX, OBSTACLE_MEMBERS_MAX};
use synod_proto::{CheckAgreement, v1};

use super::safety::assumptions;
use super::typed;
use crate::handle::{Asking, Handle};

pub(super) async fn check_agreement(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsCheckAgreementRequest,
) -> Result<v1::StorageVersionsCheckAgreementResponse, Refusal> {
    let CheckAgreement {
        resources,
        allow_none,
        read,
    } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let now = reading.published().state.log_time();
    let query = AgreementQuery {
        resources,
        allow_none,
    };
    let verdict = verdict_on(&reading.past()?, now, &query);
    Ok(v1::StorageVersionsCheckAgreementResponse {
        header: Some(handle.header_of(&reading)),
        ..answer(&verdict)
    })
}

fn answer(verdict: &AgreementVerdict) -> v1::StorageVersionsCheckAgreementResponse {
    let (mut shown, agreed): (Vec<_>, Vec<_>) = verdict
        .resources
        .iter()
        .partition(|agreement| !agreement.is_agreed());
    shown.extend(agreed);
    let omitted = beyond(shown.len()) + beyond(verdict.obstacles.len());
    let obstacles = verdict.obstacles.iter().take(AGREEMENTS_MAX);
    let left_over = verdict.left_over.iter().take(AGREEMENTS_MAX);
    v1::StorageVersionsCheckAgreementResponse {
        header: None,
        agreed: verdict.is_agreed(),
        obstacles: obstacles.map(obstacle).collect(),
        resources: shown
            .into_iter()
            .take(AGREEMENTS_MAX)
            .map(agreement)
            .collect(),
        omitted: number(omitted),
        left_over: left_over.map(Into::into).collect(),
        left_over_omitted: number(beyond(verdict.left_over.len())),
        assumptions: assumptions(&verdict.assumptions, &BTreeMap::new(), verdict.is_observed),
    }
}

fn beyond(len: usize) -> usize {
    len.saturating_sub(AGREEMENTS_MAX)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn agreement(agreement: &ResourceAgreement) -> v1::ResourceAgreement {
    v1::ResourceAgreement {
        resource: Some((&agreement.resource).into()),
        agreed: agreement.is_agreed(),
        agreed_version: agreement.version.as_ref().map(ToString::to_string),
        agreed_hash: agreement.hash.as_ref().map(ToString::to_string),
        obstacles: agreement.obstacles.iter().map(obstacle).collect(),
    }
}

pub(super) fn obstacle(obstacle: &Obstacle) -> v1::Obstacle {
    let mut pb = v1::Obstacle {
        reason: reason(obstacle).into(),
        message: obstacle.to_string(),
        ..v1::Obstacle::default()
    };
    match obstacle {
        Obstacle::NothingKnown | Obstacle::Unreported | Obstacle::ObservationExpired => {}
        Obstacle::MemberSilent { members } => name_members(&mut pb, members),
        Obstacle::ScopeUnknown { scope } => pb.scope = scope.to_string(),
        Obstacle::Unknown { nearest } => pb.nearest = nearest.as_ref().map(Into::into),
        Obstacle::NothingSelected { votes: groups }
        | Obstacle::EncodingsDiffer { encodings: groups } => name_groups(&mut pb, groups),
        Obstacle::FixedElsewhere { selected, members } => {
            pb.selected_version = selected.to_string();
            name_members(&mut pb, members);
        }
        Obstacle::NotAdopted {
            selected,
            revision,
            members,
        } => {
            pb.selected_version = selected.to_string();
            pb.selected_revision = revision.get();
            name_members(&mut pb, members);
        }
        Obstacle::Absent { absent } => pb.absent = Some(absent.into()),
        Obstacle::Contradicted { hashes, expired } => {
            let hashes = hashes.iter().take(OBSTACLE_MEMBERS_MAX);
            pb.hashes = hashes.map(ToString::to_string).collect();
            pb.expired = *expired;
        }
        Obstacle::ObservationsDiffer { hashes } => {
            let hashes = hashes.iter().take(OBSTACLE_MEMBERS_MAX);
            pb.hashes = hashes.map(ToString::to_string).collect();
        }
    }
    pb
}

fn name_members(pb: &mut v1::Obstacle, members: &[MemberId]) {
    let named = members.iter().take(OBSTACLE_MEMBERS_MAX);
    let named: Vec<String> = named.map(ToString::to_string).collect();
    pb.omitted = number(members.len() - named.len());
    pb.groups = vec![v1::ObstacleGroup {
        version: String::new(),
        members: named,
    }];
}

fn name_groups(pb: &mut v1::Obstacle, groups: &BTreeMap<ApiVersion, Vec<MemberId>>) {
    let mut room = OBSTACLE_MEMBERS_MAX;
    for (version, members) in groups {
        let named = members.iter().take(room);
        let named: Vec<String> = named.map(ToString::to_string).collect();
        room -= named.len();
        pb.omitted += number(members.len() - named.len());
        if !named.is_empty() {
            pb.groups.push(v1::ObstacleGroup {
                version: version.to_string(),
                members: named,
            });
        }
    }
}

fn reason(obstacle: &Obstacle) -> v1::ObstacleReason {
    use v1::ObstacleReason as Reason;
    match obstacle {
        Obstacle::NothingKnown => Reason::NothingKnown,
        Obstacle::MemberSilent { .. } => Reason::MemberSilent,
        Obstacle::ScopeUnknown { .. } => Reason::ScopeUnknown,
        Obstacle::Unknown { .. } => Reason::Unknown,
        Obstacle::Unreported => Reason::Unreported,
        Obstacle::NothingSelected { .. } => Reason::NothingSelected,
        Obstacle::EncodingsDiffer { .. } => Reason::EncodingsDiffer,
        Obstacle::FixedElsewhere { .. } => Reason::FixedElsewhere,
        Obstacle::NotAdopted { .. } => Reason::NotAdopted,
        Obstacle::Absent { .. } => Reason::Absent,
        Obstacle::Contradicted { .. } => Reason::Contradicted,
        Obstacle::ObservationExpired => Reason::ObservationExpired,
        Obstacle::ObservationsDiffer { .. } => Reason::ObservationsDiffer,
    }
}
