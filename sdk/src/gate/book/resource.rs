use synod_model::{ApiVersion, Epoch, Kind, ReportEntry, Revision};

use super::observation::Observation;
use super::permits::Permits;
use crate::ReportedResource;
use crate::gate::discovery::Dissent;
use crate::gate::obstacle::Obstacle;

/// The state of one resource in the book.
#[derive(Debug, Default)]
pub(super) struct Resource {
    /// The entry that was acknowledged last, under any epoch.
    pub(super) told: Option<AcknowledgedEntry>,
    /// The resource is being reported anew.
    pub(super) changing: bool,
    /// Why the last try to report it failed.
    pub(super) last_error: Option<String>,
    pub(super) permits: Permits,
}

/// An entry that was acknowledged, and what follows for the member's encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AcknowledgedEntry {
    pub(crate) epoch: Epoch,
    /// The revision at which the fields below were known to hold.
    pub(crate) revision: Revision,
    pub(crate) entry: ReportEntry,
    /// The version in which the entry encodes. `None`: the entry votes, and nothing is selected.
    pub(crate) encoding: Option<ApiVersion>,
    pub(crate) selected: Option<ApiVersion>,
    pub(crate) selected_revision: Revision,
    /// The `selected_revision` that the entry took or adopted last.
    pub(crate) adopted: Option<Revision>,
    /// The version that all members agree on, as a watch has shown it, and the revision at which that was so.
    pub(crate) agreed: Option<ApiVersion>,
    pub(crate) agreed_at: Revision,
}

impl Resource {
    /// The encoding of new writes, and a revision at which the entry allowed it.
    ///
    /// # Errors
    ///
    /// The obstacle that the write would have to wait for.
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

    /// The kind and the encoding of new writes, if all members agree on that encoding.
    ///
    /// # Errors
    ///
    /// What keeps a hash from being shown.
    pub(super) fn shows(&self, epoch: Epoch) -> Result<(&Kind, &ApiVersion), Dissent> {
        let (encoding, _) = self.writes(epoch).map_err(Dissent::Closed)?;
        match &self.told {
            Some(told) if told.agreed.as_ref() == Some(encoding) => {
                Ok((&told.entry.kind, encoding))
            }
            Some(_) | None => Err(Dissent::NotAgreed(encoding.clone())),
        }
    }

    /// An entry was acknowledged.
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

    /// Whether the row holds nothing that must be kept.
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
            agreed: None,
            agreed_at: Revision::ZERO,
        }
    }

    /// Keeps what is known of a later revision than that of this answer: an adoption or a watch event may have
    /// overtaken the answer.
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
        if before.agreed_at > self.agreed_at {
            self.agreed = before.agreed;
            self.agreed_at = before.agreed_at;
        }
    }

    /// The encoding of new writes. A voter writes the selected version at once, and adopts it when its permits for the
    /// previous version are drained.
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

    /// The selection that is still to be adopted.
    pub(super) fn unadopted(&self) -> Option<Revision> {
        let selected = self.entry.stance.is_voting() && self.selected.is_some();
        let adopted = self.adopted == Some(self.selected_revision);
        (selected && !adopted).then_some(self.selected_revision)
    }

    pub(super) fn observe(&mut self, seen: &Observation) {
        if seen.agreed_at > self.agreed_at {
            self.agreed.clone_from(&seen.agreed);
            self.agreed_at = seen.agreed_at;
        }
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
