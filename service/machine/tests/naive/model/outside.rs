//! The naive model of where a resource is stored: in a collection alone, which counts it, or outside, too.

use synod_machine::Observation;
use synod_model::{
    ClaimMigration, ErrorKind, GroupResource, Migration, MigrationReason, Persisted, Refusal,
    StorageVersionHash, StoredIn, Walk,
};

use super::{World, no};

impl World {
    /// Whether a collection counts whatever is stored.
    pub(super) fn is_counted(&self, name: &GroupResource) -> bool {
        let kept = self.resource(name);
        self.has_counts(name) && !kept.is_some_and(|kept| kept.status.stored_outside)
    }

    fn has_counts(&self, name: &GroupResource) -> bool {
        self.collections.contains_key(name) && !self.is_no_encoding(name)
    }

    /// Notes whether the members or discovery tell of objects outside.
    pub(super) fn note_what_is_outside(
        &mut self,
        name: &GroupResource,
        by_look: bool,
        is_new: bool,
    ) {
        let entries = self.entries_of(name);
        let is_said = entries
            .iter()
            .any(|entry| entry.row.stored == StoredIn::Outside);
        let is_outside = match by_look {
            true => self.shows_more_than_the_collection(name),
            false => is_said,
        };
        let status = &self.resource(name).expect("it is known").status;
        let counts = self.counts_late_writes() && !self.is_no_encoding(name);
        if !is_outside || status.stored_outside || !counts {
            return;
        }
        self.resource_mut(name).status.stored_outside = true;
        if !is_new {
            self.resource_mut(name)
                .status
                .persisted
                .insert(Persisted::Unknown);
            let until = self.log_time.after(self.settings.write_grace);
            self.anything_lands_until(name, until);
            self.begin_again(name, self.wall);
        }
    }

    fn shows_more_than_the_collection(&self, name: &GroupResource) -> bool {
        let shown: Option<&Observation> = self
            .resource(name)
            .and_then(|kept| kept.status.observation.as_ref());
        let mut inside = Vec::new();
        for entry in self.entries_of(name) {
            if let (StoredIn::Collection, Some(encoding)) = (entry.row.stored, &entry.row.encoding)
            {
                inside.push(StorageVersionHash::of_version(encoding, &entry.row.kind));
            }
        }
        let mut hashes = shown.into_iter().flat_map(|shown| &shown.hashes);
        hashes.any(|hash| !inside.contains(hash))
    }

    /// What a worker walks, which must leave out nothing that may have to be rewritten.
    pub(super) fn walk_of(
        &self,
        claim: &ClaimMigration,
        migration: &Migration,
    ) -> Result<Option<Walk>, Refusal> {
        if !self.counts_late_writes() {
            return Ok(None);
        }
        let name = claim.id.resource();
        let unsaid = match self.has_counts(name) {
            true => Walk::Collection,
            false => Walk::Outside,
        };
        let walks = claim.walks.unwrap_or(unsaid);
        let inside = self.stored(name);
        let is_left = inside.iter().any(|kept| {
            kept.version() != migration.target.version.as_ref()
                && kept.hash() != Some(migration.target.hash)
        });
        let has_to_go_inside = match migration.reason {
            MigrationReason::RewriteAll => !inside.is_empty(),
            _ => is_left,
        };
        let has_to_go_outside = !self.is_counted(name);
        let goes_inside = walks != Walk::Outside;
        let goes_outside = walks != Walk::Collection;
        if (has_to_go_inside && !goes_inside) || (has_to_go_outside && !goes_outside) {
            return Err(no(ErrorKind::Conflict));
        }
        Ok(Some(walks))
    }
}
