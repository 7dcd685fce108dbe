//! The canonical form of what stays of a resource, and of its history of agreements.

use synod_model::{AgreementCause, AgreementChange, Persisted};

use super::rosters;
use super::values::{fold_metadata, fold_version};
use crate::digest::RowHasher;
use crate::{Observation, StateStatus, StorageStateRow};

pub(super) fn fold_storage_state(to: &mut RowHasher, row: &StorageStateRow) {
    let StorageStateRow { metadata, status } = row;
    let StateStatus {
        common,
        selected,
        selected_revision,
        agreement_revision,
        agreed,
        persisted,
        observation,
        contradicted,
        agreed_hash,
        absent,
        on_trust,
        heard,
        drains,
        hash_drains,
    } = status;
    fold_metadata(to, metadata);
    to.option(common.as_ref(), fold_version);
    to.option(selected.as_ref(), fold_version);
    to.number(selected_revision.get());
    to.number(agreement_revision.get());
    to.option(agreed.as_ref(), fold_version);
    to.list(persisted.iter(), |to, persisted| match persisted {
        Persisted::Unknown => to.number(1),
        Persisted::Version { hash, version } => {
            to.number(2);
            to.raw(hash.as_bytes());
            to.option(version.as_ref(), fold_version);
        }
    });
    to.option(observation.as_ref(), |to, observation| {
        let Observation {
            hashes,
            kind,
            expired,
            overtaken,
        } = observation;
        to.list(hashes.iter(), |to, hash| to.raw(hash.as_bytes()));
        to.option(kind.as_ref(), |to, kind| to.text(kind.as_str()));
        to.flag(*expired);
        to.flag(*overtaken);
    });
    to.flag(*contradicted);
    to.option(agreed_hash.as_ref(), |to, hash| to.raw(hash.as_bytes()));
    rosters::fold_absent(to, absent);
    to.option(*on_trust, |to, since| to.number(since.get()));
    to.list(heard.iter(), |to, id| to.text(id.as_str()));
    to.list(drains.iter(), |to, (version, until)| {
        fold_version(to, version);
        to.number(until.as_millis());
    });
    to.list(hash_drains.iter(), |to, (hash, until)| {
        to.raw(hash.as_bytes());
        to.number(until.as_millis());
    });
}

pub(super) fn fold_agreement(to: &mut RowHasher, line: &AgreementChange) {
    let AgreementChange {
        from,
        to: into,
        revision,
        at,
        cause,
    } = line;
    to.option(from.as_ref(), fold_version);
    to.option(into.as_ref(), fold_version);
    to.number(revision.get());
    to.number(at.as_millis());
    to.option(cause.as_ref(), |to, cause| match cause {
        AgreementCause::Member(id) => {
            to.number(1);
            to.text(id.as_str());
        }
        AgreementCause::Observed => to.number(2),
        AgreementCause::Roster => to.number(3),
    });
}
