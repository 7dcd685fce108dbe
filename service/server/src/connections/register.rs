//! The register of a door's connections: admits new ones, and decides which ones must give way or be cut.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::answers::Answers;
use super::door::{Door, Introduced, Rules, Speaks};
use super::line::{Line, Why};
use crate::limits::ANSWER_PATIENCE;
use crate::metrics::DoorMetrics;
use crate::stop::Stop;

/// How often connections are checked for silence and unread answers.
const LOOK: Duration = Duration::from_millis(250);

/// Refused and cut connections are logged at most this often.
const TELL: Duration = Duration::from_secs(1);

/// The connections of one door.
pub(super) struct Register {
    door: Door,
    rules: Rules,
    lines: Mutex<Lines>,
    answers: Arc<Answers>,
    open: Gauge,
    metrics: Arc<DoorMetrics>,
}

#[derive(Default)]
struct Lines {
    last: u64,
    all: BTreeMap<u64, Arc<Line>>,
    sources: BTreeMap<Arc<str>, usize>,
    untold: Untold,
}

/// Refusals, cuts and failed handshakes since they were last logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Untold {
    refused: usize,
    cut: [usize; Why::ALL.len()],
    failed_handshakes: usize,
    /// The address and the fault of the last failed handshake.
    last_failed: Option<String>,
}

/// A connection's place in the register.
pub(super) struct Entered {
    register: Arc<Register>,
    line: Arc<Line>,
}

impl Register {
    pub(super) fn new(door: Door, metrics: &Arc<DoorMetrics>) -> Self {
        Self {
            door,
            rules: door.rules(),
            lines: Mutex::default(),
            answers: Arc::new(Answers::new(metrics.unsent(door))),
            open: metrics.open(door),
            metrics: Arc::clone(metrics),
        }
    }

    /// The most handshakes of transport security that are under way.
    pub(super) fn handshakes_max(&self) -> usize {
        self.rules.handshakes
    }

    /// A place for a connection from `remote`, for which another one may be cut; `None` if none can be spared.
    pub(super) fn enter(self: &Arc<Self>, remote: &str) -> Option<Entered> {
        let source: Arc<str> = source(remote).into();
        let mut lines = self.lock();
        if !self.make_room(&mut lines, &source) {
            lines.untold.refused += 1;
            self.metrics.refused(self.door);
            return None;
        }
        lines.last += 1;
        let line = Arc::new(Line::new(lines.last, Arc::clone(&source), &self.answers));
        lines.all.insert(line.id, Arc::clone(&line));
        *lines.sources.entry(source).or_default() += 1;
        self.open.inc();
        Some(Entered {
            register: Arc::clone(self),
            line,
        })
    }

    /// Makes a place, by cutting other connections if necessary. False: none can be spared.
    fn make_room(&self, lines: &mut Lines, source: &str) -> bool {
        let rules = &self.rules;
        if lines.all.len() >= rules.strangers {
            let strangers = lines.all.values().filter(|line| !line.is_introduced());
            if strangers.clone().count() >= rules.strangers {
                // The oldest one from the address with most connections, so that one address cannot push out another.
                let oldest =
                    strangers.min_by_key(|line| (Reverse(lines.of(&line.source)), line.id));
                let oldest = oldest.map(|line| line.id);
                self.give_way(lines, oldest);
            }
        }
        if lines.of(source) >= rules.per_source {
            let idlest = self.idlest(lines, |line| *line.source == *source);
            if !self.give_way(lines, idlest) {
                return false;
            }
        }
        if lines.all.len() >= rules.connections {
            let idlest = self.idlest(lines, |_| true);
            return self.give_way(lines, idlest);
        }
        true
    }

    /// The connection among these that can best be spared: from the address with most connections, first one that has
    /// not introduced itself, otherwise the one that has been idle for longest.
    fn idlest(&self, lines: &Lines, which: impl Fn(&Line) -> bool) -> Option<u64> {
        let spared = lines.all.values().filter(|line| {
            which(line) && (!line.is_introduced() || (self.rules.idle_give_way && line.is_idle()))
        });
        let idlest = spared.min_by_key(|line| {
            let most = Reverse(lines.of(&line.source));
            (most, line.is_introduced(), line.heard(), line.id)
        });
        idlest.map(|line| line.id)
    }

    fn give_way(&self, lines: &mut Lines, id: Option<u64>) -> bool {
        let Some(line) = id.and_then(|id| lines.remove(id)) else {
            return false;
        };
        self.open.dec();
        self.cut(lines, &line, Why::GaveWay);
        true
    }

    fn cut(&self, lines: &mut Lines, line: &Line, why: Why) {
        if line.cut(why) {
            lines.untold.cut[why as usize] += 1;
            self.metrics.cut(self.door, why);
        }
    }

    fn leave(&self, line: &Line) {
        if self.lock().remove(line.id).is_some() {
            self.open.dec();
        }
    }

    fn handshake_failed(&self, line: &Line, error: &io::Error) {
        self.metrics.handshake_failed(self.door);
        let untold = &mut self.lock().untold;
        untold.failed_handshakes += 1;
        untold.last_failed = Some(format!("{}: {error}", line.source));
    }

    /// See [`super::Connections::watch_over`].
    pub(super) async fn watch_over(&self, stop: Stop) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut told = Instant::now();
        loop {
            tokio::select! {
                biased;
                () = stop.requested() => return,
                () = self.answers.over.notified() => self.relieve(),
                now = ticks.tick() => {
                    self.look(now);
                    self.relieve();
                    if now - told >= TELL {
                        told = now;
                        self.tell();
                    }
                }
            }
        }
    }

    /// Cuts connections that have not introduced themselves in time, send nothing, or read nothing.
    fn look(&self, now: Instant) {
        let rules = &self.rules;
        let mut lines = self.lock();
        let why = |line: &Line| {
            let is_strange = !line.is_introduced() && now - line.began >= rules.introduction;
            let is_silent = rules.silence.is_some_and(|most| {
                !line.is_pinged() && line.is_idle() && now - line.heard() >= most
            });
            match line {
                line if line.is_cut() => None,
                _ if is_strange || is_silent => Some(Why::Silent),
                line if line.has_expired() => Some(Why::Expired),
                line if line.unsent.stuck() >= ANSWER_PATIENCE => Some(Why::Untaken),
                _ => None,
            }
        };
        let ending = lines
            .all
            .values()
            .filter_map(|line| Some((Arc::clone(line), why(line)?)));
        for (line, why) in ending.collect::<Vec<_>>() {
            self.cut(&mut lines, &line, why);
        }
    }

    /// Cuts the connections that hold most unsent bytes until the rest is within the limit.
    fn relieve(&self) {
        let excess = self.answers.excess();
        if excess == 0 {
            return;
        }
        let mut lines = self.lock();
        let mut holding: Vec<Arc<Line>> = lines.all.values().cloned().collect();
        holding.sort_by_key(|line| Reverse(line.unsent.own()));
        let mut freed = 0;
        for line in holding {
            if freed >= excess {
                return;
            }
            freed += line.unsent.own();
            self.cut(&mut lines, &line, Why::Untaken);
        }
    }

    /// Logs the refusals and cuts since the last log line in one line.
    fn tell(&self) {
        let untold = std::mem::take(&mut self.lock().untold);
        if untold == Untold::default() {
            return;
        }
        let cut = Why::ALL.map(|why| (why.name(), untold.cut[why as usize]));
        tracing::warn!(
            door = self.door.name(),
            refused = untold.refused,
            ?cut,
            failed_handshakes = untold.failed_handshakes,
            last_failed = untold.last_failed,
            max = self.rules.connections,
            "closed connections"
        );
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    /// The number of connections from `source`.
    fn of(&self, source: &str) -> usize {
        self.sources.get(source).copied().unwrap_or_default()
    }

    fn remove(&mut self, id: u64) -> Option<Arc<Line>> {
        let line = self.all.remove(&id)?;
        if let Some(count) = self.sources.get_mut(&line.source) {
            *count -= 1;
            if *count == 0 {
                self.sources.remove(&line.source);
            }
        }
        Some(line)
    }
}

impl Entered {
    pub(super) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    pub(super) fn introduced(&self) -> Introduced {
        self.register.rules.introduced
    }

    pub(super) fn speaks(&self) -> Speaks {
        self.register.rules.speaks
    }

    pub(super) fn cut(&self, why: Why) {
        let mut lines = self.register.lock();
        self.register.cut(&mut lines, &self.line, why);
    }

    /// Notes that the other end and this replica did not agree on transport security.
    pub(super) fn handshake_failed(&self, error: &io::Error) {
        self.register.handshake_failed(&self.line, error);
    }
}

impl Drop for Entered {
    /// The connection keeps its place for as long as a task serves it.
    fn drop(&mut self) {
        self.register.leave(&self.line);
    }
}

/// The address without its port.
fn source(remote: &str) -> &str {
    remote
        .rsplit_once(':')
        .map_or(remote, |(address, _)| address)
}
