//! Property test: a log behaves like a plain vector.

use proptest::prelude::*;

use super::*;

/// The content of a log, without a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    /// The entries after the purged ones.
    pub(super) entries: Vec<LogRecord>,
    pub(super) purged: Option<LogId>,
}

impl Model {
    pub(super) fn next(&self) -> u64 {
        self.last().map_or(0, |last| last.index + 1)
    }

    pub(super) fn last(&self) -> Option<LogId> {
        self.entries.last().map(|entry| entry.id).or(self.purged)
    }

    pub(super) fn truncate_after(&mut self, index: u64) {
        self.entries.retain(|entry| entry.id.index <= index);
    }

    pub(super) fn purge(&mut self, id: LogId) {
        self.entries.retain(|entry| entry.id.index > id.index);
        self.purged = Some(id);
    }

    pub(super) fn check(&self, log: &Log) {
        assert_eq!(all(log), self.entries);
        assert_eq!(
            (log.last_log_id(), log.purged()),
            (self.last(), self.purged)
        );
    }
}

#[derive(Clone, Debug)]
enum Step {
    Append {
        count: u64,
        length: usize,
        new_term: bool,
    },
    /// Removes this many of the last entries.
    Truncate {
        back: u64,
    },
    Purge {
        ahead: u64,
    },
    Commit,
    Flush,
    Housekeep,
    Reopen,
    Read {
        from: u64,
        count: u64,
        max_bytes: usize,
    },
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..5_u64, 0..900_usize, prop::bool::weighted(0.2))
            .prop_map(|(count, length, new_term)| Step::Append { count, length, new_term }),
        2 => (0..6_u64).prop_map(|back| Step::Truncate { back }),
        1 => (0..8_u64).prop_map(|ahead| Step::Purge { ahead }),
        1 => Just(Step::Commit),
        4 => Just(Step::Flush),
        1 => Just(Step::Housekeep),
        1 => Just(Step::Reopen),
        3 => (0..40_u64, 0..10_u64, 0..2000_usize)
            .prop_map(|(from, count, max_bytes)| Step::Read { from, count, max_bytes }),
    ]
}

fn flush(log: &Log) {
    while log.flush().unwrap() {}
}

fn check_read(model: &Model, log: &Log, from: u64, count: u64, max_bytes: usize) {
    let mut bytes = 0;
    let expected: Vec<_> = model
        .entries
        .iter()
        .filter(|entry| (from..from + count).contains(&entry.id.index))
        .enumerate()
        .take_while(|(position, entry)| {
            bytes += entry.payload.len();
            *position == 0 || bytes <= max_bytes
        })
        .map(|(_, entry)| entry.clone())
        .collect();
    assert_eq!(
        log.entries(from..from + count, max_bytes).unwrap(),
        expected
    );
}

proptest! {
    #![proptest_config(crate::cases::config(300))]

    #[test]
    fn a_log_behaves_like_a_vector(steps in prop::collection::vec(any_step(), 1..60), cache in 0..3000_usize) {
        let disk = formatted();
        let config = LogConfig { cache_bytes_max: cache, ..config() };
        let reopen = || Log::open(Arc::new(disk.clone()), directory(), config.clone()).unwrap().0;
        let (mut log, mut model, mut term, mut committed) = (reopen(), Model::default(), 1, None);
        for step in steps {
            match step {
                Step::Append { count, length, new_term } => {
                    term += u64::from(new_term);
                    let next = model.next();
                    let entries: Vec<_> = (next..next + count).map(|index| entry_of(term, index, length)).collect();
                    enqueue(&log, entries.clone());
                    model.entries.extend(entries);
                }
                Step::Truncate { back } => {
                    let to = model.next().saturating_sub(1 + back);
                    let floor = model.purged.max(committed).map_or(0, |id: LogId| id.index);
                    if log.log_id(to.max(floor)).is_some() {
                        log.truncate_after(Some(to.max(floor))).unwrap();
                        model.truncate_after(to.max(floor));
                    }
                }
                Step::Purge { ahead } => {
                    let index = model.purged.map_or(0, |id| id.index + 1) + ahead;
                    let purged = log.log_id(index).unwrap_or(id(term, index));
                    log.purge(purged).unwrap();
                    model.purge(purged);
                }
                Step::Commit => {
                    if let Some(last) = model.last() {
                        log.save_committed(last).unwrap();
                        committed = Some(last);
                    }
                }
                Step::Flush => flush(&log),
                Step::Housekeep => log.housekeep().unwrap(),
                Step::Reopen => {
                    flush(&log);
                    log = reopen();
                }
                Step::Read { from, count, max_bytes } => check_read(&model, &log, from, count, max_bytes),
            }
            model.check(&log);
        }
        flush(&log);
        model.check(&reopen());
    }
}
