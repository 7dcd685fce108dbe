use synod_model::{ApiVersion, Epoch, ReportEntry, Revision};

use super::observation::Observation;
use super::permits::Permits;
use crate::ReportedResource;
use crate::gate::obstacle::Obstacle;

/// One resource at the gate.
#[derive(Debug, Default)]
pub(super) struct Resource {
    /// What was acknowledged last, under whichever epoch.
    pub(super) told: Option<AcknowledgedEntry>,
    /// It is being reported anew.
    pub(super) changing: bool,
    /// Why the last try to report it failed.
    pub(super) last_error: Option<String>,
    pub(super) permits: Permits,
}

/// An entry that was acknowledged, and what follows for the member's encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AcknowledgedEntry {
    pub(crate) epoch: Epoch,
    /// The revision as of which this is known.
    pub(crate) revision: Revision,
    pub(crate) entry: ReportEntry,
    /// What the entry encodes. `None`: it votes and nothing is selected.
    pub(crate) encoding: Option<ApiVersion>,
    pub(crate) selected: Option<ApiVersion>,
    pub(crate) selected_revision: Revision,
    /// The `selected_revision` that the entry took or adopted last.
    pub(crate) adopted: Option<Revision>,
}

impl Resource {
    /// The encoding of new writes, and a revision at which the entry allowed it.
    ///
    /// # Errors
    ///
    /// What a write would have to wait for.
    pub(super) fn writes(&self, epoch: Epoch) -> Result<(&ApiVersion, Revision), Obstacle> {
        if self.changing {
            return Err(Obstacle::Changing(self.last_error.clone()));
        }
        let told = self.told.as_ref().filter(|told| told.epoch == epoch);
        let Some(told) = told else {
            return Err(Obstacle::NotReported(self.last_error.clone()));
        };
        let encoding = told.writes().ok_or(Obstacle::NothingSelected)?;
        Ok((encoding, told.revision.max(told.selected_revision)))
    }

    /// The entry was acknowledged.
    pub(super) fn tell(&mut self, mut told: AcknowledgedEntry) {
        let before = self.told.take().filter(|before| before.epoch == told.epoch);
        if let Some(before) = before {
            told.follow(before);
        }
        self.told = Some(told);
        self.last_error = None;
    }

    /// The member does not report the resource any more.
    pub(super) fn withdraw(&mut self) {
        self.told = None;
        self.last_error = None;
    }

    /// Whether nothing is known of it that has to be kept.
    pub(super) fn is_blank(&self) -> bool {
        self.told.is_none()
            && !self.changing
            && self.last_error.is_none()
            && self.permits.is_empty()
    }
}

impl AcknowledgedEntry {
    pub(crate) fn of(
        epoch: Epoch,
        revision: Revision,
        entry: ReportEntry,
        answer: ReportedResource,
    ) -> Self {
        Self {
            epoch,
            revision,
            entry,
            encoding: answer.encoding,
            adopted: answer.adopted_revision,
            selected: answer.selected,
            selected_revision: answer.selected_revision,
        }
    }

    /// Takes over what is known already of a later revision than that of this answer: an adoption, or what the watch has
    /// shown, may overtake it.
    fn follow(&mut self, before: Self) {
        let both_vote = self.entry.stance.is_voting() && before.entry.stance.is_voting();
        if both_vote && before.revision > self.revision {
            self.encoding = before.encoding;
            self.adopted = before.adopted;
            self.revision = before.revision;
        }
        if before.selected_revision > self.selected_revision {
            self.selected = before.selected;
            self.selected_revision = before.selected_revision;
        }
    }

    /// What new writes are encoded in. A voter takes up what is selected at once, and adopts when its permits for the
    /// version before are drained.
    fn writes(&self) -> Option<&ApiVersion> {
        if self.entry.stance.is_voting() {
            self.selected.as_ref()
        } else {
            self.encoding.as_ref()
        }
    }

    /// Whether a write in this encoding may still be sent.
    pub(super) fn allows(&self, encoding: &ApiVersion) -> bool {
        let encodings = [self.encoding.as_ref(), self.writes()];
        encodings.contains(&Some(encoding))
    }

    /// The selection that is to be adopted.
    pub(super) fn unadopted(&self) -> Option<Revision> {
        let selected = self.entry.stance.is_voting() && self.selected.is_some();
        let adopted = self.adopted == Some(self.selected_revision);
        (selected && !adopted).then_some(self.selected_revision)
    }

    pub(super) fn observe(&mut self, seen: &Observation) {
        if seen.selected_revision > self.selected_revision {
            self.selected.clone_from(&seen.selected);
            self.selected_revision = seen.selected_revision;
        }
        if let Some((encoding, adopted)) = &seen.own
            && seen.revision > self.revision
        {
            self.encoding.clone_from(encoding);
            self.adopted = *adopted;
            self.revision = seen.revision;
        }
    }

    pub(super) fn adopt(&mut self, selected_revision: Revision, revision: Revision) {
        if self.selected_revision == selected_revision {
            self.encoding.clone_from(&self.selected);
        }
        self.adopted = self.adopted.max(Some(selected_revision));
        self.revision = self.revision.max(revision);
    }
}
