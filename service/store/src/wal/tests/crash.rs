//! Power cuts at arbitrary moments: acknowledged entries survive, and no others are invented.

use super::model::Model;
use super::*;

/// Random numbers that replay from a seed: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// A replica that appends, truncates and purges until its machine fails.
struct Run {
    disk: SimDisk,
    random: Random,
    term: u64,
    /// The log after each enqueued step since the last start; the first is what was recovered.
    history: Vec<Model>,
    /// The number of acknowledged steps.
    acknowledged: Arc<Mutex<usize>>,
}

impl Run {
    fn new(seed: u64) -> Self {
        Self {
            disk: formatted(),
            random: Random(seed),
            term: 1,
            history: vec![Model::default()],
            acknowledged: Arc::default(),
        }
    }

    fn model(&self) -> Model {
        self.history[self.history.len() - 1].clone()
    }

    /// Takes random steps until one fails.
    fn live(&mut self, log: &Log) {
        for _ in 0..200 {
            let alive = match self.random.below(10) {
                0..5 => self.append(log),
                5 => self.truncate(log),
                6 if self.random.below(3) == 0 => self.purge(log),
                7 => log.housekeep().is_ok(),
                _ => log.flush().is_ok(),
            };
            if !alive {
                return;
            }
        }
    }

    fn append(&mut self, log: &Log) -> bool {
        let mut model = self.model();
        let (count, length) = (1 + self.random.below(4), self.random.below(1500));
        self.term += u64::from(self.random.below(10) == 0);
        let entries: Vec<_> = (model.next()..model.next() + count)
            .map(|index| entry_of(self.term, index, usize::try_from(length).unwrap()))
            .collect();
        model.entries.extend(entries.clone());
        self.history.push(model);
        let (step, acknowledged) = (self.history.len() - 1, Arc::clone(&self.acknowledged));
        let done = Box::new(move |result: std::io::Result<()>| {
            if result.is_ok() {
                *acknowledged.lock().unwrap() = step;
            }
        });
        log.enqueue_append(entries, done).is_ok()
    }

    fn truncate(&mut self, log: &Log) -> bool {
        let mut model = self.model();
        let Some(position) = model.entries.len().checked_sub(2) else {
            return true;
        };
        let index = model.entries[position].id.index;
        model.truncate_after(index);
        self.history.push(model);
        self.term += 1;
        log.truncate_after(Some(index)).is_ok()
    }

    fn purge(&mut self, log: &Log) -> bool {
        let mut model = self.model();
        let Some(entry) = model.entries.get(model.entries.len() / 2).cloned() else {
            return true;
        };
        model.purge(entry.id);
        self.history.push(model);
        log.purge(entry.id).is_ok()
    }

    /// Opens and checks what the crash left.
    fn recover(&mut self, case: &str) -> Log {
        let (log, recovery) = try_open(&self.disk).unwrap_or_else(|e| panic!("{case}: {e}"));
        if let Some(cut) = recovery.cut {
            assert!(
                !cut.complete_looking,
                "{case}: a torn write was taken for damage"
            );
        }
        let recovered = Model {
            entries: all(&log),
            purged: log.purged(),
        };
        let acknowledged = std::mem::take(&mut *self.acknowledged.lock().unwrap());
        let allowed = &self.history[acknowledged..];
        assert!(
            allowed.contains(&recovered),
            "{case}: recovered up to {:?}, acknowledged {:?}",
            recovered.last(),
            allowed[0].last()
        );
        self.history = vec![recovered];
        log
    }
}

// Guarantee: W-01
#[test]
fn a_power_cut_at_any_moment_loses_nothing_that_was_acknowledged() {
    let mut cuts = 0;
    for seed in 0..400 {
        let mut run = Run::new(seed);
        for life in 0..12 {
            let case = format!("seed {seed}, life {life}");
            let log = run.recover(&case);
            run.disk.cut_power_after(run.random.below(60));
            run.live(&log);
            cuts += u32::from(run.disk.unsynced_bytes() > 0);
            let seed = run.random.below(u64::MAX);
            run.disk.crash(seed);
        }
        drop(run.recover(&format!("seed {seed}, at last")));
    }
    assert!(cuts > 1000, "only {cuts} crashes had anything to lose");
}

#[test]
fn a_failed_sync_and_a_power_cut_after_the_restart_lose_nothing_that_was_acknowledged() {
    for seed in 0..300 {
        let mut run = Run::new(1_000_000 + seed);
        for life in 0..8 {
            let case = format!("seed {seed}, life {life}");
            let log = run.recover(&case);
            run.disk.fail_sync_after(run.random.below(12));
            run.live(&log);
            // The process ends because of the error; the machine may go on or not.
            run.disk.fail_sync_after(u64::MAX);
            run.disk.kill();
            if run.random.below(2) == 0 {
                drop(run.recover(&format!("{case}, restarted")));
            }
            let seed = run.random.below(u64::MAX);
            run.disk.crash(seed);
        }
        drop(run.recover(&format!("seed {seed}, at last")));
    }
}

#[test]
fn one_seed_gives_one_outcome() {
    let trace = |seed| {
        let mut run = Run::new(seed);
        let log = run.recover("first");
        run.disk.cut_power_after(40);
        run.live(&log);
        run.disk.crash(seed);
        run.disk.files()
    };
    assert_eq!(trace(11), trace(11));
    assert_ne!(trace(11), trace(12));
}
