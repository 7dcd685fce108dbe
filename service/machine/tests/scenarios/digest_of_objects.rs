//! Every field of collections, objects and the work that deletions have left is part of the digest.

use std::sync::Arc;

use bytes::Bytes;
use synod_machine::{Answer, Cursor, Fate, Garbage, OutcomeRow, Row, Written, WrittenHow};
use synod_model::{
    Annotations, ApiVersion, Collection, Deletion, Finalizers, Kind, Labels, MediaType, Object,
    OwnerReference, OwnerReferences, Uid, WallTime,
};

use crate::digest::{Changes, OTHER, every_field_counts, metadata};
use crate::entry::{resource, version};
use crate::shelf::widget;

#[test]
fn of_collections() {
    let changes: Changes<Collection> = vec![
        |it| it.resource = resource("batch.jobs"),
        |it| it.kind = Kind::parse("Other").expect("legal"),
        |it| it.namespaced = !it.namespaced,
        |it| it.rules.strict_storage_version = !it.rules.strict_storage_version,
        |it| it.rules.create_on_update = !it.rules.create_on_update,
        |it| it.rules.unconditional_update = !it.rules.unconditional_update,
        |it| it.rules.status_subresource = !it.rules.status_subresource,
    ];
    // An empty collection: objects without a collection would be another fault.
    let found = |row: &Row| match row {
        Row::Collection(row) if row.kind.as_str() == "Gadget" => Some((**row).clone()),
        _ => None,
    };
    let with = |_: &Row, row| Row::Collection(Arc::new(row));
    every_field_counts(found, with, &changes);
    let metadata_of = |row: &Row| found(row).map(|row| row.metadata);
    let with = |row: &Row, metadata| match row {
        Row::Collection(row) => Row::Collection(Arc::new(Collection {
            metadata,
            ..(**row).clone()
        })),
        other => other.clone(),
    };
    every_field_counts(metadata_of, with, &metadata());
}

#[test]
fn of_objects() {
    let changes: Changes<Object> = vec![
        |it| it.key = widget("nowhere/nothing"),
        |it| it.attributes.labels = Labels::parse([("a", "b")]).expect("legal"),
        |it| it.attributes.annotations = Annotations::parse([("a", "b")]).expect("legal"),
        |it| it.attributes.finalizers = Finalizers::parse(["a"]).expect("legal"),
        |it| it.attributes.owners = OwnerReferences::default(),
        |it| it.deletion = None,
        |it| mark(it, |mark| mark.at = WallTime::from_millis(1)),
        |it| mark(it, |mark| mark.revision = OTHER),
        |it| mark(it, |mark| mark.position += 1),
        |it| it.content.encoding = version("v9"),
        |it| it.content.media_type = MediaType::parse("text/plain").expect("legal"),
        |it| it.content.data = Bytes::from_static(b"other"),
        |it| it.content_revision = OTHER,
        |it| {
            owner(it, |owner| {
                owner.api_version = ApiVersion::parse("v9").expect("legal")
            })
        },
        |it| {
            owner(it, |owner| {
                owner.kind = Kind::parse("Other").expect("legal")
            })
        },
        |it| owner(it, |owner| owner.name = "other".parse().expect("legal")),
        |it| owner(it, |owner| owner.uid = Uid::from_bytes([1; 16])),
        |it| owner(it, |owner| owner.controller = !owner.controller),
        |it| {
            owner(it, |owner| {
                owner.block_owner_deletion = !owner.block_owner_deletion
            })
        },
    ];
    // The first, the last and the marked objects stand for all.
    let found = |row: &Row| match row {
        Row::Object(object)
            if object.deletion().is_some() || object.key().name.name() == "dependent-99" =>
        {
            Some(object.unpack())
        }
        _ => None,
    };
    let with = |_: &Row, object: Object| Row::Object(object.into());
    every_field_counts(found, with, &changes);
    let metadata_of = |row: &Row| found(row).map(|object| object.metadata);
    let with = |row: &Row, metadata| match row {
        Row::Object(object) => {
            let object = Object {
                metadata,
                ..object.unpack()
            };
            Row::Object(object.into())
        }
        other => other.clone(),
    };
    every_field_counts(metadata_of, with, &metadata());
}

fn mark(object: &mut Object, change: fn(&mut Deletion)) {
    if let Some(kept) = &object.deletion {
        let mut deletion = **kept;
        change(&mut deletion);
        object.deletion = Some(Arc::new(deletion));
    }
}

fn owner(object: &mut Object, change: fn(&mut OwnerReference)) {
    let mut owners: Vec<OwnerReference> = object.attributes.owners.iter().cloned().collect();
    owners.iter_mut().for_each(change);
    object.attributes.owners = OwnerReferences::new(owners).expect("one owner");
}

#[test]
fn of_garbage() {
    let changes: Changes<(Uid, Garbage)> = vec![
        |it| it.0 = Uid::from_bytes([1; 16]),
        |it| it.1.owner = widget("nowhere/nothing"),
        |it| it.1.fate = Fate::Background,
        |it| it.1.fate = Fate::Orphan,
        |it| it.1.cursor = Cursor::Start,
        |it| it.1.cursor = Cursor::After(widget("nowhere/nothing")),
        |it| it.1.cursor = Cursor::End,
    ];
    let found = |row: &Row| match row {
        Row::Garbage(uid, garbage) => Some((*uid, (**garbage).clone())),
        _ => None,
    };
    let with = |_: &Row, (uid, garbage)| Row::Garbage(uid, Arc::new(garbage));
    every_field_counts(found, with, &changes);
}

#[test]
fn of_what_was_written() {
    let changes: Changes<OutcomeRow> = vec![
        |it| each_written(it, |written| written.how = WrittenHow::Deleted),
        |it| each_written(it, |written| written.uid = Uid::from_bytes([1; 16])),
        |it| each_written(it, |written| written.resource_version = OTHER),
        |it| {
            if let Ok(Answer::Transacted { succeeded, .. }) = &mut it.result {
                *succeeded = !*succeeded;
            }
        },
        |it| {
            if let Ok(Answer::Transacted { written, .. }) = &mut it.result {
                written.clear();
            }
        },
        |it| {
            if let Ok(Answer::Collected { steps }) = &mut it.result {
                *steps += 1;
            }
        },
    ];
    let found = |row: &Row| match row {
        Row::Outcome(_, _, row) => Some((**row).clone()),
        _ => None,
    };
    let with = |row: &Row, outcome| match row {
        Row::Outcome(id, sequence, _) => Row::Outcome(*id, *sequence, Arc::new(outcome)),
        other => other.clone(),
    };
    every_field_counts(found, with, &changes);
}

fn each_written(outcome: &mut OutcomeRow, change: fn(&mut Written)) {
    match &mut outcome.result {
        Ok(Answer::Wrote(written)) => change(written),
        Ok(Answer::Transacted { written, .. }) => written.iter_mut().for_each(change),
        _ => {}
    }
}
