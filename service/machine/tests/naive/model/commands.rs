//! The naive model's rule of each command.

use std::collections::BTreeMap;

use synod_machine::{
    AnnounceReplica, Answer, Command, Expire, Initialize, ReplicaRow, StateStatus,
};
use synod_model::{
    AgreementCause, ApiVersion, CloseSession, Current, Epoch, ErrorKind, ForgetResource, Join,
    Leave, LogTime, MarkReady, Member, MemberId, Operation, Phase, Refusal, Renew, Sequence,
    SessionId, StatementNumber, Switch, UpdateSettings, WallTime,
};

use super::{Entry, Holder, Session, World, no};

impl World {
    pub(super) fn perform(&mut self, command: &Command, wall: WallTime) -> Result<Answer, Refusal> {
        match command {
            Command::Initialize(initialize) => self.initialize(initialize),
            Command::Restore(restore) => self.restore(restore, wall),
            Command::AnnounceReplica(announce) => Ok(self.announce(announce)),
            Command::RaiseMachineVersion(raise) => self.raise(raise, wall),
            Command::OpenSession(_) => self.open_session(),
            Command::CloseSession(close) => Ok(self.close_session(close)),
            Command::Join(join) => self.join(join, wall),
            Command::Renew(renew) => self.renew(renew),
            Command::MarkReady(ready) => self.mark_ready(ready),
            Command::Leave(leave) => self.leave(leave, wall),
            Command::Report(report) => self.report(report, wall),
            Command::Adopt(adopt) => self.adopt(adopt, wall),
            Command::ForgetResource(forget) => self.forget(forget),
            Command::Expire(expire) => Ok(self.expire(expire, wall)),
            Command::UpdateSettings(update) => self.update_settings(update, wall),
            Command::CreateCollection(create) => self.create_collection(create, wall),
            Command::UpdateCollection(update) => self.update_collection(update),
            Command::DeleteCollection(delete) => self.delete_collection(delete),
            Command::CreateObject(create) => self.write(&Operation::Create(create.clone()), wall),
            Command::UpdateObject(update) => self.write(&Operation::Update(update.clone()), wall),
            Command::PatchObject(patch) => self.write(&Operation::Patch(patch.clone()), wall),
            Command::DeleteObject(delete) => self.write(&Operation::Delete(delete.clone()), wall),
            Command::Transact(transact) => self.transact(transact, wall),
            // These logs hold so few objects that no deletion ever leaves dependents.
            Command::CollectGarbage(_) => Ok(Answer::Collected { steps: 0 }),
            // Nor so many resources that a switch leaves anything.
            Command::FollowSwitches(_) => Ok(Answer::Done),
            Command::CreateControllerRevision(_)
            | Command::UpdateControllerRevision(_)
            | Command::RollbackControllerRevision(_)
            | Command::MarkControllerRevisions(_)
            | Command::TruncateControllerRevisions(_)
            | Command::DeleteControllerRevisions(_)
            | Command::AdoptControllerRevisions(_)
            | Command::ReleaseControllerRevision(_) => {
                panic!("histories have a model of their own")
            }
            // Leases have a naive model of their own, in `tests/leases`; the logs here hold none.
            Command::AcquireLease(_)
            | Command::RenewLease(_)
            | Command::ReleaseLease(_)
            | Command::DeleteLease(_)
            | Command::PutLeaseCandidate(_)
            | Command::RenewLeaseCandidate(_)
            | Command::WithdrawLeaseCandidate(_) => unreachable!("no log here holds one"),
            Command::StartMigration(start) => self.start(start),
            Command::ClaimMigration(claim) => self.claim(claim),
            Command::ReportMigrationProgress(report) => self.tell(report),
            Command::CompleteMigration(done) => self.complete(&done.id, done.token, wall),
            Command::FailMigration(fail) => self.fail(fail, wall),
            Command::ReleaseMigration(back) => self.give_back(&back.id, back.token, back.stop),
            Command::DeleteMigration(delete) => self.take_away(delete),
            Command::AbortMigration(abort) => self.abort(&abort.id, wall),
            Command::RetryMigration(retry) => self.retry(&retry.id),
            Command::ObserveStorage(observe) => self.observe(observe, wall),
            Command::ResetStorageStates(reset) => self.reset(reset, wall),
            Command::DismissLooks(dismiss) => self.dismiss(dismiss, wall),
            Command::AddEquivalents(add) => self.add_equivalents(add, wall),
            Command::RemoveEquivalent(remove) => self.remove_equivalent(remove, wall),
            Command::SetRoster(set) => self.set_roster(set, wall),
            Command::DeleteRoster(delete) => self.delete_roster(delete, wall),
        }
    }

    fn initialize(&mut self, initialize: &Initialize) -> Result<Answer, Refusal> {
        if self.cluster.is_some() {
            return Err(no(ErrorKind::AlreadyExists));
        }
        self.cluster = Some(initialize.cluster);
        self.settings = initialize.settings.clone();
        Ok(Answer::Done)
    }

    fn announce(&mut self, announce: &AnnounceReplica) -> Answer {
        let row = ReplicaRow {
            directory: announce.directory,
            client_endpoint: announce.client_endpoint.clone(),
            binary: announce.binary.clone(),
            machine_version: announce.machine_version,
            disk_is_low: announce.disk_is_low,
        };
        self.replicas.insert(announce.replica, row);
        Answer::Done
    }

    fn open_session(&mut self) -> Result<Answer, Refusal> {
        if self.sessions.len() as u64 >= u64::from(self.settings.sessions_max) {
            return Err(no(ErrorKind::Quota));
        }
        let id = SessionId::new(self.revision);
        self.sessions.push(Session {
            id,
            lowest: Sequence::FIRST,
            outcomes: Vec::new(),
        });
        self.set_deadline(Holder::Session(id), self.settings.session_ttl);
        Ok(Answer::SessionOpened(id))
    }

    fn close_session(&mut self, close: &CloseSession) -> Answer {
        self.sessions.retain(|session| session.id != close.session);
        self.clear_deadline(&Holder::Session(close.session));
        Answer::Done
    }

    fn join(&mut self, join: &Join, wall: WallTime) -> Result<Answer, Refusal> {
        let present = self.member(&join.id);
        let here = present.clone();
        let mut member = Member {
            id: join.id.clone(),
            instance: join.instance.clone(),
            epoch: Epoch::new(self.revision),
            ttl: join.ttl,
            labels: join.labels.clone(),
            version: join.version.clone(),
            endpoint: join.endpoint.clone(),
            phase: Phase::Joining,
            metadata: self.new_metadata(wall),
            reported: false,
            gated: join.gated && self.counts_late_writes(),
        };
        match present {
            None => {
                if self.members.len() as u64 >= u64::from(self.settings.members_max) {
                    return Err(no(ErrorKind::Quota));
                }
            }
            Some(present) if present.instance == join.instance => {
                member.epoch = present.epoch;
                member.phase = present.phase;
                member.reported = present.reported;
                member.metadata = present.metadata.clone();
                if member != present {
                    member.metadata.generation += 1;
                }
            }
            Some(present) => {
                if join.lost_epoch.is_some_and(|lost| lost < present.epoch) {
                    return Err(no(ErrorKind::StaleEpoch));
                }
                member.metadata = present.metadata.clone();
                member.metadata.generation += 1;
                self.fence(&present);
            }
        }
        self.note_arrival(join, here.as_ref());
        if here.is_some_and(|here| here.instance != join.instance) {
            self.doubt_replaced(&join.id);
        }
        let epoch = member.epoch;
        self.members.retain(|other| other.id != join.id);
        self.members.push(member);
        self.members.sort_by(|a, b| a.id.cmp(&b.id));
        let holder = Holder::Member(join.id.clone());
        if epoch == Epoch::new(self.revision) {
            self.set_deadline(holder, join.ttl.duration());
        } else {
            self.prolong(holder, join.ttl.duration());
        }
        self.call_the_roll(Some(&AgreementCause::Member(join.id.clone())), wall);
        Ok(Answer::Joined {
            epoch,
            ttl: join.ttl,
        })
    }

    /// The old epoch may write until its deadline, which the leader may have extended just now, and `write_grace` covers
    /// what it wrote. Its entries stay.
    fn fence(&mut self, old: &Member) {
        let promised = self.promised(&Holder::Member(old.id.clone()));
        let promised = promised.expect("a member has a deadline");
        if old.reported {
            let until = promised.after(self.settings.write_grace);
            self.drain(&old.id, until, |entry, _| entry.may_follow());
        }
        if self.entries.iter().any(|entry| entry.member == old.id) {
            let holder = Holder::Unreported(old.id.clone());
            self.set_deadline(holder, self.settings.unreported_grace);
        }
    }

    fn renew(&mut self, renew: &Renew) -> Result<Answer, Refusal> {
        let member = self.fenced(&renew.member, renew.epoch)?;
        self.prolong(Holder::Member(member.id), member.ttl.duration());
        Ok(Answer::Done)
    }

    fn mark_ready(&mut self, ready: &MarkReady) -> Result<Answer, Refusal> {
        self.fenced(&ready.member, ready.epoch)?;
        for member in &mut self.members {
            if member.id == ready.member {
                member.phase = Phase::Ready;
            }
        }
        Ok(Answer::Done)
    }

    fn leave(&mut self, leave: &Leave, wall: WallTime) -> Result<Answer, Refusal> {
        let is_gone = self.member(&leave.member).is_none();
        if leave.stopped && is_gone && self.counts_late_writes() {
            self.vouch(leave)?;
            return Ok(Answer::Done);
        }
        let member = self.fenced(&leave.member, leave.epoch)?;
        let before = self.clone();
        self.drain_leaver(&member, leave)?;
        let is_told = leave.instance.is_some() || leave.stopped;
        if !is_told {
            self.mark_ungated(&member.id);
        }
        self.note_departure(&member, is_told);
        self.remove_member(&member.id);
        self.settle(&before, wall);
        self.call_the_roll(Some(&AgreementCause::Member(member.id)), wall);
        Ok(Answer::Done)
    }

    fn expire(&mut self, expire: &Expire, wall: WallTime) -> Answer {
        let before = self.clone();
        let until = self.log_time.after(self.settings.write_grace);
        let (mut members, mut sessions, mut unreported) = (0, 0, 0);
        let mut gone = Vec::new();
        for (id, epoch) in &expire.members {
            let holder = Holder::Member(id.clone());
            let Ok(member) = before.fenced(id, *epoch) else {
                continue;
            };
            if before.has_ended(&holder) {
                members += 1;
                gone.push(AgreementCause::Member(id.clone()));
                if member.reported {
                    self.drain(id, until, Entry::may_write);
                }
                self.mark_ungated(id);
                self.note_departure(&member, false);
                self.remove_member(id);
            }
        }
        for (id, epoch) in &expire.unreported {
            let holder = Holder::Unreported(id.clone());
            if self.fenced(id, *epoch).is_ok() && before.has_ended(&holder) {
                unreported += 1;
                self.mark_ungated(id);
                self.note_silence(id);
                self.entries.retain(|entry| entry.member != *id);
                self.clear_deadline(&holder);
            }
        }
        for id in &expire.sessions {
            if before.has_ended(&Holder::Session(*id)) {
                sessions += 1;
                self.close_session(&CloseSession { session: *id });
            }
        }
        self.settle(&before, wall);
        let observations = self.expire_observations(expire, &before, wall);
        self.call_the_roll(gone.first().filter(|_| gone.len() == 1), wall);
        let objects = self.expire_objects(&expire.objects, wall);
        self.pass(&expire.topics, wall);
        self.follow(&before, true, wall);
        self.end_claims_and_pauses(expire);
        Answer::Expired {
            members,
            sessions,
            unreported,
            leases: 0,
            waiters: 0,
            candidates: 0,
            objects,
            observations,
        }
    }

    fn forget(&mut self, forget: &ForgetResource) -> Result<Answer, Refusal> {
        let name = &forget.resource;
        let Some(known) = self.resources.iter().find(|known| known.name == *name) else {
            return Err(no(ErrorKind::NotFound));
        };
        if forget
            .if_revision
            .is_some_and(|expected| expected != known.metadata.resource_version)
        {
            return Err(no(ErrorKind::Conflict));
        }
        let is_reported = !self.entries_of(name).is_empty();
        let names = self.names(name);
        let has_keys = names.len() > 1 && self.has_keys(name);
        if is_reported || has_keys || self.collections.contains_key(name) {
            return Err(no(ErrorKind::Conflict));
        }
        let unnamed = match known.status.looks.is_empty() {
            true => &known.status.observation,
            false => &known.status.unnamed_look,
        };
        let mut named = known.status.looks.values();
        let is_seen = unnamed.as_ref().is_some_and(|seen| !seen.expired);
        if is_seen || named.any(|look| !look.expired) {
            return Err(no(ErrorKind::Conflict));
        }
        let status = &known.status;
        let is_vouched = status
            .said_stopped
            .values()
            .all(|until| *until <= self.log_time);
        if is_vouched && !status.ungated_gone.is_empty() {
            return Err(no(ErrorKind::Conflict));
        }
        let claims = status.claim_drains.values().map(|drain| &drain.until);
        let servers = status.drains.values().chain(status.hash_drains.values());
        let said = status.said_stopped.values();
        let mut drains = servers
            .chain(claims)
            .chain(&status.unknown_drain)
            .chain(said);
        if drains.any(|until| *until > self.log_time) {
            return Err(no(ErrorKind::Draining));
        }
        self.resources.retain(|known| known.name != *name);
        self.forget_migrations(name);
        Ok(Answer::Done)
    }

    fn update_settings(
        &mut self,
        update: &UpdateSettings,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let present = self.settings.clone();
        if update
            .if_revision
            .is_some_and(|expected| expected != present.revision)
        {
            return Err(no(ErrorKind::Conflict).with_current(Current::Settings(present)));
        }
        self.settings = update.patch.clone().applied_to(&present);
        if present.votes == Switch::Off && self.settings.votes == Switch::On {
            self.count_again(wall);
        }
        Ok(Answer::Done)
    }

    fn member(&self, id: &MemberId) -> Option<Member> {
        self.members.iter().find(|member| member.id == *id).cloned()
    }

    /// The member, if it holds this epoch.
    pub(super) fn fenced(&self, id: &MemberId, epoch: Epoch) -> Result<Member, Refusal> {
        let member = self.member(id).ok_or_else(|| no(ErrorKind::NotAMember))?;
        if member.epoch > epoch {
            return Err(no(ErrorKind::StaleEpoch));
        }
        if member.epoch < epoch {
            return Err(no(ErrorKind::NotAMember));
        }
        Ok(member)
    }

    /// Refuses a statement if the member has made a later one under the same epoch. A refusal drops all of this world,
    /// so it leaves no trace.
    pub(super) fn listen(
        &mut self,
        member: &Member,
        number: StatementNumber,
        mut said: Command,
    ) -> Result<(), Refusal> {
        if let Command::Report(report) = &mut said {
            report.entries.sort_by(|a, b| a.resource.cmp(&b.resource));
        }
        let now = (member.epoch, number, said.clone());
        match self.said.insert(member.id.clone(), now) {
            Some((epoch, last, before))
                if epoch == member.epoch
                    && (last > number || (last == number && before != said)) =>
            {
                let late = no(ErrorKind::Conflict).with("number", number);
                Err(late.with("last_number", last))
            }
            _ => Ok(()),
        }
    }

    /// The last statement of every present epoch.
    pub(super) fn last_statements(&self) -> BTreeMap<MemberId, StatementNumber> {
        let members = self.members.iter();
        let heard = members.filter_map(|member| {
            let (epoch, number, _) = self.said.get(&member.id)?;
            (*epoch == member.epoch).then(|| (member.id.clone(), *number))
        });
        heard.collect()
    }

    fn remove_member(&mut self, id: &MemberId) {
        self.members.retain(|member| member.id != *id);
        self.entries.retain(|entry| entry.member != *id);
        self.clear_deadline(&Holder::Member(id.clone()));
        self.clear_deadline(&Holder::Unreported(id.clone()));
    }

    /// Raises the drains of every version that the member may still write.
    pub(super) fn drain(
        &mut self,
        id: &MemberId,
        until: LogTime,
        writes: impl Fn(&Entry, &StateStatus) -> Vec<ApiVersion>,
    ) {
        for entry in self.entries.iter().filter(|entry| entry.member == *id) {
            let first = self.first(&entry.resource);
            for resource in &mut self.resources {
                if resource.name == first {
                    for version in writes(entry, &resource.status) {
                        let kept = resource.status.drains.entry(version).or_insert(until);
                        *kept = until.max(*kept);
                    }
                }
            }
        }
    }
}
