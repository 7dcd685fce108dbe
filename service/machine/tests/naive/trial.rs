//! Applies one log to several replicas and checks each after every entry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use synod_machine::{
    Applied, Change, Command, Envelope, Holder, LogEntry, OutOfReach, Outcome, RevisionEvents, Row,
    State,
};
use synod_model::{Migration, Revision};

use crate::invariants::{self, Deleted};
use crate::kept;
use crate::mirror::Mirror;
use crate::model::{Replay, Told};
use crate::picture::{Picture, Visible, assert_same, plain};
use crate::stored;

/// The replicas, and the kept states of the past.
pub(crate) struct Trial {
    log: Vec<LogEntry>,
    /// Applies each entry as it is.
    pub(crate) state: State,
    /// Loaded from its rows before each entry.
    reloaded: State,
    /// Gets each command in an entry of its own.
    split: State,
    /// The state at each revision, kept for comparison.
    kept: BTreeMap<Revision, State>,
    /// The copy of a watcher that follows the events from the first.
    mirror: Mirror,
    /// Whether members may have reported keys and features before these had rules of their own.
    pub(crate) has_reports_before_topics: bool,
    deleted: Deleted,
}

impl Trial {
    pub(crate) fn new() -> Self {
        Self {
            log: Vec::new(),
            state: State::new(),
            reloaded: State::new(),
            split: State::new(),
            kept: BTreeMap::from([(Revision::ZERO, State::new())]),
            mirror: Mirror::default(),
            has_reports_before_topics: false,
            deleted: Deleted::new(),
        }
    }

    /// Applies the entry on every replica and checks all that must hold then.
    pub(crate) fn apply(&mut self, entry: &LogEntry) -> Applied {
        let before = self.state.clone();
        let applied = self.state.apply(&stored::read_back(entry));
        stored::check(&applied);
        self.log.push(entry.clone());
        self.check_model(&applied);
        self.check_events(entry, &before, &applied);
        self.check_split(entry, &applied);
        self.check_reload(entry, &applied);
        self.check_past();
        self.note_deletions(entry, &applied);
        invariants::hold(&before, &self.state, &self.deleted);
        applied
    }

    /// Remembers the agreements whose migrations somebody deleted.
    fn note_deletions(&mut self, entry: &LogEntry, applied: &Applied) {
        for (envelope, outcome) in entry.commands.iter().zip(&applied.outcomes) {
            let Command::DeleteMigration(delete) = &*envelope.command else {
                continue;
            };
            let made = applied.events.iter();
            let made = made.filter(|events| events.revision == outcome.revision);
            let changes = made.flat_map(|events| &events.changes);
            for change in changes.filter_map(Change::of::<Migration>) {
                // It may have been named by another name of its store.
                let is_it = change.key.number() == delete.id.number();
                if let (true, Some(gone)) = (is_it, change.before) {
                    let of = change.key.resource().clone();
                    self.deleted.insert((of, gone.agreement_revision));
                }
            }
        }
    }

    fn check_model(&mut self, applied: &Applied) {
        let naive = Replay::of(&self.log);
        let told: Vec<Told> = applied.outcomes.iter().map(told).collect();
        assert_same("the answers", &naive.told, &told);
        assert_same(
            "the state",
            &naive.world.picture(),
            &Picture::of(&self.state),
        );
        self.check_due(&naive);
        kept::check(&naive, &self.state);
        for (revision, expected) in &naive.past {
            match self.state.at(*revision) {
                Ok(past) => assert_same("a past revision", expected, &Visible::at(&past)),
                Err(OutOfReach::Compacted { oldest }) => assert!(*revision < oldest),
                Err(OutOfReach::Future { .. }) => panic!("{revision} was made"),
            }
        }
        for events in &applied.events {
            let after = &naive.past[&events.revision];
            let (_, before) = naive.past.range(..events.revision).next_back().expect(
                "before the first revision there was nothing, and that is kept as revision zero",
            );
            self.mirror.follow(events);
            assert_same("the events", after, &self.mirror.visible);
            self.mirror.check_changes(events, before, after);
        }
    }

    fn check_due(&self, naive: &Replay) {
        let now = self.state.log_time();
        let mut due = self.state.due(now, usize::MAX);
        assert!(!due.more);
        let first: Vec<Holder> = due.holders.iter().take(1).cloned().collect();
        due.holders.sort();
        assert_eq!(naive.world.ended(), due.holders, "what has ended");
        let limited = self.state.due(now, 1);
        assert_eq!(limited.holders, first);
        assert_eq!(limited.more, due.holders.len() > 1);
    }

    /// The history holds the events of every revision above its floor, and only those can be read.
    fn check_events(&self, entry: &LogEntry, before: &State, applied: &Applied) {
        let restored = restored(entry, &applied.outcomes);
        let mut made: BTreeSet<Revision> = self.kept.keys().copied().collect();
        let mut last = before.revision();
        for events in &applied.events {
            assert!(
                is_next(last, events.revision, restored.contains(&events.revision)),
                "revisions have no gap"
            );
            last = events.revision;
            made.insert(last);
        }
        assert_eq!(last, self.state.revision(), "every revision has its events");
        let history = self.state.history();
        let handed_out: BTreeMap<Revision, &Arc<RevisionEvents>> =
            applied.events.iter().map(|e| (e.revision, e)).collect();
        // The revisions in the gap below a restore were never made.
        let gaps = made.iter().map(|made| made.get().saturating_sub(1));
        let asked: BTreeSet<Revision> = gaps.map(Revision::new).chain(made.clone()).collect();
        for revision in asked.range(..self.state.revision()) {
            match history.next_after(*revision) {
                Ok(events) => {
                    assert!(*revision >= history.floor());
                    let events = events.expect("the revision was made");
                    assert_eq!(events.revision, revision.next());
                    if let Some(expected) = handed_out.get(&events.revision) {
                        assert_eq!(*expected, events);
                    }
                }
                Err(compacted) => {
                    assert!(*revision < history.floor());
                    assert_eq!(compacted.oldest, history.floor().next());
                }
            }
        }
        assert_eq!(history.next_after(self.state.revision()), Ok(None));
    }

    /// Applies the same commands in entries of their own: only the trimming of the history may depend on how they were
    /// packed. This also shows what a refused command leaves behind.
    fn check_split(&mut self, entry: &LogEntry, applied: &Applied) {
        if entry.commands.is_empty() {
            self.split.apply(entry);
        }
        for (envelope, expected) in entry.commands.iter().zip(&applied.outcomes) {
            let before = self.split.clone();
            let alone = LogEntry {
                commands: vec![envelope.clone()],
                ..entry.clone()
            };
            let outcome = self.split.apply(&alone).outcomes.remove(0);
            assert_eq!(&outcome, expected, "packed otherwise");
            check_outcome(&before, envelope, &outcome, &self.split);
            invariants::topics::hold(&before, &self.split, self.has_reports_before_topics);
            self.kept.insert(self.split.revision(), self.split.clone());
        }
        let mut expected = Picture::of(&self.state);
        expected.floor = self.split.history().floor();
        assert_same("packed otherwise", &expected, &Picture::of(&self.split));
        let floors = |state: &State| (state.history().floor(), state.history().upgrade_floor());
        if floors(&self.split) == floors(&self.state) {
            assert_eq!(self.split.digest(), self.state.digest());
        }
        self.split = self.state.clone();
    }

    /// Checks that a checkpoint holds everything that apply depends on.
    fn check_reload(&mut self, entry: &LogEntry, applied: &Applied) {
        let rows: Vec<Row> = self.reloaded.rows().collect();
        let mut loaded = State::from_rows(rows.clone()).expect("its own rows are a state");
        assert_eq!(loaded.rows().collect::<Vec<Row>>(), rows);
        assert_eq!(loaded.digest(), self.reloaded.digest());
        assert_eq!(loaded.bytes(), self.reloaded.bytes());
        let again = loaded.apply(entry);
        assert_eq!(again.outcomes, applied.outcomes);
        assert_eq!(again.events, applied.events);
        assert_eq!(loaded.digest(), self.state.digest());
        assert_eq!(loaded.bytes(), self.state.bytes());
        self.reloaded = loaded;
    }

    /// Every revision within reach reads as the state that was kept of it.
    fn check_past(&self) {
        for (revision, kept) in &self.kept {
            match self.state.at(*revision) {
                Ok(past) => {
                    assert_eq!(past.revision(), *revision);
                    let (expected, found) = (kept.present(), past);
                    assert!(expected.members(None).eq(found.members(None)));
                    assert!(
                        expected
                            .storage_versions(None)
                            .eq(found.storage_versions(None))
                    );
                    assert!(expected.storage_states(None).eq(found.storage_states(None)));
                    assert!(expected.migrations(None).eq(found.migrations(None)));
                    assert!(expected.rosters(None).eq(found.rosters(None)));
                    assert_eq!(expected.settings(), found.settings());
                    invariants::pages_are_whole(&found);
                    invariants::aliases_name_one_migration_each(&found);
                    // Checked often enough, but not for each revision after each entry.
                    if revision.get() % 7 == 0 {
                        invariants::indexes_are_what_the_objects_say(&found);
                        invariants::one_object_is_what_the_whole_state_has(&self.state, &found);
                    }
                }
                Err(OutOfReach::Compacted { oldest }) => {
                    assert_eq!(oldest, self.state.history().floor());
                    assert!(*revision < oldest);
                }
                Err(OutOfReach::Future { .. }) => panic!("{revision} was made"),
            }
        }
        let next = self.state.revision().next();
        assert!(matches!(
            self.state.at(next),
            Err(OutOfReach::Future { .. })
        ));
    }
}

fn told(outcome: &Outcome) -> Told {
    Told {
        revision: outcome.revision,
        changed: outcome.changed,
        result: outcome.result.clone().map_err(|refusal| plain(&refusal)),
    }
}

/// The revisions of the restores in an entry.
fn restored(entry: &LogEntry, outcomes: &[Outcome]) -> BTreeSet<Revision> {
    let commands = entry.commands.iter().zip(outcomes);
    let commands = commands.filter(|(_, outcome)| outcome.result.is_ok());
    let restores = commands.filter(|(one, _)| matches!(&*one.command, Command::Restore(_)));
    restores.map(|(_, outcome)| outcome.revision).collect()
}

/// Whether the revision follows the last one: only a restore leaves a gap.
fn is_next(last: Revision, revision: Revision, restores: bool) -> bool {
    let step = if restores { 1 << 40 } else { 1 };
    revision.get() == last.get() + step
}

/// The revision moves by one if something changed, or far by a restore; a refused command leaves only its outcome.
fn check_outcome(before: &State, envelope: &Envelope, outcome: &Outcome, after: &State) {
    if after.revision() == before.revision() {
        // A retry returns the outcome of the command that changed something then.
        assert!(outcome.revision <= before.revision());
        assert!(!outcome.changed || outcome.revision > Revision::ZERO);
    } else {
        let restores = matches!(&*envelope.command, Command::Restore(_));
        assert!(is_next(before.revision(), after.revision(), restores));
        assert_eq!(
            (outcome.revision, outcome.changed),
            (after.revision(), true)
        );
        assert!(outcome.result.is_ok());
    }
    if outcome.result.is_err() {
        let rows = |state: &State| -> Vec<Row> { state.rows().filter(outlives_refusal).collect() };
        let floors = (before.history().floor(), after.history().floor());
        if floors.0 == floors.1 {
            assert_eq!(
                rows(before),
                rows(after),
                "refused, and yet something changed"
            );
        }
    }
}

/// Whether a refused command must leave the row unchanged: every row except those of its session.
fn outlives_refusal(row: &Row) -> bool {
    !matches!(
        row,
        Row::Header { .. }
            | Row::Session(..)
            | Row::Outcome(..)
            | Row::Deadline(Holder::Session(_), _)
    )
}
