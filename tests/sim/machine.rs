//! A simulated machine: a replica, its disk, and its clock.

mod bare;
mod clocked;
mod whole;

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use synod_model::WallTime;
use synod_server::consensus::Consensus;
use synod_server::seams::{Flushing, NoLog, Offload, Seams, WallClock};
use synod_store::SimDisk;

use crate::net::{Host, Net};
use crate::trace::Trace;

pub(crate) use clocked::Clocked;

/// What runs on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Consensus alone.
    Bare,
    /// A whole replica with the program's own settings, except that it writes checkpoints more often.
    Whole,
}

/// A machine. Its replica runs between [`Machine::start`] and a crash.
pub(crate) struct Machine {
    pub(crate) host: Host,
    pub(crate) disk: SimDisk,
    /// Whether the replica waits to be added to the replica set, from its next start on.
    pub(crate) joins: bool,
    /// How long a write and its sync take, from its next start on, in simulated milliseconds.
    pub(crate) flush: RangeInclusive<u64>,
    kind: Kind,
    net: Net,
    trace: Trace,
    clock: Clocked,
    suspended: bool,
    consensus: Slot,
    /// Whether the replica may end by itself.
    may_end: Arc<AtomicBool>,
    /// Whether the replica has ended by itself since its last start.
    ended: Arc<AtomicBool>,
}

/// Entries from one checkpoint to the next: far fewer than in practice.
pub(crate) const CHECKPOINT_ENTRIES: u64 = 60;

/// Entries that the log keeps although a checkpoint holds them.
pub(crate) const KEPT_ENTRIES: u64 = 20;

/// Where a replica puts the handle of its consensus once it has started.
type Slot = Arc<Mutex<Option<Consensus>>>;

/// The parameters of a replica's start.
struct Boot {
    host: Host,
    seams: Seams,
    net: Net,
    started: Slot,
    trace: Trace,
    may_end: Arc<AtomicBool>,
    joins: bool,
    ended: Arc<AtomicBool>,
}

/// Records that a replica must end by itself, and ends it; a failure of the run unless it `may_end`.
async fn ended(end: End, why: impl fmt::Display, consensus: Consensus) {
    let End {
        trace,
        host,
        may_end,
        ended,
    } = end;
    if may_end.load(Ordering::Relaxed) {
        trace.add(format_args!("{host} ends: {why}"));
        consensus.shutdown().await;
        ended.store(true, Ordering::Relaxed);
    } else {
        trace.fail(format_args!("{host} must end: {why}"));
    }
}

/// What is done when a replica ends by itself.
struct End {
    trace: Trace,
    host: Host,
    may_end: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
}

impl Machine {
    /// A machine whose clock runs at `rate` thousandths of the world's.
    pub(crate) fn new(host: Host, kind: Kind, rate: u64, net: Net, trace: Trace) -> Self {
        let (disk, clock) = (SimDisk::new(), Clocked::new(rate));
        Self {
            host,
            disk,
            joins: false,
            flush: 1..=6,
            kind,
            net,
            trace,
            clock,
            suspended: false,
            consensus: Slot::default(),
            may_end: Arc::default(),
            ended: Arc::default(),
        }
    }

    /// From now on, the replica may end by itself.
    pub(crate) fn let_end(&self) {
        self.may_end.store(true, Ordering::Relaxed);
    }

    /// Whether the replica has ended by itself since its last start.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.clock.is_running()
    }

    /// The replica's consensus, once it has started.
    pub(crate) fn consensus(&self) -> Option<Consensus> {
        self.consensus.lock().unwrap().clone()
    }

    /// Whether its replica leads, as it sees it itself.
    pub(crate) fn leads(&self) -> bool {
        self.consensus()
            .is_some_and(|consensus| consensus.leadership().borrow().is_me)
    }

    /// Starts the replica with the present content of its disk.
    pub(crate) fn start(&mut self) {
        self.trace.add(format_args!("{} starts", self.host));
        self.consensus = Slot::default();
        self.ended = Arc::default();
        let boot = Boot {
            host: self.host,
            seams: self.seams(),
            net: self.net.clone(),
            started: Arc::clone(&self.consensus),
            trace: self.trace.clone(),
            may_end: Arc::clone(&self.may_end),
            joins: self.joins,
            ended: Arc::clone(&self.ended),
        };
        self.clock.start();
        match self.kind {
            Kind::Bare => self.clock.spawn(bare::run(boot)),
            Kind::Whole => self.clock.spawn(whole::run(boot)),
        }
    }

    /// Ends the process, as SIGKILL does: its connections are closed, and what it wrote is kept.
    pub(crate) fn kill(&mut self) {
        self.trace.add(format_args!("{} is killed", self.host));
        self.net.close(self.host);
        self.end();
        self.disk.kill();
    }

    /// Cuts the power: its peers receive nothing more, and unsynced writes may be lost.
    pub(crate) fn lose_power(&mut self, seed: u64) {
        let unsynced = self.disk.unsynced_bytes();
        self.trace.add(format_args!(
            "{} loses power, {unsynced} bytes unsynced",
            self.host
        ));
        self.net.silence(self.host);
        self.end();
        self.disk.crash(seed);
    }

    /// Reconnects a machine that lost power, before its replica is started.
    pub(crate) fn restore_power(&self) {
        self.net.unsilence(self.host);
    }

    /// Runs the replica for `millis` of the world's time.
    pub(crate) fn advance(&mut self, millis: u64) {
        if !self.suspended {
            self.clock.advance(millis);
        }
    }

    /// Suspends the machine, or resumes it. While it is suspended, nothing runs on it and its clock stands still.
    pub(crate) fn suspend(&mut self, suspended: bool) {
        let now = if suspended { "is suspended" } else { "goes on" };
        self.trace.add(format_args!("{} {now}", self.host));
        self.suspended = suspended;
    }

    /// Runs `task` on the machine; it ends with the process.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.clock.spawn(task);
    }

    fn end(&mut self) {
        self.consensus = Slot::default();
        self.clock.stop();
    }

    fn seams(&self) -> Seams {
        Seams {
            log: Arc::new(NoLog),
            dialer: self.net.dialer(self.host),
            disk: Arc::new(self.disk.clone()),
            wall: Arc::new(WorldClock(self.net.clone())),
            flushing: Flushing::Task {
                shortest: Duration::from_millis(*self.flush.start()),
                longest: Duration::from_millis(*self.flush.end()),
            },
            offload: Offload::Inline,
            traces: None,
        }
    }
}

/// The time of the world: dates that members name are meant by it. No other checker reads it.
struct WorldClock(Net);

impl WallClock for WorldClock {
    fn now(&self) -> WallTime {
        WallTime::from_millis(self.0.now())
    }
}
