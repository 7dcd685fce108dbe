//! What must hold at every moment of what is agreed on, if it is a key or a level: who writes reads what is selected and all
//! that is stored, and writes what it counts as having adopted.

use super::World;
use crate::cluster::{About, RESOURCES, VOTED, about, number_of};
use crate::process::Process;

impl World {
    /// A broken promise about keys or levels, if it is a year of them and there is one.
    pub(super) fn misreads_what_is_agreed(&mut self) -> Option<String> {
        if about() == About::Encodings {
            return None;
        }
        let told = self.lacks_what_is_needed();
        let told = told.or_else(|| self.writes_otherwise());
        let told = told.or_else(|| self.unlearns_a_level());
        told.or_else(|| self.throws_away())
    }

    /// A process whose gate is open, and that lacks what is selected or what an object is stored with. What is stored is known
    /// except after a loss of the cluster, and while a server that does not take part writes.
    fn lacks_what_is_needed(&mut self) -> Option<String> {
        let kept = self.cluster.kept(VOTED)?;
        let selected = kept.row.status.selected.as_ref().map(number_of);
        let mut persisted = kept.row.status.persisted.iter();
        let is_known = persisted.all(|one| one.hash().is_some());
        let stored = self.store.versions_but(VOTED, self.excused(VOTED));
        let mut could_read = 0;
        let writers = self
            .living()
            .filter(|process| process.writes(VOTED, self.now).is_some());
        let mut told = None;
        for process in writers.filter(|process| self.is_asked(process)) {
            let who = process.id();
            if let Some(selected) = selected.filter(|version| !process.holds(*version)) {
                told = told.or(Some(format!(
                    "{who} writes {}, and lacks the selected v{selected}",
                    RESOURCES[VOTED]
                )));
            }
            if !is_known {
                continue;
            }
            could_read += 1;
            if let Some(version) = stored.iter().find(|version| !process.holds(**version)) {
                told = told.or(Some(format!(
                    "{who} may be asked for {} that are stored with v{version}, which it lacks",
                    RESOURCES[VOTED]
                )));
            }
        }
        self.tally.could_read += could_read;
        told
    }

    /// A process that counts as having adopted what is selected, and would write something else.
    fn writes_otherwise(&self) -> Option<String> {
        let kept = self.cluster.kept(VOTED)?;
        let present = self.cluster.state.present();
        let reported = present.storage_version(&kept.resource)?;
        let of_it = self.living().filter(|process| self.is_asked(process));
        for process in of_it {
            let member = present.member(&process.id());
            let entry = reported.entry(&process.id());
            let Some((_, entry)) = member.zip(entry).filter(|(member, _)| member.reported) else {
                continue;
            };
            let adopted = entry.encoding.as_ref().map(number_of);
            let adopted = adopted
                .filter(|_| entry.adopted_revision == Some(kept.row.status.selected_revision));
            let writes = process.would_write(VOTED, self.now);
            if let (Some(adopted), Some(writes)) = (adopted, writes)
                && adopted != writes
            {
                return Some(format!(
                    "{} counts as having adopted v{adopted}, and writes v{writes}",
                    process.id()
                ));
            }
        }
        None
    }

    /// Whether clients may ask this process, and not another one in its place. A process whose epoch was replaced may answer
    /// those that it still has; one of a lost cluster is known to nobody.
    fn is_asked(&self, process: &Process) -> bool {
        let present = self.cluster.state.present();
        let member = present.member(&process.id());
        let is_replaced = member.is_some_and(|member| Some(member.epoch) != process.epoch);
        !process.is_aloof && !process.is_orphan && !is_replaced
    }
}
