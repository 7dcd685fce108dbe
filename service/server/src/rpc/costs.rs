//! What it costs to encode answers, and to frame the messages of a watch; see [`crate::costs`].

use synod_machine::{Answer, Outcome};
use synod_proto::v1;

use super::calls::Encoded;
use super::watch::pieces;
use crate::costs::Count;
use crate::objects;
use crate::watch::WatchMessage;

/// Makes and encodes the answers to commands that were carried out, as the handlers do.
pub(crate) fn answer(count: &mut Count<'_>, kind: &str, outcomes: &[Outcome]) {
    let mut encoded = Vec::with_capacity(outcomes.len());
    count(&format!("answer {kind}"), outcomes.len(), &mut || {
        encoded.extend(outcomes.iter().map(of));
    });
}

/// Makes the frames of a watch's messages.
pub(crate) fn send(count: &mut Count<'_>, kind: &str, messages: &[WatchMessage]) {
    if messages.is_empty() {
        return;
    }
    let name = format!("frame events of {kind}");
    let mut frames = Vec::with_capacity(messages.len());
    count(&name, messages.len(), &mut || {
        frames.extend(messages.iter().map(|message| pieces(message, None)));
    });
}

fn of(outcome: &Outcome) -> Encoded {
    let header = Some(v1::ResponseHeader {
        cluster_id: "07070707-0707-0707-0707-070707070707".to_owned(),
        replica_id: 1,
        revision: outcome.revision.get(),
        raft_term: 1,
        age_ms: None,
    });
    match &outcome.result {
        Ok(Answer::Wrote(written)) => {
            let result = objects::written(written);
            Encoded::of(&v1::ObjectsUpdateResponse {
                header,
                changed: result.changed,
                created: result.created,
                deleted: result.deleted,
                uid: result.uid,
                resource_version: result.resource_version,
                object: None,
            })
        }
        Ok(Answer::Reported(told)) => Encoded::of(&v1::StorageVersionsReportResponse {
            header,
            changed: outcome.changed,
            resources: told.iter().map(objects::told).collect(),
        }),
        Ok(Answer::Joined { epoch, ttl }) => Encoded::of(&v1::MembershipJoinResponse {
            header,
            epoch: epoch.get(),
            ttl_ms: ttl.as_millis(),
            changed: outcome.changed,
            write_grace_ms: 0,
        }),
        Ok(Answer::LeaseHeld { token, ttl }) => {
            use v1::leases_acquire_response::Result as Answered;
            Encoded::of(&v1::LeasesAcquireResponse {
                header,
                result: Some(Answered::Held(v1::LeaseHeld {
                    token: token.get(),
                    ttl_ms: ttl.as_millis(),
                })),
            })
        }
        // That of a lease's renewal has the same fields.
        Ok(Answer::Done) => {
            use v1::membership_renew_response::Result as Answered;
            Encoded::of(&v1::MembershipRenewResponse {
                header,
                correlation: 1,
                result: Some(Answered::Renewed(v1::Renewed { ttl_ms: 1 })),
            })
        }
        other => panic!("a new answer needs its message here: {other:?}"),
    }
}
