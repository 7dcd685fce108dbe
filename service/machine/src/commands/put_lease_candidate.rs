//! `PutLeaseCandidate`: registers a candidate for a lease. It gets a free lease at once if the strategy elects it.

use synod_model::{Metadata, PutLeaseCandidate, Refusal};

use super::succession::{Present, settle};
use crate::turn::Turn;
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, put: &PutLeaseCandidate) -> Result<Answer, Refusal> {
    let present = turn
        .state()
        .leases
        .candidate(&put.key, &put.identity)
        .cloned();
    match present {
        Some(present) => {
            let same = present.binary_version.as_str() == put.binary_version.as_str()
                && present
                    .emulation_version
                    .as_ref()
                    .map(|version| version.as_str())
                    == put
                        .emulation_version
                        .as_ref()
                        .map(|version| version.as_str())
                && (&present.strategy, present.ttl) == (&put.strategy, put.ttl);
            if !same {
                let metadata = Metadata {
                    resource_version: turn.revision(),
                    generation: present.metadata.generation + 1,
                    ..present.metadata.clone()
                };
                turn.put_candidate(put, metadata);
            }
        }
        None => {
            let standing = turn.state().leases.standing(&put.key);
            turn.state().check_contenders(&put.key, standing)?;
            let metadata = turn.new_metadata();
            turn.put_candidate(put, metadata);
        }
    }
    let holder = Holder::LeaseCandidate(put.key.clone(), put.identity.clone());
    turn.extend_deadline(holder, put.ttl.duration());
    settle(turn, &put.key, Present::Stays);
    Ok(Answer::Done)
}
