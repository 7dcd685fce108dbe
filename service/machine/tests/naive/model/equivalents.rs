//! The naive model of one store under several names, which are looked up anew wherever one is named.

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::{Answer, Command, Holder, StateStatus};
use synod_model::{
    AddEquivalents, ApiVersion, ErrorKind, GroupResource, MemberId, MigrationId, Persisted,
    Refusal, RemoveEquivalent, Report, ReportEntry, Revision, WallTime,
};

use super::looks::{all_shown, fold, unfold};
use super::voting::join;
use super::{Entry, Resource, World, no};

impl World {
    /// All names of a store, the first one first.
    pub(super) fn names(&self, name: &GroupResource) -> Vec<GroupResource> {
        if let Some(base) = encrypted_by(name) {
            return self.names(&base).iter().map(key).collect();
        }
        for kept in &self.resources {
            let others = &kept.status.equivalents;
            if kept.name == *name || others.contains(name) {
                let mut names = vec![kept.name.clone()];
                names.extend(others.iter().cloned());
                return names;
            }
        }
        vec![name.clone()]
    }

    /// The name under which a store is kept.
    pub(super) fn first(&self, name: &GroupResource) -> GroupResource {
        self.names(name).remove(0)
    }

    /// What is kept under exactly this name.
    pub(super) fn own(&self, name: &GroupResource) -> Option<&Resource> {
        self.resources.iter().find(|kept| kept.name == *name)
    }

    /// Whether anything is known of the key of a store.
    pub(super) fn has_keys(&self, name: &GroupResource) -> bool {
        !self.is_no_encoding(name) && self.own(&key(&self.first(name))).is_some()
    }

    pub(super) fn resource(&self, name: &GroupResource) -> Option<&Resource> {
        self.own(&self.first(name))
    }

    /// The entries under exactly this name.
    pub(super) fn entries_under(&self, name: &GroupResource) -> Vec<Entry> {
        let all = self.entries.iter();
        all.filter(|entry| entry.resource == *name)
            .cloned()
            .collect()
    }

    /// The entries of a store under all of its names, by member.
    pub(super) fn entries_of(&self, name: &GroupResource) -> Vec<Entry> {
        let names = self.names(name).into_iter();
        let mut entries: Vec<Entry> = names.flat_map(|name| self.entries_under(&name)).collect();
        entries.sort_by(|a, b| a.member.cmp(&b.member));
        entries
    }

    /// The command, as if it had named each store by the first of its names.
    pub(super) fn with_first_name(&self, command: &Command) -> Command {
        let mut command = command.clone();
        let mut ids: Vec<&mut MigrationId> = Vec::new();
        match &mut command {
            Command::StartMigration(of) => of.resource = self.first(&of.resource),
            Command::ForgetResource(of) => of.resource = self.first(&of.resource),
            Command::DismissLooks(of) => of.resource = self.first(&of.resource),
            Command::ResetStorageStates(of) => {
                of.resource = of.resource.as_ref().map(|name| self.first(name));
            }
            Command::ClaimMigration(of) => ids.push(&mut of.id),
            Command::ReportMigrationProgress(of) => ids.push(&mut of.id),
            Command::CompleteMigration(of) => ids.push(&mut of.id),
            Command::FailMigration(of) => ids.push(&mut of.id),
            Command::ReleaseMigration(of) => ids.push(&mut of.id),
            Command::AbortMigration(of) => ids.push(&mut of.id),
            Command::DeleteMigration(of) => ids.push(&mut of.id),
            Command::RetryMigration(of) => ids.push(&mut of.id),
            _ => {}
        }
        for id in ids {
            *id = MigrationId::new(self.first(id.resource()), id.number());
        }
        command
    }

    /// Whether what an entry tells of other names can be so.
    pub(super) fn names_equivalents_alone(&self, said: &ReportEntry) -> bool {
        let mut all = said.equivalents.iter().chain([&said.resource]);
        let is_alone = said.equivalents.is_empty() || all.all(|name| !self.is_no_encoding(name));
        is_alone && said.equivalents.len() < 8 && !said.equivalents.contains(&said.resource)
    }

    pub(super) fn add_equivalents(
        &mut self,
        add: &AddEquivalents,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let many = add.resources.len();
        let is_topic = add.resources.iter().any(|name| self.is_no_encoding(name));
        if !(2..=8).contains(&many) || is_topic {
            return Err(no(ErrorKind::InvalidArgument));
        }
        self.unite(&add.resources, None)?;
        let before = self.clone();
        self.settle(&before, wall);
        Ok(Answer::Done)
    }

    /// Unites the names that each entry of a report tells.
    pub(super) fn take_told_names(&mut self, report: &Report) -> Result<(), Refusal> {
        for said in &report.entries {
            if !said.equivalents.is_empty() {
                let mut names = said.equivalents.clone();
                names.insert(said.resource.clone());
                self.unite(&names, Some(report))?;
            }
        }
        Ok(())
    }

    /// Makes one store of those with these names, and one key of their keys. What a report says in the same command counts in
    /// place of what its member said before.
    fn unite(
        &mut self,
        names: &BTreeSet<GroupResource>,
        report: Option<&Report>,
    ) -> Result<(), Refusal> {
        let all: BTreeSet<_> = names.iter().flat_map(|name| self.names(name)).collect();
        let stores: BTreeSet<_> = all.iter().map(|name| self.first(name)).collect();
        if stores.len() == 1 {
            return Ok(());
        }
        if all.len() > 8 {
            return Err(no(ErrorKind::InvalidArgument));
        }
        let held = all
            .iter()
            .filter(|name| self.collections.contains_key(name));
        let held: Vec<_> = held.collect();
        if held.len() > 1 {
            return Err(no(ErrorKind::Conflict));
        }
        let first = held.first().copied().or(all.first());
        let first = first.expect("there are two").clone();
        let keys: BTreeSet<GroupResource> = all.iter().map(key).collect();
        let stays = self.selection_of_all(&first, &all, report)?;
        let has_keys = keys.iter().any(|name| self.resource(name).is_some());
        let key_stays = match has_keys {
            true => self.selection_of_all(&key(&first), &keys, report)?,
            false => None,
        };
        for name in keys.iter().filter(|_| has_keys) {
            let kept = self
                .resource(name)
                .map(|kept| kept.status.persisted.clone());
            let kept = kept.unwrap_or_default();
            let mut needed = kept.iter().filter_map(Persisted::version);
            if !needed.all(|version| self.all_decode(version, &keys, report)) {
                return Err(no(ErrorKind::Conflict));
            }
        }
        let known_before = self.clone();
        // A key is looked up by the names of its resource, which change now.
        for name in keys.iter().filter(|name| known_before.own(name).is_some()) {
            self.begin_again(name, self.wall);
        }
        self.merge(&first, &all, stays, &known_before);
        self.resource_mut(&first).status.equivalents = all.clone();
        self.resource_mut(&first).status.equivalents.remove(&first);
        if has_keys {
            self.merge(&key(&first), &keys, key_stays, &known_before);
        }
        for set in [all, keys] {
            self.keep_one_entry(&set, report);
        }
        Ok(())
    }

    /// The version that stays selected for all of these names, and since when if it is what all of them have.
    fn selection_of_all(
        &self,
        first: &GroupResource,
        names: &BTreeSet<GroupResource>,
        report: Option<&Report>,
    ) -> Result<Option<(ApiVersion, Option<Revision>)>, Refusal> {
        // Who goes on to report two of them cannot say that they are one.
        let says_anew = |report: &&Report| {
            let member = self.members.iter().find(|it| it.id == report.member);
            let mut said = report.entries.iter();
            report.replace
                || member.is_some_and(|member| !member.reported)
                || said.any(|said| names.contains(&said.resource))
        };
        let speaker = report.filter(says_anew).map(|report| &report.member);
        let is_of_it = |entry: &&Entry| names.contains(&entry.resource);
        let entries: Vec<&Entry> = self.entries.iter().filter(is_of_it).collect();
        let others = entries.iter().filter(|it| Some(&it.member) != speaker);
        let others: Vec<&MemberId> = others.map(|entry| &entry.member).collect();
        if others.iter().collect::<BTreeSet<_>>().len() < others.len() {
            return Err(no(ErrorKind::Conflict));
        }
        let mut selected = Vec::new();
        for name in [first].into_iter().chain(names) {
            let status = self.resource(name).map(|kept| &kept.status);
            if let Some((status, version)) =
                status.and_then(|status| Some((status, status.selected.clone()?)))
            {
                selected.push((version, status.selected_revision));
            }
        }
        if selected.is_empty() {
            return Ok(None);
        }
        let mut all = selected.iter();
        let stays = all.find(|(version, _)| self.all_decode(version, names, report));
        let (version, since) = stays.ok_or_else(|| no(ErrorKind::Conflict))?;
        let are_same = selected
            .iter()
            .all(|(other, at)| (other, at) == (version, since));
        Ok(Some((version.clone(), are_same.then_some(*since))))
    }

    /// Whether all who report one of these names decode a version, once a report counts.
    fn all_decode(
        &self,
        version: &ApiVersion,
        names: &BTreeSet<GroupResource>,
        report: Option<&Report>,
    ) -> bool {
        let said = report.iter().flat_map(|report| &report.entries);
        let said: Vec<_> = said.filter(|said| names.contains(&said.resource)).collect();
        let speaker = report.map(|report| &report.member);
        let counts = |entry: &&Entry| {
            names.contains(&entry.resource) && (said.is_empty() || Some(&entry.member) != speaker)
        };
        let mut kept = self.entries.iter().filter(counts);
        kept.all(|entry| entry.decodes(version))
            && said.iter().all(|said| said.decodable.contains(version))
    }

    /// Keeps under the first of these names all that is known under any of them.
    fn merge(
        &mut self,
        first: &GroupResource,
        names: &BTreeSet<GroupResource>,
        selected: Option<(ApiVersion, Option<Revision>)>,
        before: &Self,
    ) {
        let known: Vec<GroupResource> = names
            .iter()
            .filter(|name| self.own(name).is_some())
            .cloned()
            .collect();
        let was_counted = known.iter().any(|name| before.is_counted(name));
        for name in &known {
            self.begin_again(name, self.wall);
        }
        let mut kept = self.own(first).cloned();
        let until = self.log_time.after(self.settings.write_grace);
        let fresh = Resource::new(first, self.new_metadata(self.wall));
        let mut status = kept.get_or_insert(fresh).status.clone();
        for hash in forget_unnamed(&mut status) {
            let last = status.hash_drains.entry(hash).or_insert(until);
            *last = until.max(*last);
        }
        unfold(&mut status);
        for look in status.looks.values_mut() {
            look.expired = true;
        }
        fold(&mut status);
        for name in known.iter().filter(|name| *name != first) {
            let mut other = self.own(name).expect("it is known").status.clone();
            for hash in forget_unnamed(&mut other) {
                let last = other.hash_drains.entry(hash).or_insert(until);
                *last = until.max(*last);
            }
            add(&mut status, other);
            self.resources.retain(|kept| kept.name != *name);
            self.forget_migrations(name);
            self.clear_deadline(&Holder::Topic(name.clone()));
        }
        let outside_too = was_counted && status.stored_outside;
        if known.len() < names.len() || outside_too {
            status.persisted.insert(Persisted::Unknown);
        }
        if outside_too {
            status.unknown_drain = status.unknown_drain.max(Some(until));
        }
        if let Some((version, since)) = selected {
            status.selected = Some(version);
            status.selected_revision = since.unwrap_or(self.revision);
        }
        self.clear_deadline(&Holder::Observation(first.clone()));
        let kept = kept.expect("it is there");
        self.keep(Resource { status, ..kept });
        self.renamed.insert(first.clone());
    }

    /// Of what the speaker has said under several of these names only the first counts. The rest drains.
    fn keep_one_entry(&mut self, names: &BTreeSet<GroupResource>, report: Option<&Report>) {
        let Some(report) = report else {
            return;
        };
        let until = self.log_time.after(self.settings.write_grace);
        let Some(any) = names.first() else {
            return;
        };
        let mine = self.names(any).into_iter();
        let mine: Vec<Entry> = mine
            .flat_map(|name| self.entries_under(&name))
            .filter(|entry| entry.member == report.member)
            .collect();
        for entry in mine.iter().skip(1) {
            let status = &mut self.resource_mut(&entry.resource).status;
            for version in entry.may_write(status) {
                let last = status.drains.entry(version).or_insert(until);
                *last = until.max(*last);
            }
            self.entries.retain(|kept| kept != entry);
        }
    }

    pub(super) fn keep(&mut self, resource: Resource) {
        self.resources.retain(|kept| kept.name != resource.name);
        self.resources.push(resource);
        self.resources.sort_by(|a, b| a.name.cmp(&b.name));
    }

    pub(super) fn remove_equivalent(
        &mut self,
        remove: &RemoveEquivalent,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let name = &remove.resource;
        if self.is_no_encoding(name) {
            return Err(no(ErrorKind::InvalidArgument));
        }
        let names = self.names(name);
        if names.len() < 2 {
            return Err(no(ErrorKind::NotFound));
        }
        for entry in self.entries_of(name) {
            let told = &entry.row.equivalents;
            if told.contains(name) || (entry.resource == *name && !told.is_empty()) {
                return Err(no(ErrorKind::Conflict));
            }
        }
        let first = names[0].clone();
        let mut rest: BTreeSet<GroupResource> = names.into_iter().skip(1).collect();
        let (next, with_first, with_next) = match rest.take(name) {
            Some(name) => (name, rest, BTreeSet::new()),
            None => {
                let next = rest.pop_first().expect("there is another name");
                (next, BTreeSet::new(), rest)
            }
        };
        self.part(&first, &next);
        if self.own(&key(&first)).is_some() {
            self.part(&key(&first), &key(&next));
        }
        let of_first = self.resources.iter_mut().find(|kept| kept.name == first);
        of_first.expect("it is known").status.equivalents = with_first;
        let of_next = self.resources.iter_mut().find(|kept| kept.name == next);
        of_next.expect("it is known").status.equivalents = with_next;
        let before = self.clone();
        self.settle(&before, wall);
        Ok(Answer::Done)
    }

    /// Keeps what is known of a store under another name, too. Nobody knows what of it is where.
    fn part(&mut self, first: &GroupResource, next: &GroupResource) {
        self.begin_again(first, self.wall);
        let until = self.log_time.after(self.settings.write_grace);
        let status = &mut self.resource_mut(first).status;
        status.persisted.insert(Persisted::Unknown);
        status.unknown_drain = status.unknown_drain.max(Some(until));
        let mut copied = status.clone();
        for hash in all_shown(&copied) {
            let last = copied.hash_drains.entry(hash).or_insert(until);
            *last = until.max(*last);
        }
        // Nothing was agreed on under this name yet, and its history begins with what follows.
        copied.agreed = None;
        copied.observation = None;
        copied.unnamed_look = None;
        copied.looks.clear();
        let fresh = Resource::new(next, self.new_metadata(self.wall));
        self.keep(Resource {
            status: copied,
            ..fresh
        });
        self.renamed.extend([first.clone(), next.clone()]);
    }
}

/// Takes the look of an observer without a name away: nobody knows what it shows under the other names.
fn forget_unnamed(status: &mut StateStatus) -> BTreeSet<synod_model::StorageVersionHash> {
    unfold(status);
    let seen = status.observation.take();
    fold(status);
    if seen.is_some() {
        status.persisted.insert(Persisted::Unknown);
    }
    seen.map(|seen| seen.hashes).unwrap_or_default()
}

/// Adds what is known under another name.
fn add(status: &mut StateStatus, other: StateStatus) {
    unfold(status);
    for (observer, shown) in other.looks {
        let look = status.looks.entry(observer).or_default();
        look.expired = true;
        look.overtaken = look.overtaken || shown.overtaken;
        look.kind = look.kind.clone().or(shown.kind);
        for (server, of_server) in shown.servers {
            let kept = look.servers.entry(server).or_insert(of_server.clone());
            kept.superseded.clear();
            kept.hashes.extend(of_server.hashes);
            if kept.member != of_server.member {
                kept.member = None;
            }
        }
    }
    fold(status);
    for kept in other.persisted {
        match kept.hash() {
            None => drop(status.persisted.insert(Persisted::Unknown)),
            Some(hash) => join(&mut status.persisted, hash, kept.version()),
        }
    }
    status.heard.extend(other.heard);
    keep_latest(&mut status.drains, other.drains);
    keep_latest(&mut status.hash_drains, other.hash_drains);
    status.claim_drains.extend(other.claim_drains);
    status.unknown_drain = status.unknown_drain.max(other.unknown_drain);
    for (version, since) in other.known_versions {
        let first = status.known_versions.entry(version).or_insert(since);
        *first = since.min(*first);
    }
    for (hash, since) in other.known_hashes {
        let first = status.known_hashes.entry(hash).or_insert(since);
        *first = since.min(*first);
    }
    status.concluded_before = status.concluded_before.max(other.concluded_before);
    keep_latest(&mut status.said_stopped, other.said_stopped);
    status.ever_reported = status.ever_reported || other.ever_reported;
    keep_latest(&mut status.ungated_gone, other.ungated_gone);
    for (member, absence) in other.short_absences {
        let kept = status.short_absences.entry(member).or_insert(absence);
        if absence.returned > kept.returned {
            *kept = absence;
        }
    }
    status.stored_outside = status.stored_outside || other.stored_outside;
}

fn keep_latest<K: Ord, T: Ord + Copy>(kept: &mut BTreeMap<K, T>, others: BTreeMap<K, T>) {
    for (key, other) in others {
        let last = kept.entry(key).or_insert(other);
        *last = other.max(*last);
    }
}

/// The resource whose objects are encrypted with a key.
fn encrypted_by(name: &GroupResource) -> Option<GroupResource> {
    let group = name.group().strip_suffix("keys.synod")?;
    if !group.is_empty() && !group.ends_with('.') {
        return None;
    }
    GroupResource::new(group.trim_end_matches('.'), name.resource()).ok()
}

/// The key with which the objects of a resource are encrypted.
fn key(of: &GroupResource) -> GroupResource {
    let group = match of.group() {
        "" => "keys.synod".to_owned(),
        group => format!("{group}.keys.synod"),
    };
    GroupResource::new(&group, of.resource()).expect("a legal name")
}
