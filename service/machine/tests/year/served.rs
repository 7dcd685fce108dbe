//! Versions of the API that come and go in a simulated year, each promised until a date, while servers are upgraded, rolled
//! back, killed, cut off and replaced, and the cluster is away. A server shows the version by its gate alone.
//!
//! At every moment whoever could be asked by a client can serve what another one shows, and none stops before its date.

use std::collections::BTreeSet;

use synod_machine::{Answer, Command, check_drop};
use synod_model::{
    Adopt, ApiVersion, BinaryVersion, Endpoint, Epoch, ErrorKind, GroupResource, InstanceId, Join,
    Kind, Labels, Renew, Report, ReportEntry, Revision, SERVED, Stance, StatementNumber, StoredIn,
    Ttl, VersionSet, WITHDRAWN, WallTime,
};

use crate::agenda::Time;
use crate::cluster::{BEGIN_WALL_MS, Cluster};
use crate::process::member;
use crate::raised::raised;
use crate::random::Random;

const SERVERS: usize = 4;
/// How long the gate stays open after a renewal was sent, as of every server.
const PROOF_MS: u64 = 13_500;
/// How many versions come and go.
const GENERATIONS: u64 = 60;

const LEGAL: &str = "the year uses legal names and numbers";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Release {
    Without,
    Serves { date: WallTime },
    Withdraws,
}

#[derive(Debug, Default)]
struct Tally {
    refused: u32,
    killed: u32,
    rolled_back: u32,
    /// Moments at which all would have it withdrawn and it is promised still.
    waited: u32,
    withdrawn: u32,
    /// Moments at which the code might have gone, but for a server that was gone.
    drained: u32,
    shown: u32,
}

/// A process: one that is cut off goes on until its proof of membership ends.
#[derive(Debug)]
struct Process {
    server: usize,
    instance: u64,
    release: Release,
    epoch: Option<Epoch>,
    said: u64,
    proof_until: Time,
    is_cut_off: bool,
    /// Whether it shows the version; `None`: its gate is closed.
    shows: Option<bool>,
    selected_revision: Revision,
}

struct Year {
    random: Random,
    now: Time,
    away_until: Time,
    cluster: Cluster,
    processes: Vec<Process>,
    target: Release,
    before: Release,
    instances: u64,
    tally: Tally,
}

fn topic() -> GroupResource {
    GroupResource::new("widgets.example.io.served.synod", "v1beta1").expect(LEGAL)
}

fn value(text: &str) -> ApiVersion {
    ApiVersion::parse(text).expect(LEGAL)
}

impl Release {
    fn can(self) -> bool {
        self != Self::Without
    }

    fn entry(self) -> ReportEntry {
        let both = [SERVED, WITHDRAWN];
        let (values, preferred, serve_until) = match self {
            Self::Without => (&both[1..], WITHDRAWN, None),
            Self::Serves { date } => (&both[..], SERVED, Some(date)),
            Self::Withdraws => (&both[..], WITHDRAWN, None),
        };
        ReportEntry {
            resource: topic(),
            kind: Kind::parse("Widget").expect(LEGAL),
            decodable: values.iter().map(|text| value(text)).collect(),
            served: VersionSet::default(),
            stance: Stance::Voting {
                preferred: value(preferred),
            },
            serve_until,
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
        }
    }
}

impl Process {
    fn is_open(&self, now: Time) -> bool {
        self.shows.is_some() && now < self.proof_until
    }

    fn number(&mut self) -> StatementNumber {
        self.said += 1;
        StatementNumber::new(self.said).expect(LEGAL)
    }

    /// Joins, reports, and opens its gate. Returns whether it was refused.
    fn enters(&mut self, cluster: &mut Cluster, now: Time) -> bool {
        let join = Command::Join(Join {
            id: member(self.server),
            instance: InstanceId::parse(&format!("process-{}", self.instance)).expect(LEGAL),
            ttl: Ttl::DEFAULT,
            labels: Labels::default(),
            version: BinaryVersion::default(),
            endpoint: Endpoint::default(),
            lost_epoch: None,
            gated: true,
        });
        let Ok(Answer::Joined { epoch, .. }) = cluster.send(join) else {
            panic!("whoever asks may join");
        };
        self.said = 0;
        let report = Report {
            member: member(self.server),
            epoch,
            number: self.number(),
            entries: vec![self.release.entry()],
            replace: true,
        };
        match cluster.send(Command::Report(report)) {
            Ok(Answer::Reported(told)) => {
                self.epoch = Some(epoch);
                self.proof_until = now + PROOF_MS;
                self.selected_revision = told[0].selected_revision;
                let encoding = told[0].encoding.as_ref().expect("one is selected");
                self.shows = Some(encoding.as_str() == SERVED);
                false
            }
            Err(refusal) if refusal.kind == ErrorKind::NotDecodable => true,
            other => panic!("a report is taken or refused, not {other:?}"),
        }
    }

    /// Renews, and follows the selection: it stops showing the one before, and then adopts.
    fn lives(&mut self, cluster: &mut Cluster, now: Time, looks: bool) {
        let epoch = self.epoch.expect("it has joined");
        let id = member(self.server);
        let renew = Renew {
            member: id.clone(),
            epoch,
        };
        if cluster.renew(renew).is_err() {
            (self.epoch, self.shows) = (None, None);
            return;
        }
        self.proof_until = now + PROOF_MS;
        let kept = cluster.state.present().storage_state(&topic());
        let status = kept.expect("it is reported").row.status.clone();
        if !looks || status.selected_revision == self.selected_revision {
            return;
        }
        let adopt = Adopt {
            member: id,
            epoch,
            number: self.number(),
            resource: topic(),
            selected_revision: status.selected_revision,
        };
        let adopted = cluster.send(Command::Adopt(adopt));
        adopted.expect("it has just read the selection");
        self.selected_revision = status.selected_revision;
        self.shows = status.selected.map(|value| value.as_str() == SERVED);
    }
}

impl Year {
    fn new(seed: u64) -> Self {
        let mut cluster = Cluster::formed();
        for command in raised() {
            let raised = cluster.send(command);
            raised.expect("the only replica knows machine version 2");
        }
        Self {
            random: Random::new(seed),
            now: 0,
            away_until: 0,
            cluster,
            processes: Vec::new(),
            target: Release::Without,
            before: Release::Without,
            instances: 0,
            tally: Tally::default(),
        }
    }

    fn wall(&self) -> WallTime {
        WallTime::from_millis(BEGIN_WALL_MS + self.now)
    }

    /// Passes some seconds, in which servers live and fail.
    fn step(&mut self) {
        self.now += self.random.between(500, 4_000);
        self.cluster.advance(self.now);
        self.cluster_comes_and_goes();
        let now = self.now;
        self.processes
            .retain(|process| !process.is_cut_off || process.is_open(now));
        if self.cluster.answers() {
            let was = self.selected();
            self.cluster.expire();
            self.servers_live();
            self.check_withdrawal(was.as_deref());
        }
        self.check_what_is_shown();
    }

    fn cluster_comes_and_goes(&mut self) {
        if !self.cluster.answers() && self.now >= self.away_until {
            self.cluster.returns();
        } else if self.cluster.answers() && self.random.percent(1) {
            self.away_until = self.now + self.random.between(1_000, 40_000);
            self.cluster.goes();
        }
    }

    fn servers_live(&mut self) {
        for server in 0..SERVERS {
            let present = |process: &Process| process.server == server && !process.is_cut_off;
            let Some(at) = self.processes.iter().position(present) else {
                self.starts(server);
                continue;
            };
            if self.random.percent(2) {
                // It is cut off, or killed; another process may take its place at once.
                self.tally.killed += 1;
                self.processes[at].is_cut_off = true;
                continue;
            }
            if self.random.percent(15) && self.processes[at].release != self.target {
                // It is stopped, and starts as the present release.
                self.processes.remove(at);
                continue;
            }
            let looks = self.random.percent(60);
            let process = &mut self.processes[at];
            if process.epoch.is_some() {
                process.lives(&mut self.cluster, self.now, looks);
            } else if process.enters(&mut self.cluster, self.now) {
                self.processes.remove(at);
                self.tally.refused += 1;
            }
        }
    }

    /// A server starts as the present release, sometimes as the one before; where that is refused, it stays down for now.
    fn starts(&mut self, server: usize) {
        let is_rolled_back = self.random.percent(20);
        let release = if is_rolled_back {
            self.before
        } else {
            self.target
        };
        self.instances += 1;
        let mut process = Process {
            server,
            instance: self.instances,
            release,
            epoch: None,
            said: 0,
            proof_until: 0,
            is_cut_off: false,
            shows: None,
            selected_revision: Revision::ZERO,
        };
        if process.enters(&mut self.cluster, self.now) {
            self.tally.refused += 1;
            return;
        }
        self.tally.rolled_back += u32::from(is_rolled_back);
        self.processes.push(process);
    }

    fn selected(&self) -> Option<String> {
        let kept = self.cluster.state.present().storage_state(&topic());
        let selected = kept.and_then(|kept| kept.row.status.selected.clone());
        selected.map(|value| value.to_string())
    }

    /// Nobody withdraws the version before the last date, by the clock of this year.
    fn check_withdrawal(&mut self, was: Option<&str>) {
        let kept = self.cluster.state.present().storage_state(&topic());
        let status = kept.expect("it is reported").row.status.clone();
        let date = status.serve_until.map(|until| until.date);
        let is_promised = date.is_some_and(|date| date > self.wall());
        if was == Some(SERVED) && self.selected().as_deref() == Some(WITHDRAWN) {
            assert!(
                !is_promised,
                "it is withdrawn at {}, before {date:?}",
                self.wall()
            );
            self.tally.withdrawn += 1;
        }
        let connected = self.processes.iter().filter(|one| !one.is_cut_off);
        let mut connected = connected.peekable();
        let all =
            connected.peek().is_some() && connected.all(|one| one.release == Release::Withdraws);
        let is_served = self.selected().as_deref() == Some(SERVED);
        self.tally.waited += u32::from(all && is_served && is_promised);
        let is_drained = status.persisted.len() == 1;
        self.tally.drained += u32::from(status.agreed == Some(value(WITHDRAWN)) && !is_drained);
    }

    /// Whoever a client may ask can serve what it has seen at another.
    fn check_what_is_shown(&mut self) {
        let open: Vec<&Process> = self
            .processes
            .iter()
            .filter(|process| process.is_open(self.now))
            .collect();
        let shown = open.iter().find(|process| process.shows == Some(true));
        // A process whose place another one has taken is asked by nobody, though it may still answer whom it has.
        let is_last = |process: &Process| {
            let mut others = self.processes.iter();
            others.all(|other| other.server != process.server || other.instance <= process.instance)
        };
        let cannot = open
            .iter()
            .find(|process| !process.release.can() && is_last(process));
        if let (Some(shown), Some(cannot)) = (shown, cannot) {
            panic!(
                "at {} {shown:?} shows what {cannot:?} cannot serve",
                self.now
            );
        }
        self.tally.shown += u32::from(shown.is_some());
    }

    /// Every server is to run this release, and does so once this returns.
    fn rolls_out(&mut self, target: Release) {
        (self.before, self.target) = (self.target, target);
        self.runs_until(|year| {
            let connected = year.processes.iter().filter(|one| !one.is_cut_off);
            let mut count = 0;
            let all = connected
                .inspect(|_| count += 1)
                .all(|one| one.release == target && one.epoch.is_some());
            all && count == SERVERS
        });
    }

    fn runs_until(&mut self, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..20_000 {
            self.step();
            if self.cluster.answers() && is_so(self) {
                return;
            }
        }
        panic!("it never comes to this: {:#?}", self.tally);
    }

    fn is_free(&self) -> bool {
        let past = self.cluster.state.present();
        let now = self.cluster.state.log_time();
        check_drop(&past, now, &topic(), &value(SERVED)).is_safe()
    }

    /// A version is introduced, promised for some minutes, withdrawn, and its code removed.
    fn generation(&mut self) {
        let promise = self.random.between(10_000, 2_400_000);
        let date = WallTime::from_millis(self.wall().as_millis() + promise);
        self.rolls_out(Release::Serves { date });
        self.runs_until(|year| year.selected().as_deref() == Some(SERVED));
        // For a while it is only shown: a server that is rolled back too far is refused.
        for _ in 0..self.random.between(1, 100) {
            self.step();
        }
        self.rolls_out(Release::Withdraws);
        // From here on nobody goes back to the release that serves it, or it would never go.
        self.before = Release::Withdraws;
        self.runs_until(Self::is_free);
        self.rolls_out(Release::Without);
    }
}

#[test]
fn versions_come_and_go_for_a_year_and_whoever_is_asked_serves_what_another_one_shows() {
    let seed = crate::number("SYNOD_YEAR_SEED", crate::FIRST_SEED);
    for seed in seed..seed + crate::number("SYNOD_YEARS", crate::YEARS) {
        let mut year = Year::new(seed);
        for _ in 0..GENERATIONS {
            year.generation();
        }
        let tally = &year.tally;
        assert!(u64::from(tally.withdrawn) >= GENERATIONS, "{tally:#?}");
        for count in [
            tally.refused,
            tally.killed,
            tally.rolled_back,
            tally.waited,
            tally.drained,
            tally.shown,
        ] {
            assert!(count > 0, "{tally:#?}");
        }
    }
}
