//! Follows the selections that the watch shows, and adopts them.

use synod_model::{ErrorKind, GroupResource, Revision};
use tokio::time::{sleep, timeout};

use super::adoption::Adoption;
use super::sent::is_over;
use super::{PAUSE, Reporter};
use crate::membership::say::say;
use crate::watch::{ChangeType, Event, WatchedObject};
use crate::{Changed, Error, ObjectKind};

impl Reporter {
    /// Handles an event of the watch.
    pub(super) fn take_event(&mut self, revision: Revision, event: Event) {
        match (event.change, event.object) {
            (ChangeType::Removed, Some(WatchedObject::Member(member))) if member.id == self.id => {
                self.doubt.notify_one();
            }
            (ChangeType::Added | ChangeType::Modified, Some(WatchedObject::Member(member)))
                if member.id == self.id && self.epoch() != Some(member.epoch) =>
            {
                self.doubt.notify_one();
            }
            (ChangeType::Removed, _) => {
                if event.kind == ObjectKind::StorageVersion {
                    self.views.remove(&event.name);
                }
            }
            (_, Some(WatchedObject::StorageVersion(change))) => {
                let (resource, seen) = self.views.take(revision, change, &self.id);
                self.gate.update(|book| book.observe(&resource, &seen));
            }
            (_, Some(WatchedObject::Settings(settings))) => {
                self.gate
                    .update(|book| book.set_write_grace(settings.write_grace));
            }
            (
                _,
                Some(
                    WatchedObject::Member(_)
                    | WatchedObject::StorageState(_)
                    | WatchedObject::Migration(_)
                    | WatchedObject::Roster(_)
                    | WatchedObject::Collection(_)
                    | WatchedObject::Stored(_)
                    | WatchedObject::ControllerRevision(_)
                    | WatchedObject::Lease(_)
                    | WatchedObject::LeaseCandidate(_),
                )
                | None,
            ) => {}
        }
    }

    /// Begins the adoption of every selection that is not adopted yet.
    pub(super) fn begin_adoptions(&mut self) {
        let unadopted = self.gate.book().unadopted();
        for (resource, selected_revision) in unadopted {
            if self.adopting.get(&resource) != Some(&selected_revision) {
                self.adopting.insert(resource.clone(), selected_revision);
                let adoption = self.adopt(resource, selected_revision);
                self.adoptions.push(Box::pin(adoption));
            }
        }
    }

    /// Adopts a selection once the permits for other encodings were given back. No permit for another encoding is given
    /// from then on, so the adoption may be sent again if a report overtakes it.
    fn adopt(
        &self,
        resource: GroupResource,
        selected_revision: Revision,
    ) -> impl Future<Output = Adoption> + Send + use<> {
        let (client, gate, standing) = (
            self.client.clone(),
            self.gate.clone(),
            self.standing.clone(),
        );
        let (limit, slots) = (self.drain_limit, self.adoption_slots.clone());
        async move {
            let adopting = async {
                let drained = gate.drained_for_adoption(&resource, selected_revision);
                match timeout(limit, drained).await {
                    Ok(true) => {}
                    // Something else was selected, and will be adopted instead.
                    Ok(false) => return Ok(()),
                    Err(_) => return Err(undrained(&resource, limit)),
                }
                let _slot = slots.acquire().await;
                let Some(member) = standing.lock().member.clone() else {
                    return Ok(());
                };
                let send =
                    |number| client.send_adopt(&member, number, &resource, selected_revision);
                let adopted = say(&standing, &member, send).await;
                adopted.map(|Changed { header, .. }| {
                    gate.update(|book| {
                        book.adopted(member.epoch, &resource, selected_revision, header.revision);
                    });
                })
            };
            let result = adopting.await;
            if result.is_err() {
                sleep(PAUSE).await;
            }
            Adoption {
                resource,
                selected_revision,
                result,
            }
        }
    }

    /// Handles the result of an adoption. A selection that is still to be adopted then is begun anew.
    pub(super) fn take_adoption(&mut self, adoption: Adoption) {
        let Adoption {
            resource,
            selected_revision,
            result,
        } = adoption;
        if self.adopting.get(&resource) == Some(&selected_revision) {
            self.adopting.remove(&resource);
        }
        let Err(error) = result else { return };
        if is_over(&error) {
            self.doubt.notify_one();
        } else if error.kind() != ErrorKind::Conflict {
            let error = error.context(format_args!("{resource} cannot be adopted"));
            tracing::warn!(member = %self.id, %error);
            self.standing
                .update(|standing| standing.report_error = Some(error));
        }
        // After a conflict over the selection, the watch will show the new selection.
    }
}

fn undrained(resource: &GroupResource, limit: std::time::Duration) -> Error {
    let message = format!(
        "permits to write {} in the previous version were not given back within {limit:?}; the selected version is \
         not adopted yet",
        resource.qualified()
    );
    Error::new(ErrorKind::Draining, message)
}
