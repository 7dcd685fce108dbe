//! Being a member.

mod ended;
mod fold;
mod keeper;
mod options;
mod renewals;
mod reporter;
mod say;
mod state;
mod statements;
mod stay;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use synod_model::{
    Epoch, ErrorKind, GroupResource, InstanceId, MemberId, Report, ReportEntry, StatementNumber,
};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::board::Board;
use crate::gate::Gate;
use crate::{Client, Error, Reported};
use keeper::Keeper;
use reporter::{Command, Reply, Reporter};
use state::Standing;

pub use ended::Ended;
pub use options::JoinOptions;
pub use state::MembershipState;

/// A membership, kept alive in the background until it is dropped.
///
/// It renews over whichever replica answers. When the member has expired all the same, or the cluster was restored, it
/// joins again by itself, reports again what was reported, and says again that it is ready; until then the gate is
/// closed. When another instance has joined under its id, it stops for good.
///
/// It follows what is selected for the resources for which the server votes: new writes are encoded in it at once, and
/// it is adopted when the permits for the version before have come back.
///
/// Dropping it stops all that: the gate closes for ever, and the member expires. [`leave`](Self::leave) is the better
/// way to go.
pub struct Membership {
    id: MemberId,
    instance: InstanceId,
    equivalents: Vec<Vec<GroupResource>>,
    client: Client,
    gate: Gate,
    standing: Arc<Board<Standing>>,
    commands: mpsc::Sender<Command>,
    tasks: [JoinHandle<()>; 2],
}

/// Commands that wait for the reporter at most.
const COMMANDS_MAX: usize = 16;

impl Membership {
    /// The member's id.
    #[must_use]
    pub fn id(&self) -> &MemberId {
        &self.id
    }

    /// What this process calls itself: it tells two processes under one id apart.
    #[must_use]
    pub fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// The present epoch, which is the member's fencing token; `None` while there is none.
    #[must_use]
    pub fn epoch(&self) -> Option<Epoch> {
        self.state().epoch
    }

    /// The gate that every write has to pass.
    #[must_use]
    pub fn gate(&self) -> Gate {
        self.gate.clone()
    }

    /// How it does.
    #[must_use]
    pub fn state(&self) -> MembershipState {
        self.standing.lock().state()
    }

    /// Waits until it does otherwise than `seen`, and answers how.
    pub async fn state_changed(&self, seen: &MembershipState) -> MembershipState {
        let differing = |standing: &Standing| {
            let state = standing.state();
            (state != *seen).then_some(state)
        };
        self.standing.wait(differing).await
    }

    /// Waits until it is over for good, and answers why. A program that is replaced must not go on writing; its gate
    /// sees to that already.
    pub async fn ended(&self) -> Ended {
        self.standing.wait(Standing::ended).await
    }

    /// Reports all resources of the server, in one command. The gate opens for each of them when that is acknowledged;
    /// it closes for those that are not named any more.
    ///
    /// A later call changes what is reported: the gates of the resources whose entries differ close, their permits come
    /// back, and only then is it sent. A try whose outcome is not a refusal is made up to three times, a second apart.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: an entry breaks a rule, or a resource is named twice. `NOT_DECODABLE`: the server cannot
    /// decode a version that is selected. `DRAINING`: permits did not come back within the drain limit. After a refusal,
    /// what was reported before stands. After an unknown outcome, the gates of the resources stay closed until what
    /// was reported before is acknowledged again, which is tried in the background.
    pub async fn report(&self, entries: Vec<ReportEntry>) -> Result<Reported, Error> {
        self.check(&entries)?;
        let folded = fold::fold(entries, &self.equivalents);
        self.gate
            .update(|book| book.set_reported_as(folded.reported_as));
        self.ask(|reply| Command::Report(folded.entries, reply))
            .await
    }

    /// Reports one resource anew, or a new one, beside the others: a custom resource whose storage version changes, say.
    /// Its gate closes, its permits come back, the report is sent, and the gate opens again.
    ///
    /// # Errors
    ///
    /// As [`report`](Self::report); also `INVALID_ARGUMENT` before all resources were reported once.
    pub async fn report_change(&self, entry: ReportEntry) -> Result<Reported, Error> {
        self.check(std::slice::from_ref(&entry))?;
        let entry = Box::new(entry);
        self.ask(|reply| Command::Change(entry, reply)).await
    }

    /// Says that the server is ready. It is said again after every join that the membership makes by itself.
    ///
    /// # Errors
    ///
    /// It could not be said, in three tries.
    pub async fn ready(&self) -> Result<(), Error> {
        self.ask(Command::Ready).await
    }

    /// Leaves the cluster. The gate gives no permits any more; those that are out have so long to come back. The cluster
    /// is told whether all of them have, so that nothing has to drain there.
    ///
    /// Whatever is answered, the membership is over.
    ///
    /// # Errors
    ///
    /// The cluster could not be told: the member expires by itself.
    pub async fn leave(&self, drain_limit: Duration) -> Result<(), Error> {
        if self.standing.lock().ended().is_some() {
            return Ok(());
        }
        self.ask(|reply| Command::Leave(drain_limit, reply)).await
    }

    /// Stops keeping it, as dropping it does, for a membership that others still look at: the gate closes for ever, and the
    /// member expires. [`leave`](Self::leave) is the better way to go.
    pub fn stop(&self) {
        for task in &self.tasks {
            task.abort();
        }
        self.gate.update(|book| book.end(Ended::Stopped));
        self.standing
            .update(|standing| standing.end(Ended::Stopped));
    }

    /// What is wrong with entries whatever the cluster holds.
    fn check(&self, entries: &[ReportEntry]) -> Result<(), Error> {
        let report = Report {
            member: self.id.clone(),
            // Any that is legal: which one it is sent under is decided when it is sent.
            epoch: Epoch::new(synod_model::Revision::new(1)),
            number: StatementNumber::FIRST,
            entries: entries.to_vec(),
            replace: true,
        };
        let violations = report.check();
        if violations.is_empty() {
            Ok(())
        } else {
            Err(Error::invalid(violations))
        }
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let sending = self.commands.send(command(reply));
        match timeout(self.client.timeout(), sending).await {
            // Its receiver ends with the membership, and then the answer says so.
            Ok(_) => {}
            Err(_) => {
                let message = "too many reports of this membership are waiting; nothing was sent";
                return Err(Error::new(ErrorKind::Overloaded, message));
            }
        }
        match answer.await {
            Ok(answer) => answer,
            Err(_) => Err(self.over()),
        }
    }

    fn over(&self) -> Error {
        let (kind, why) = match self.standing.lock().ended() {
            Some(Ended::Replaced) => (
                ErrorKind::StaleEpoch,
                "another instance has joined under its id",
            ),
            Some(Ended::Left) => (ErrorKind::NotAMember, "the server has left"),
            Some(Ended::Stopped) | None => (ErrorKind::NotAMember, "it was stopped"),
        };
        Error::new(
            kind,
            format!("the membership of {} is over: {why}", self.id),
        )
    }
}

/// Ends the membership if a task of it panics: without it nobody would renew, or adopt, and nobody would be told.
struct Guard {
    gate: Gate,
    standing: Arc<Board<Standing>>,
}

/// `task`, under a [`Guard`].
fn guarded<T: Future<Output = ()>>(
    gate: &Gate,
    standing: &Arc<Board<Standing>>,
    task: T,
) -> impl Future<Output = ()> + use<T> {
    let guard = Guard {
        gate: gate.clone(),
        standing: Arc::clone(standing),
    };
    async move {
        let _guard = guard;
        task.await;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.gate.update(|book| book.end(Ended::Stopped));
            self.standing
                .update(|standing| standing.end(Ended::Stopped));
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Membership")
            .field("id", &self.id)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Joins the cluster as a member, and stays one as long as the membership is kept.
    ///
    /// An older instance under the same id is replaced: from then on it is fenced, and its gate stays closed.
    ///
    /// # Errors
    ///
    /// The cluster could not be asked, or refuses the member. After an unknown outcome it may hold a member that nobody
    /// renews; it expires by itself, or is replaced by the next join under its id.
    pub async fn join(&self, options: JoinOptions) -> Result<Membership, Error> {
        let instance = options::random_instance(&*self.seams().randomness);
        let clock = Arc::clone(&self.seams().clock);
        let join = options.to_join(instance.clone());
        let sent_at = clock.now();
        // One call, in the lane of what keeps members alive: no flood of others can keep a server out.
        let joined = self.send_join(join.clone()).await?;
        let keeper = Keeper {
            client: self.clone(),
            // The reporter watches from the join on, so it sees every later change of the setting.
            gate: Gate::new(clock, options.permit_wait, joined.write_grace),
            standing: Arc::default(),
            doubt: Arc::new(Notify::new()),
            join,
        };
        let tenure = keeper.joined(&joined, sent_at);
        let (commands, receiver) = mpsc::channel(COMMANDS_MAX);
        let revision = joined.header.revision;
        let reporter = Reporter::new(&keeper, revision, options.drain_limit, receiver);
        let (gate, standing) = (keeper.gate.clone(), Arc::clone(&keeper.standing));
        Ok(Membership {
            id: keeper.join.id.clone(),
            instance,
            equivalents: options.equivalents,
            client: self.clone(),
            gate: gate.clone(),
            standing: Arc::clone(&standing),
            commands,
            tasks: [
                tokio::spawn(guarded(&gate, &standing, keeper.run(tenure))),
                tokio::spawn(guarded(&gate, &standing, reporter.run())),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seams::Seams;

    #[tokio::test]
    async fn a_membership_whose_task_panics_ends_and_closes_its_gate() {
        let clock = Arc::clone(&Seams::real().clock);
        let gate = Gate::new(clock, Duration::ZERO, Duration::ZERO);
        let standing = Arc::<Board<Standing>>::default();
        let whole = tokio::spawn(guarded(&gate, &standing, async {}));
        whole.await.unwrap();
        assert_eq!(standing.lock().ended(), None);

        let broken = async { panic!("as a bug would") };
        let broken = tokio::spawn(guarded(&gate, &standing, broken));
        assert!(broken.await.unwrap_err().is_panic());
        assert_eq!(standing.wait(Standing::ended).await, Ended::Stopped);
        let pods = GroupResource::new("", "pods").unwrap();
        let refused = gate.try_permit(&pods).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotAMember);
    }
}
