//! Commands on ControllerRevisions, and their rows.

mod marks;
mod values;

use std::sync::Arc;

use synod_machine::{Change, Command, HistoryAnswer, RevisionAnswer, RevisionOutcome};
use synod_model::{
    AdoptControllerRevisions, ControllerRevision, CreateControllerRevision,
    DeleteControllerRevisions, InUse, Mark, MarkControllerRevisions, NamePrefix, NamespacedName,
    ReleaseControllerRevision, Revision, RevisionNumber, RollbackControllerRevision,
    RollbackTarget, TruncateControllerRevisions, UpdateControllerRevision,
};
use synod_proto::storage::v1 as pb;

use super::CodecError;
use super::values::{
    labels_from_pb, labels_to_pb, metadata_from_pb, metadata_to_pb, parsed, required, uid,
};
use marks::{marks_from_pb, marks_to_pb, tie_from_pb, tie_to_pb};
pub(super) use marks::{renewed_from_pb, renewed_to_pb};
use values::{
    annotations_from_pb, annotations_to_pb, controller_from_pb, controller_to_pb, data_from_pb,
    data_to_pb, equality_from_pb, equality_to_pb, history_from_pb, history_to_pb, key_from_pb,
    key_to_pb, marker, name, namespace, number, optional_number, preconditions_from_pb,
    preconditions_to_pb,
};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn create_to_pb(create: &CreateControllerRevision) -> pb::envelope::Command {
    let CreateControllerRevision {
        history,
        data,
        equality,
        prefix,
        labels,
        annotations,
        number,
        collision_count,
        history_limit,
        if_newest,
        mark_update,
    } = create;
    pb::envelope::Command::CreateControllerRevision(pb::CreateControllerRevision {
        history: Some(history_to_pb(history)),
        data: Some(data_to_pb(data)),
        equality: equality_to_pb(*equality).into(),
        prefix: prefix.as_str().to_owned(),
        labels: labels_to_pb(labels),
        annotations: annotations_to_pb(annotations),
        number: number.map(RevisionNumber::get),
        collision_count: *collision_count,
        history_limit: *history_limit,
        if_newest: if_newest.map(Revision::get),
        mark_update: mark_update.as_ref().map(tie_to_pb),
    })
}

pub(super) fn create_from_pb(create: pb::CreateControllerRevision) -> Result<Command> {
    let equality = create.equality();
    let mark_update = create.mark_update.map(|tie| tie_from_pb(Some(tie)));
    Ok(Command::CreateControllerRevision(
        CreateControllerRevision {
            history: history_from_pb(create.history)?,
            data: data_from_pb(create.data)?,
            equality: equality_from_pb(equality)?,
            prefix: parsed("prefix", NamePrefix::parse(&create.prefix))?,
            labels: labels_from_pb(&create.labels)?,
            annotations: annotations_from_pb(&create.annotations)?,
            number: optional_number(create.number)?,
            collision_count: create.collision_count,
            history_limit: create.history_limit,
            if_newest: create.if_newest.map(Revision::new),
            mark_update: mark_update.transpose()?,
        },
    ))
}

pub(super) fn update_to_pb(update: &UpdateControllerRevision) -> pb::envelope::Command {
    let UpdateControllerRevision {
        key,
        preconditions,
        number,
        labels,
        annotations,
        data,
    } = update;
    let (namespace, name) = key_to_pb(key);
    pb::envelope::Command::UpdateControllerRevision(pb::UpdateControllerRevision {
        namespace,
        name,
        preconditions: Some(preconditions_to_pb(preconditions)),
        number: number.map(RevisionNumber::get),
        labels: labels.as_ref().map(|labels| pb::LabelList {
            items: labels_to_pb(labels),
        }),
        annotations: annotations.as_ref().map(|annotations| pb::LabelList {
            items: annotations_to_pb(annotations),
        }),
        data: data.as_ref().map(data_to_pb),
    })
}

pub(super) fn update_from_pb(update: pb::UpdateControllerRevision) -> Result<Command> {
    let labels = update.labels.map(|list| labels_from_pb(&list.items));
    let annotations = update
        .annotations
        .map(|list| annotations_from_pb(&list.items));
    let data = update.data.map(|data| data_from_pb(Some(data)));
    Ok(Command::UpdateControllerRevision(
        UpdateControllerRevision {
            key: key_from_pb(&update.namespace, &update.name)?,
            preconditions: preconditions_from_pb(update.preconditions)?,
            number: optional_number(update.number)?,
            labels: labels.transpose()?,
            annotations: annotations.transpose()?,
            data: data.transpose()?,
        },
    ))
}

pub(super) fn rollback_to_pb(rollback: &RollbackControllerRevision) -> pb::envelope::Command {
    use pb::rollback_controller_revision::To;
    let RollbackControllerRevision {
        history,
        to,
        if_newest,
    } = rollback;
    pb::envelope::Command::RollbackControllerRevision(pb::RollbackControllerRevision {
        history: Some(history_to_pb(history)),
        to: match to {
            RollbackTarget::Previous => None,
            RollbackTarget::Number(number) => Some(To::Number(number.get())),
            RollbackTarget::Name(name) => Some(To::Name(name.to_string())),
        },
        if_newest: if_newest.map(Revision::get),
    })
}

pub(super) fn rollback_from_pb(rollback: pb::RollbackControllerRevision) -> Result<Command> {
    use pb::rollback_controller_revision::To;
    let to = match rollback.to {
        None => RollbackTarget::Previous,
        Some(To::Number(to)) => RollbackTarget::Number(number(to)?),
        Some(To::Name(to)) => RollbackTarget::Name(name("to", &to)?),
    };
    Ok(Command::RollbackControllerRevision(
        RollbackControllerRevision {
            history: history_from_pb(rollback.history)?,
            to,
            if_newest: rollback.if_newest.map(Revision::new),
        },
    ))
}

pub(super) fn mark_to_pb(marking: &MarkControllerRevisions) -> pb::envelope::Command {
    let MarkControllerRevisions {
        history,
        current,
        update,
        in_use,
        tie,
    } = marking;
    let text = |mark: &Mark| match mark {
        Mark::Nowhere => String::new(),
        Mark::On(name) => name.to_string(),
    };
    pb::envelope::Command::MarkControllerRevisions(pb::MarkControllerRevisions {
        history: Some(history_to_pb(history)),
        current: current.as_ref().map(text),
        update: update.as_ref().map(text),
        in_use: in_use.as_ref().map(|in_use| pb::InUse {
            marker: in_use.marker.to_string(),
            names: in_use.names.iter().map(ToString::to_string).collect(),
        }),
        tie: Some(tie_to_pb(tie)),
    })
}

pub(super) fn mark_from_pb(marking: pb::MarkControllerRevisions) -> Result<Command> {
    let mark = |text: String| match text.as_str() {
        "" => Ok(Mark::Nowhere),
        text => Ok(Mark::On(name("mark", text)?)),
    };
    let in_use = marking.in_use.map(|in_use| {
        let names = in_use.names.iter().map(|used| name("in_use.names", used));
        Ok(InUse {
            marker: marker(&in_use.marker)?,
            names: names.collect::<Result<_>>()?,
        })
    });
    Ok(Command::MarkControllerRevisions(MarkControllerRevisions {
        history: history_from_pb(marking.history)?,
        current: marking.current.map(mark).transpose()?,
        update: marking.update.map(mark).transpose()?,
        in_use: in_use.transpose()?,
        tie: tie_from_pb(marking.tie)?,
    }))
}

pub(super) fn truncate_to_pb(truncate: &TruncateControllerRevisions) -> pb::envelope::Command {
    let TruncateControllerRevisions {
        history,
        limit,
        if_newest,
    } = truncate;
    pb::envelope::Command::TruncateControllerRevisions(pb::TruncateControllerRevisions {
        history: Some(history_to_pb(history)),
        limit: *limit,
        if_newest: if_newest.map(Revision::get),
    })
}

pub(super) fn truncate_from_pb(truncate: pb::TruncateControllerRevisions) -> Result<Command> {
    Ok(Command::TruncateControllerRevisions(
        TruncateControllerRevisions {
            history: history_from_pb(truncate.history)?,
            limit: truncate.limit,
            if_newest: truncate.if_newest.map(Revision::new),
        },
    ))
}

pub(super) fn delete_to_pb(delete: &DeleteControllerRevisions) -> pb::envelope::Command {
    use pb::delete_controller_revisions::Target;
    let (namespace, target) = match delete {
        DeleteControllerRevisions::One { key, preconditions } => {
            let (namespace, name) = key_to_pb(key);
            let preconditions = Some(preconditions_to_pb(preconditions));
            let one = pb::DeleteOneControllerRevision {
                name,
                preconditions,
            };
            (namespace, Target::One(one))
        }
        DeleteControllerRevisions::HistoryOf { namespace, owner } => {
            let owner = owner.as_bytes().to_vec().into();
            (namespace.to_string(), Target::Owner(owner))
        }
    };
    pb::envelope::Command::DeleteControllerRevisions(pb::DeleteControllerRevisions {
        namespace,
        target: Some(target),
    })
}

pub(super) fn delete_from_pb(delete: pb::DeleteControllerRevisions) -> Result<Command> {
    use pb::delete_controller_revisions::Target;
    let delete = match required("target", delete.target)? {
        Target::One(one) => DeleteControllerRevisions::One {
            key: key_from_pb(&delete.namespace, &one.name)?,
            preconditions: preconditions_from_pb(one.preconditions)?,
        },
        Target::Owner(owner) => DeleteControllerRevisions::HistoryOf {
            namespace: namespace(&delete.namespace)?,
            owner: uid("owner", &owner)?,
        },
    };
    Ok(Command::DeleteControllerRevisions(delete))
}

pub(super) fn adopt_to_pb(adopt: &AdoptControllerRevisions) -> pb::envelope::Command {
    let AdoptControllerRevisions { history, name } = adopt;
    pb::envelope::Command::AdoptControllerRevisions(pb::AdoptControllerRevisions {
        history: Some(history_to_pb(history)),
        name: name.as_ref().map(ToString::to_string),
    })
}

pub(super) fn adopt_from_pb(adopt: pb::AdoptControllerRevisions) -> Result<Command> {
    let named = adopt.name.map(|adopted| name("name", &adopted));
    Ok(Command::AdoptControllerRevisions(
        AdoptControllerRevisions {
            history: history_from_pb(adopt.history)?,
            name: named.transpose()?,
        },
    ))
}

pub(super) fn release_to_pb(release: &ReleaseControllerRevision) -> pb::envelope::Command {
    let ReleaseControllerRevision {
        key,
        owner,
        preconditions,
    } = release;
    let (namespace, name) = key_to_pb(key);
    pb::envelope::Command::ReleaseControllerRevision(pb::ReleaseControllerRevision {
        namespace,
        name,
        owner: owner.as_bytes().to_vec().into(),
        preconditions: Some(preconditions_to_pb(preconditions)),
    })
}

pub(super) fn release_from_pb(release: pb::ReleaseControllerRevision) -> Result<Command> {
    Ok(Command::ReleaseControllerRevision(
        ReleaseControllerRevision {
            key: key_from_pb(&release.namespace, &release.name)?,
            owner: uid("owner", &release.owner)?,
            preconditions: preconditions_from_pb(release.preconditions)?,
        },
    ))
}

pub(super) fn row_to_pb(row: &ControllerRevision) -> pb::ControllerRevisionRow {
    pb::ControllerRevisionRow {
        data: Some(data_to_pb(&row.data)),
        ..row_without_data(row)
    }
}

fn row_without_data(row: &ControllerRevision) -> pb::ControllerRevisionRow {
    let ControllerRevision {
        key,
        metadata,
        labels,
        annotations,
        controller,
        number,
        data: _,
        marks,
    } = row;
    let (namespace, name) = key_to_pb(key);
    pb::ControllerRevisionRow {
        namespace,
        name,
        metadata: Some(metadata_to_pb(metadata)),
        labels: labels_to_pb(labels),
        annotations: annotations_to_pb(annotations),
        controller: controller.as_ref().map(controller_to_pb),
        number: number.get(),
        data: None,
        marks: marks_to_pb(marks),
    }
}

pub(super) fn row_from_pb(row: pb::ControllerRevisionRow) -> Result<Arc<ControllerRevision>> {
    let controller = row.controller.map(|row| controller_from_pb(Some(row)));
    Ok(Arc::new(ControllerRevision {
        key: key_from_pb(&row.namespace, &row.name)?,
        metadata: metadata_from_pb(row.metadata)?,
        labels: labels_from_pb(&row.labels)?,
        annotations: annotations_from_pb(&row.annotations)?,
        controller: controller.transpose()?,
        number: number(row.number)?,
        data: data_from_pb(row.data)?,
        marks: marks_from_pb(row.marks)?,
    }))
}

/// A change holds the data once, since it is the same before and after; only its version may have become known.
pub(super) fn change_to_pb(
    key: &NamespacedName,
    before: Option<&ControllerRevision>,
    after: Option<&ControllerRevision>,
) -> pb::ControllerRevisionChange {
    let (namespace, name) = key_to_pb(key);
    pb::ControllerRevisionChange {
        namespace,
        name,
        before: before.map(|row| match after {
            Some(_) => row_without_data(row),
            None => row_to_pb(row),
        }),
        after: after.map(row_to_pb),
        version_was_unknown: before.zip(after).is_some_and(|(before, after)| {
            before.data.version().is_none() && after.data.version().is_some()
        }),
    }
}

pub(super) fn change_from_pb(change: pb::ControllerRevisionChange) -> Result<Change> {
    let after = change.after.map(row_from_pb).transpose()?;
    let before = change.before.map(|mut row| {
        if let (None, Some(after)) = (&row.data, &after) {
            let mut data = data_to_pb(&after.data);
            data.version = data.version.filter(|_| !change.version_was_unknown);
            row.data = Some(data);
        }
        row_from_pb(row)
    });
    Ok(Change::ControllerRevision {
        key: key_from_pb(&change.namespace, &change.name)?,
        before: before.transpose()?,
        after,
    })
}

pub(super) fn answer_to_pb(answer: &RevisionAnswer) -> pb::RevisionAnswer {
    let RevisionAnswer {
        name,
        number,
        outcome,
        collision_count,
        history,
    } = answer;
    let outcome = match outcome {
        RevisionOutcome::Unchanged => pb::RevisionOutcome::Unchanged,
        RevisionOutcome::RolledBack => pb::RevisionOutcome::RolledBack,
        RevisionOutcome::Created => pb::RevisionOutcome::Created,
    };
    pb::RevisionAnswer {
        name: name.to_string(),
        number: number.get(),
        outcome: outcome.into(),
        collision_count: *collision_count,
        history: Some(history_answer_to_pb(history)),
    }
}

pub(super) fn answer_from_pb(answer: pb::RevisionAnswer) -> Result<RevisionAnswer> {
    let outcome = match answer.outcome() {
        pb::RevisionOutcome::Unchanged => RevisionOutcome::Unchanged,
        pb::RevisionOutcome::RolledBack => RevisionOutcome::RolledBack,
        pb::RevisionOutcome::Created => RevisionOutcome::Created,
        pb::RevisionOutcome::Unspecified => {
            return Err(CodecError::new("outcome", "this build does not know it"));
        }
    };
    Ok(RevisionAnswer {
        name: name("name", &answer.name)?,
        number: number(answer.number)?,
        outcome,
        collision_count: answer.collision_count,
        history: history_answer_from_pb(required("history", answer.history)?),
    })
}

pub(super) fn history_answer_to_pb(answer: &HistoryAnswer) -> pb::HistoryAnswer {
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

pub(super) fn history_answer_from_pb(answer: pb::HistoryAnswer) -> HistoryAnswer {
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
