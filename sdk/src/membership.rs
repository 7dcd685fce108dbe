//! Membership of an API server: a [`Membership`] joins, renews, reports and adopts for it.

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
/// It sends renewals to whichever replica answers. If the member has expired nevertheless, or the cluster was restored,
/// it joins again, repeats the last acknowledged report, and marks the server ready again; until then the gate is
/// closed. When another instance has joined under its id, it stops for good.
///
/// It follows the selected version of the resources for which the server votes: new writes are encoded in that version
/// at once, and it is adopted when the permits for the previous version were given back.
///
/// Dropping it stops all this: the gate closes for ever, and the member expires. Prefer [`leave`](Self::leave).
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

/// The number of commands that may wait for the reporter.
const COMMANDS_MAX: usize = 16;

impl Membership {
    /// The member's id.
    #[must_use]
    pub fn id(&self) -> &MemberId {
        &self.id
    }

    /// The random name of this process, which distinguishes two processes under one id.
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

    /// The present state of the membership.
    #[must_use]
    pub fn state(&self) -> MembershipState {
        self.standing.lock().state()
    }

    /// Waits until the state differs from `seen`, and returns it.
    pub async fn state_changed(&self, seen: &MembershipState) -> MembershipState {
        let differing = |standing: &Standing| {
            let state = standing.state();
            (state != *seen).then_some(state)
        };
        self.standing.wait(differing).await
    }

    /// Waits until the membership is over for good, and returns why. A program that was replaced must not write any
    /// more; its gate already refuses to let it.
    pub async fn ended(&self) -> Ended {
        self.standing.wait(Standing::ended).await
    }

    /// Reports all resources of the server, in one command. When the report is acknowledged, the gate opens for each of
    /// them, and closes for resources that it does not name any more.
    ///
    /// A later call changes the report: the gates of the resources whose entries differ close, their permits are given
    /// back, and only then the report is sent. Unless it is refused, it is tried up to three times, a second apart. After a
    /// new join the earlier report goes first; where that is refused, this one takes its place.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: an entry breaks a rule, or a resource is named twice. `NOT_DECODABLE`: the server cannot
    /// decode a selected version. `DRAINING`: permits were not given back within the drain limit. After a refusal, the
    /// earlier report still holds. After an unknown outcome, the gates of the resources stay closed until the earlier
    /// report is acknowledged again, which is tried in the background.
    pub async fn report(&self, entries: Vec<ReportEntry>) -> Result<Reported, Error> {
        self.check(&entries)?;
        let folded = fold::fold(entries, &self.equivalents);
        self.gate
            .update(|book| book.set_reported_as(folded.reported_as));
        self.ask(|reply| Command::Report(folded.entries, reply))
            .await
    }

    /// Reports one resource, changed or new, beside the others: a custom resource whose storage version changes, say.
    /// Its gate closes, its permits are given back, the report is sent, and the gate opens again. Where the earlier report
    /// is refused after a new join, the change is sent with all of its other resources, and mends it if that is taken. Where more than
    /// one of them has to change, call [`report`](Self::report): each change alone would be refused for the others.
    ///
    /// # Errors
    ///
    /// As [`report`](Self::report); also `INVALID_ARGUMENT`: all resources have not been reported once before.
    pub async fn report_change(&self, entry: ReportEntry) -> Result<Reported, Error> {
        self.check(std::slice::from_ref(&entry))?;
        let entry = Box::new(entry);
        self.ask(|reply| Command::Change(entry, reply)).await
    }

    /// Marks the server as ready. This is repeated after every join that the membership makes by itself.
    ///
    /// # Errors
    ///
    /// The cluster refused it, or did not acknowledge it in three tries or in time.
    pub async fn ready(&self) -> Result<(), Error> {
        self.ask(Command::Ready).await
    }

    /// Leaves the cluster. The gate gives no more permits, and waits up to `drain_limit` for those that are out. The
    /// cluster is told whether all were given back, so that it need not wait for them.
    ///
    /// The membership is over afterwards, whatever the result.
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

    /// Stops the membership, as dropping does, for one that is shared: the gate closes for ever, and the member
    /// expires. Prefer [`leave`](Self::leave).
    pub fn stop(&self) {
        for task in &self.tasks {
            task.abort();
        }
        self.gate.update(|book| book.end(Ended::Stopped));
        self.standing
            .update(|standing| standing.end(Ended::Stopped));
    }

    /// Checks entries by the rules that do not depend on the state of the cluster.
    fn check(&self, entries: &[ReportEntry]) -> Result<(), Error> {
        let report = Report {
            member: self.id.clone(),
            // Any legal epoch: the real one is chosen when the report is sent.
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
            // If the receiver has ended with the membership, the reply below says so.
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

/// Ends the membership if one of its tasks panics. Otherwise renewals or adoptions would stop without any notice.
struct Guard {
    gate: Gate,
    standing: Arc<Board<Standing>>,
}

/// Runs `task` under a [`Guard`].
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
    /// No replica answered in time, or the cluster refuses the member. After an unknown outcome the cluster may hold a
    /// member that is not renewed: it expires by itself, or is replaced by the next join under its id.
    pub async fn join(&self, options: JoinOptions) -> Result<Membership, Error> {
        let instance = options::random_instance(&*self.seams().randomness);
        let clock = Arc::clone(&self.seams().clock);
        let join = options.to_join(instance.clone());
        let sent_at = clock.now();
        // One call, in the lane of requests that keep members alive: no flood of other requests can keep a server out.
        let joined = self.send_join(join.clone()).await?;
        let keeper = Keeper {
            client: self.clone(),
            // The reporter watches the settings from the join on, so it sees every later change of `write_grace`.
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
