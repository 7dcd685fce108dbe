//! The canonical form of collections, objects and what deletions have left.

use synod_model::{
    Attributes, Collection, CollectionRules, Content, Deletion, GroupResource, NamespacedName,
    Object, ObjectKey, OwnerReference, Uid,
};

use super::fold::values::{fold_metadata, fold_resource};
use super::{RowHash, RowHasher};
use crate::{Cursor, Fate, Garbage, Written, WrittenHow};

pub(crate) fn collection_hash(row: &Collection) -> RowHash {
    let mut to = RowHasher::new(20);
    fold_collection(&mut to, row);
    to.finish()
}

pub(crate) fn object_hash(object: &Object) -> RowHash {
    let mut to = RowHasher::new(21);
    fold_object(&mut to, object);
    to.finish()
}

pub(crate) fn garbage_hash(uid: &Uid, garbage: &Garbage) -> RowHash {
    let Garbage {
        owner,
        fate,
        cursor,
    } = garbage;
    let mut to = RowHasher::new(22);
    to.raw(uid.as_bytes());
    fold_object_key(&mut to, owner);
    to.number(match fate {
        Fate::Background => 1,
        Fate::Foreground => 2,
        Fate::Orphan => 3,
    });
    match cursor {
        Cursor::Start => to.number(1),
        Cursor::After(key) => {
            to.number(2);
            fold_object_key(&mut to, key);
        }
        Cursor::End => to.number(3),
    }
    to.finish()
}

pub(super) fn fold_collection_change(
    to: &mut RowHasher,
    resource: &GroupResource,
    before: Option<&Collection>,
    after: Option<&Collection>,
) {
    fold_resource(to, resource);
    to.option(before, fold_collection);
    to.option(after, fold_collection);
}

pub(super) fn fold_object_change(
    to: &mut RowHasher,
    key: &ObjectKey,
    before: Option<&Object>,
    after: Option<&Object>,
) {
    fold_object_key(to, key);
    to.option(before, fold_object);
    to.option(after, fold_object);
}

fn fold_collection(to: &mut RowHasher, row: &Collection) {
    let Collection {
        resource,
        metadata,
        kind,
        namespaced,
        rules,
    } = row;
    let CollectionRules {
        strict_storage_version,
        create_on_update,
        unconditional_update,
    } = rules;
    fold_resource(to, resource);
    fold_metadata(to, metadata);
    to.text(kind.as_str());
    for flag in [
        namespaced,
        strict_storage_version,
        create_on_update,
        unconditional_update,
    ] {
        to.flag(*flag);
    }
}

fn fold_object(to: &mut RowHasher, object: &Object) {
    let Object {
        key,
        metadata,
        attributes,
        deletion,
        content,
        content_revision,
    } = object;
    let Content {
        encoding,
        media_type,
        data,
    } = content;
    fold_object_key(to, key);
    fold_metadata(to, metadata);
    fold_attributes(to, attributes);
    to.option(deletion.as_deref(), |to, deletion| {
        let Deletion {
            at,
            revision,
            position,
        } = deletion;
        to.number(at.as_millis());
        to.number(revision.get());
        to.number(u64::from(*position));
    });
    to.text(encoding.as_str());
    to.text(media_type.as_str());
    to.number(data.len() as u64);
    to.raw(data);
    to.number(content_revision.get());
}

fn fold_attributes(to: &mut RowHasher, attributes: &Attributes) {
    let Attributes {
        labels,
        annotations,
        owners,
        finalizers,
    } = attributes;
    fold_pairs(to, labels.iter());
    fold_pairs(to, annotations.iter());
    to.list(owners.iter(), |to, reference| {
        let OwnerReference {
            api_version,
            kind,
            name,
            uid,
            controller,
            block_owner_deletion,
        } = reference;
        to.text(api_version.as_str());
        to.text(kind.as_str());
        to.text(name.as_str());
        to.raw(uid.as_bytes());
        to.flag(*controller);
        to.flag(*block_owner_deletion);
    });
    to.list(finalizers.iter(), |to, finalizer| {
        to.text(finalizer.as_str());
    });
}

fn fold_pairs<'a>(to: &mut RowHasher, pairs: impl ExactSizeIterator<Item = (&'a str, &'a str)>) {
    to.list(pairs, |to, (key, value)| {
        to.text(key);
        to.text(value);
    });
}

pub(super) fn fold_object_key(to: &mut RowHasher, key: &ObjectKey) {
    let ObjectKey { resource, name } = key;
    fold_resource(to, resource);
    fold_name(to, name);
}

fn fold_name(to: &mut RowHasher, name: &NamespacedName) {
    to.text(name.namespace().unwrap_or_default());
    to.text(name.name());
}

pub(super) fn fold_written(to: &mut RowHasher, written: &Written) {
    let Written {
        how,
        uid,
        resource_version,
    } = written;
    to.number(match how {
        WrittenHow::Created => 1,
        WrittenHow::Updated => 2,
        WrittenHow::Unchanged => 3,
        WrittenHow::Deleted => 4,
        WrittenHow::Deleting => 5,
    });
    to.raw(uid.as_bytes());
    to.number(resource_version.get());
}
