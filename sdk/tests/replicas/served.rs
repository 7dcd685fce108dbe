//! A version of the API that is introduced and withdrawn while servers come and go: whoever sees it shown somewhere is served
//! by every live server, and nobody withdraws it before its date.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use synod_client::{
    Client, Error, ErrorKind, Gate, JoinOptions, LogTime, Membership, ReadOptions, ReportEntry,
    ResourceScope, RosterRule, SERVED, SetRoster, StorageVersionView, Topic, Ttl, WITHDRAWN,
    WallTime,
};
use synod_server::seams::{SystemWallClock, WallClock as _};
use tokio::task::{AbortHandle, JoinHandle};

use crate::cluster::{Cluster, id, legal, pass, short_grace, version, voting, within};

const BETA: &str = "served/v1beta1.widgets.example.io";
/// The `write_grace` of the test.
const GRACE: Duration = Duration::from_secs(10);
/// How long the version is promised.
const PROMISE: Duration = Duration::from_secs(50);
/// How often a server looks whether it still shows the version.
const LOOK: Duration = Duration::from_millis(20);

/// What clients can see of all live servers: who has the code of the version, and who shows it.
#[derive(Clone, Default)]
struct Discovery(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    /// By server, whether it can serve the version.
    can: BTreeMap<&'static str, bool>,
    shows: BTreeMap<&'static str, bool>,
    looks: usize,
    /// A server that could not serve what another one showed at some moment.
    broken: Vec<String>,
}

impl Discovery {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap()
    }

    fn opens(&self, server: &'static str, can: bool) {
        self.seen().can.insert(server, can);
        self.looked();
    }

    fn closes(&self, server: &str) {
        let mut seen = self.seen();
        seen.can.remove(server);
        seen.shows.remove(server);
    }

    fn shows(&self, server: &'static str, shown: bool) {
        let mut seen = self.seen();
        if seen.can.contains_key(server) {
            seen.shows.insert(server, shown);
        }
        drop(seen);
        self.looked();
    }

    /// Nobody may show what somebody cannot serve.
    fn looked(&self) {
        let mut seen = self.seen();
        seen.looks += 1;
        let shown = seen.shows.iter().find(|(_, shown)| **shown);
        let cannot = seen.can.iter().find(|(_, can)| !**can);
        if let (Some((shows, _)), Some((cannot, _))) = (shown, cannot) {
            let broken = format!("{shows} shows it, and {cannot} cannot serve it");
            seen.broken.push(broken);
        }
    }

    fn is_shown_by(&self) -> usize {
        self.seen().shows.values().filter(|shown| **shown).count()
    }
}

/// What a release says of the version.
#[derive(Clone, Copy)]
enum Release {
    /// It has no code for it.
    Without,
    /// It serves it, until this date at the earliest.
    Serves(WallTime),
    /// It has the code, and would rather not serve it.
    Withdraws,
}

impl Release {
    const fn can(self) -> bool {
        !matches!(self, Self::Without)
    }

    fn entry(self) -> ReportEntry {
        let topic = legal(Topic::parse(BETA));
        let name = topic.resource().qualified();
        let both = &[SERVED, WITHDRAWN];
        match self {
            Self::Without => voting(name, &[WITHDRAWN], WITHDRAWN),
            Self::Withdraws => voting(name, both, WITHDRAWN),
            Self::Serves(date) => ReportEntry {
                serve_until: Some(date),
                ..voting(name, both, SERVED)
            },
        }
    }
}

struct Server {
    name: &'static str,
    discovery: Discovery,
    membership: Membership,
    looking: AbortHandle,
}

impl Server {
    async fn start(
        client: &Client,
        discovery: &Discovery,
        name: &'static str,
        release: Release,
    ) -> Result<Self, Error> {
        let membership = within(client.join(JoinOptions::new(id(name)))).await?;
        within(membership.report(vec![release.entry()])).await?;
        discovery.opens(name, release.can());
        let looking = tokio::spawn(looks(membership.gate(), discovery.clone(), name));
        Ok(Self {
            name,
            discovery: discovery.clone(),
            membership,
            looking: looking.abort_handle(),
        })
    }

    async fn ends(self) {
        self.looking.abort();
        self.discovery.closes(self.name);
        let left = self.membership.leave(Duration::from_secs(5));
        within(left).await.unwrap();
    }

    /// Is cut off and goes on serving what it served, for as long as it may believe itself a member. Then it is gone.
    fn dies(self) -> JoinHandle<()> {
        self.membership.stop();
        self.looking.abort();
        let (name, discovery) = (self.name, self.discovery);
        tokio::spawn(async move {
            pass(GRACE / 2).await;
            discovery.closes(name);
        })
    }
}

/// Shows the version for as long as the gate permits it: each permit is for one look.
async fn looks(gate: Gate, discovery: Discovery, server: &'static str) {
    let topic = legal(Topic::parse(BETA));
    loop {
        let Ok(permit) = gate.permit(topic.resource()).await else {
            pass(LOOK).await;
            continue;
        };
        discovery.shows(server, permit.encoding().as_str() == SERVED);
        pass(LOOK).await;
        permit.done();
    }
}

async fn view(client: &Client) -> StorageVersionView {
    let topic = legal(Topic::parse(BETA));
    let view = client.storage_version(topic.resource(), ReadOptions::default());
    within(view).await.unwrap()
}

/// Until when the version is promised, and the log time now.
async fn promise(client: &Client) -> (LogTime, LogTime) {
    let view = view(client).await;
    let state = view.storage_state.unwrap();
    (state.serve_until_log_time.unwrap(), view.log_time)
}

/// Whether the code of the version may go, for sure.
async fn is_free(client: &Client) -> bool {
    let topic = legal(Topic::parse(BETA));
    let served = version(SERVED);
    let verdict = client.check_drop(topic.resource(), &served, ReadOptions::default());
    within(verdict).await.unwrap().is_safe_for_sure()
}

async fn asks_for_two(client: &Client) {
    let set = SetRoster {
        scope: legal(ResourceScope::parse("widgets.example.io.served.synod.*")),
        rule: RosterRule {
            least: 2,
            complete: true,
            ..RosterRule::default()
        },
        if_revision: None,
    };
    within(client.rosters().set(set)).await.unwrap();
}

/// The release without the version runs everywhere, and is replaced one server after the other.
async fn introduced(client: &Client, discovery: &Discovery, serves: Release) -> [Server; 3] {
    let start = |name, release| Server::start(client, discovery, name, release);
    let a = start("a", Release::Without).await.unwrap();
    let b = start("b", Release::Without).await.unwrap();
    let c = start("c", Release::Without).await.unwrap();
    a.ends().await;
    let a = start("a", serves).await.unwrap();
    b.ends().await;
    let b = start("b", serves).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(discovery.is_shown_by(), 0, "the third cannot serve it");
    c.ends().await;
    let c = start("c", serves).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(discovery.is_shown_by(), 3);
    let refused = start("d", Release::Without).await;
    let refused = refused.err().expect("it cannot serve what is advertised");
    assert_eq!(refused.kind(), ErrorKind::NotDecodable);
    [a, b, c]
}

// Guarantee: T-05
#[tokio::test(start_paused = true)]
async fn a_version_is_introduced_and_withdrawn_at_its_date_while_one_is_killed_and_one_rolled_back()
{
    let cluster = Cluster::start_with(3, short_grace(GRACE)).await;
    let client = cluster.client().await;
    asks_for_two(&client).await;
    let discovery = Discovery::default();
    let begin = SystemWallClock.now().as_millis();
    let promise_ms = u64::try_from(PROMISE.as_millis()).unwrap();
    let serves = Release::Serves(WallTime::from_millis(begin + promise_ms));
    let start = |name, release| Server::start(&client, &discovery, name, release);

    let [a, b, c] = introduced(&client, &discovery, serves).await;

    // The next release withdraws it. All run it, and nothing happens before the date.
    a.ends().await;
    let a = start("a", Release::Withdraws).await.unwrap();
    b.ends().await;
    let b = start("b", Release::Withdraws).await.unwrap();
    c.ends().await;
    let c = start("c", Release::Withdraws).await.unwrap();
    let (until, now) = promise(&client).await;
    let left = until.since(now);
    assert!(left > Duration::from_secs(20), "{left:?}");
    pass(left - Duration::from_secs(2)).await;
    assert_eq!(discovery.is_shown_by(), 3, "it is promised still");
    // One is rolled back just before the date: it stays.
    c.ends().await;
    let c = start("c", serves).await.unwrap();
    pass(Duration::from_secs(5)).await;
    let (until, now) = promise(&client).await;
    assert!(until < now);
    assert_eq!(
        discovery.is_shown_by(),
        3,
        "one server would have it served"
    );
    c.ends().await;

    // The date is past. One is killed just before the last one comes round, so it never adopts what all prefer, and goes on
    // for a while.
    let (_, killed) = promise(&client).await;
    let late = b.dies();
    let c = start("c", Release::Withdraws).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert!(!is_free(&client).await);
    let mut asked = 0;
    while !is_free(&client).await {
        asked += 1;
        assert!(asked < 1_000, "the code is never free to go");
        pass(Duration::from_millis(200)).await;
    }
    assert!(late.is_finished(), "not before the last server is gone");
    // It renewed at most a third of its TTL before it was killed.
    let (_, now) = promise(&client).await;
    let least = Ttl::DEFAULT.duration() / 2 + GRACE;
    assert!(now.since(killed) >= least, "{:?}", now.since(killed));
    assert_eq!(discovery.is_shown_by(), 0);
    // Its code may go: a release without it comes, and nothing of the others breaks.
    let d = start("d", Release::Without).await.unwrap();
    pass(Duration::from_secs(1)).await;
    for server in [a, c, d] {
        server.ends().await;
    }
    let seen = discovery.seen();
    assert_eq!(seen.broken, Vec::<String>::new());
    assert!(seen.looks > 1_000, "{}", seen.looks);
}
