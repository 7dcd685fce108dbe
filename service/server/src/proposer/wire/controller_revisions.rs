//! What is answered about the histories of controllers.

use synod_machine::{HistoryAnswer, RevisionAnswer, RevisionOutcome};
use synod_model::{ObjectName, RevisionNumber};
use synod_proto::peer::v1 as pb;

use super::{Malformed, malformed, missing};

pub(super) fn answer_to_wire(answer: &RevisionAnswer) -> pb::RevisionAnswer {
    let outcome = match answer.outcome {
        RevisionOutcome::Unchanged => pb::RevisionOutcome::Unchanged,
        RevisionOutcome::RolledBack => pb::RevisionOutcome::RolledBack,
        RevisionOutcome::Created => pb::RevisionOutcome::Created,
    };
    pb::RevisionAnswer {
        name: answer.name.to_string(),
        number: answer.number.get(),
        outcome: outcome.into(),
        collision_count: answer.collision_count,
        history: Some(history_to_wire(&answer.history)),
    }
}

pub(super) fn answer_from_wire(answer: &pb::RevisionAnswer) -> Result<RevisionAnswer, Malformed> {
    let outcome = match answer.outcome() {
        pb::RevisionOutcome::Unchanged => RevisionOutcome::Unchanged,
        pb::RevisionOutcome::RolledBack => RevisionOutcome::RolledBack,
        pb::RevisionOutcome::Created => RevisionOutcome::Created,
        pb::RevisionOutcome::Unspecified => return Err(missing("outcome")),
    };
    Ok(RevisionAnswer {
        name: ObjectName::parse(&answer.name).map_err(malformed)?,
        number: RevisionNumber::new(answer.number).map_err(malformed)?,
        outcome,
        collision_count: answer.collision_count,
        history: history_from_wire(answer.history.ok_or_else(|| missing("history"))?),
    })
}

pub(super) fn history_to_wire(answer: &HistoryAnswer) -> pb::HistoryAnswer {
    let HistoryAnswer {
        adopted,
        deleted,
        left,
    } = *answer;
    pb::HistoryAnswer {
        adopted,
        deleted,
        left,
    }
}

pub(super) fn history_from_wire(answer: pb::HistoryAnswer) -> HistoryAnswer {
    let pb::HistoryAnswer {
        adopted,
        deleted,
        left,
    } = answer;
    HistoryAnswer {
        adopted,
        deleted,
        left,
    }
}
