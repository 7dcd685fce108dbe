//! What many rows have.

use std::sync::Arc;

use synod_model::{ApiVersion, GroupResource, Metadata, VersionSet};

use crate::digest::RowHasher;

pub(in crate::digest) fn fold_both<T>(
    to: &mut RowHasher,
    before: &Option<Arc<T>>,
    after: &Option<Arc<T>>,
    fold: fn(&mut RowHasher, &T),
) {
    to.option(before.as_deref(), fold);
    to.option(after.as_deref(), fold);
}

pub(in crate::digest) fn fold_metadata(to: &mut RowHasher, metadata: &Metadata) {
    let Metadata {
        uid,
        resource_version,
        create_revision,
        generation,
        created,
    } = metadata;
    to.raw(uid.as_bytes());
    to.number(resource_version.get());
    to.number(create_revision.get());
    to.number(*generation);
    to.number(created.as_millis());
}

pub(in crate::digest) fn fold_resource(to: &mut RowHasher, resource: &GroupResource) {
    to.text(resource.group());
    to.text(resource.resource());
}

pub(in crate::digest) fn fold_version(to: &mut RowHasher, version: &ApiVersion) {
    to.text(version.as_str());
}

pub(in crate::digest) fn fold_versions(to: &mut RowHasher, versions: &VersionSet) {
    to.list(versions.iter(), fold_version);
}
