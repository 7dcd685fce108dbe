//! `synod observe`: reads the discovery of API servers, round by round, and posts the hashes that they show. It is for
//! servers that do not report; of those that report, it posts the hashes beside their reports.

mod dismissal;
pub(crate) mod documents;
mod leases;
mod metrics;
mod named;
mod names;
mod round;
pub(crate) mod server;
mod servers;
mod sight;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clap::ArgMatches;
use futures::future::join_all;
use futures::{StreamExt as _, stream};
use synod_client::{
    Client, Error, GroupResource, ListStorageVersions, LockOptions, ObserveStorage, ObserverLook,
    ReadOptions, Revision, StorageState, StorageVersion, StorageVersionEntry, StorageVersionHash,
};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{connect, lease, metrics_port, process_name};
use crate::args::ObserveArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Reader};
use crate::signals::Signals;
use metrics::Metrics;
use named::NamedObserver;
use names::StoreNames;
use round::{Posted, Round, RoundEnd};
use server::{Look, Server};
use servers::Servers;
use sight::{Seen, sight};

/// The period until the cluster's setting is read.
const DISCOVERY_PERIOD: Duration = Duration::from_secs(600);

/// After a round in which something failed, the pause is the period divided by this.
const SOONER: u32 = 10;

/// The pause after a round that shows an encoding no member reports: one may just have changed its encoding.
const AGAIN: Duration = Duration::from_secs(1);

/// The most rounds in a row after this short pause. If discovery and reports still differ then, no change explains it.
const AGAIN_MAX: u32 = 3;

/// How many observations are posted at a time.
const AT_A_TIME: usize = 16;

/// How long to give up the lease and close the session for, after a signal: if it takes longer, they end by themselves.
const FAREWELL: Duration = Duration::from_millis(500);

pub(crate) async fn run(args: &ObserveArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    if !args.dismiss.is_empty() {
        return dismissal::run(args, matches).await;
    }
    let servers = Servers::of(args)?;
    let name = args.observer.as_deref().map(dismissal::observer_name);
    let naming = NamedObserver::of(args, name.transpose()?);
    let candidacy = args
        .elect
        .as_deref()
        .map(|lease| candidacy(lease, args.holder.as_deref()));
    let candidacy = candidacy.transpose()?;
    let mut signals = Signals::listen()?;
    let metrics = Metrics::default();
    if let Some(address) = args.listen_metrics {
        let shown = metrics.clone();
        metrics_port::serve(address, move || shown.text()).await?;
    }
    let client = connect(&args.client, matches).await?;
    let mut observer = Observer {
        args,
        client: client.clone(),
        servers,
        naming,
        metrics,
    };
    let ended = match candidacy {
        None => observer.alone(&mut signals).await,
        Some(options) => observer.elected(&options, &mut signals).await,
    };
    // If the session cannot be closed now, it ends by itself. That says nothing about what was posted.
    let _ = timeout(FAREWELL, client.close()).await;
    ended
}

/// How to hold the lease: under a name that a policy can grant.
fn candidacy(lease: &str, holder: Option<&str>) -> Result<LockOptions, Failure> {
    let key = lease::key("default", lease)?;
    let holder = lease::identity(holder.unwrap_or(&process_name("synod-observe")))?;
    Ok(LockOptions::new(key).holder(holder))
}

/// An observer: what it looks at, and whom it tells.
struct Observer<'a> {
    args: &'a ObserveArgs,
    client: Client,
    servers: Servers,
    naming: Option<NamedObserver>,
    metrics: Metrics,
}

impl Observer<'_> {
    async fn alone(&mut self, signals: &mut Signals) -> Result<Exit, Failure> {
        self.metrics.leads(true);
        tokio::select! {
            biased;
            _ = signals.next() => Ok(Exit::Ok),
            ended = Box::pin(self.rounds()) => ended,
        }
    }

    /// Looks while it holds this lease.
    ///
    /// One that looks a moment longer than it holds the lease does no harm: what it posts is refused if somebody has posted
    /// since it began to look.
    async fn elected(
        &mut self,
        options: &LockOptions,
        signals: &mut Signals,
    ) -> Result<Exit, Failure> {
        loop {
            let over = async {
                signals.next().await;
            };
            let lock = self.client.lock_unless(options.clone(), over).await?;
            let Some(lock) = lock else {
                return Ok(Exit::Ok);
            };
            self.metrics.leads(true);
            let ended = tokio::select! {
                biased;
                _ = signals.next() => Some(Ok(Exit::Ok)),
                error = lock.lost() => {
                    output::warn(&Failure::from(error).to_string());
                    None
                }
                ended = Box::pin(self.rounds()) => Some(ended),
            };
            self.metrics.leads(false);
            if let Some(ended) = ended {
                let _ = timeout(FAREWELL, lock.release()).await;
                return ended;
            }
        }
    }

    /// Runs rounds until standard output is closed, or once with `--once`.
    async fn rounds(&mut self) -> Result<Exit, Failure> {
        let args = self.args;
        let mut period = args.period;
        let mut again = 0;
        loop {
            let begun = Instant::now();
            let view = self.client.settings(ReadOptions::linearizable()).await;
            if let Ok(view) = &view {
                let longest = view.settings.discovery_period;
                period = Some(args.period.map_or(longest, |asked| asked.min(longest)));
            }
            let round = match view {
                Ok(_) => look(&self.client, &mut self.servers, self.naming.as_ref()).await,
                Err(error) => Err(error),
            };
            let is_whole = match round {
                Ok(round) => {
                    self.metrics.looked(&round);
                    if output::print(&round.render(args.output))? == Reader::Gone {
                        return Ok(Exit::Ok);
                    }
                    if round.is_doubtful() && again < AGAIN_MAX {
                        again += 1;
                        sleep(AGAIN).await;
                        continue;
                    }
                    if args.once {
                        return round.ended();
                    }
                    if !round.is_doubtful() {
                        again = 0;
                    }
                    round.is_whole()
                }
                Err(error) if args.once => return Err(error.into()),
                Err(error) => {
                    self.metrics.failed();
                    output::warn(&Failure::from(error).to_string());
                    false
                }
            };
            let period = period.unwrap_or(DISCOVERY_PERIOD);
            let pause = if is_whole { period } else { period / SOONER };
            sleep_until(begun + pause).await;
        }
    }
}

/// Looks at every server, and posts what was seen.
///
/// The cluster is read before the look: if a member or an observer changes it after that, the post is refused.
async fn look(
    client: &Client,
    servers: &mut Servers,
    naming: Option<&NamedObserver>,
) -> Result<Round, Error> {
    let (before, names) = known(client).await?;
    let (servers, hidden) = servers.now().await;
    let mut looks = join_all(servers.iter().map(Server::look)).await;
    looks.extend(hidden);
    names.lead_to_first(&mut looks);
    post(client, &before, (looks, &names), naming).await
}

/// Posts the part of what was seen that may be posted.
async fn post(
    client: &Client,
    before: &BTreeMap<GroupResource, Known>,
    (looks, names): (Vec<Look>, &StoreNames),
    naming: Option<&NamedObserver>,
) -> Result<Round, Error> {
    let nothing = Known::default();
    let own = before.iter().filter(|(_, known)| {
        let looks = &known.looks;
        naming.is_some_and(|naming| looks.iter().any(|look| look.observer == naming.observer))
    });
    let seen = sight(&looks, names, own.map(|(resource, _)| resource));
    let posting = seen.into_iter().map(|(resource, seen)| {
        let before = before.get(&resource).unwrap_or(&nothing);
        let looks = &looks;
        Box::pin(async move {
            let outcome = match naming {
                None => post_one(client, before, &resource, &seen).await,
                Some(naming) => {
                    let known = (before.revision, before.looks.as_slice());
                    naming.post(client, known, &resource, &seen, looks).await
                }
            };
            (resource, seen, outcome)
        })
    });
    let posted: Vec<_> = stream::iter(posting).buffered(AT_A_TIME).collect().await;
    let (after, _) = known(client).await?;
    let posted = posted.into_iter().map(|(resource, seen, outcome)| {
        let known = after.get(&resource);
        Posted {
            reported: known.is_some_and(|known| known.is_reported),
            against: known.map(Known::against).unwrap_or_default(),
            resource,
            seen,
            outcome,
        }
    });
    Ok(Round {
        posted: posted.collect(),
        looks,
    })
}

async fn post_one(
    client: &Client,
    known: &Known,
    resource: &GroupResource,
    seen: &Seen,
) -> RoundEnd {
    let Some(hashes) = seen.post(&known.hashes()) else {
        return RoundEnd::Withheld;
    };
    let observe = ObserveStorage {
        kind: seen.kind(),
        if_revision: Some(known.revision),
        ..ObserveStorage::unnamed(resource.clone(), hashes)
    };
    match client.observe(observe).await {
        Ok(answer) => match (answer.changed, seen.is_whole()) {
            (_, false) => RoundEnd::Widened(answer.header.revision),
            (true, true) => RoundEnd::Changed(answer.header.revision),
            (false, true) => RoundEnd::Unchanged,
        },
        Err(error) => RoundEnd::refused(&error),
    }
}

/// What the cluster knows of a resource.
#[derive(Debug, Default)]
struct Known {
    /// The resource version of its storage state; zero if it has none.
    revision: Revision,
    observed: BTreeSet<StorageVersionHash>,
    /// The hashes of what members report that they encode.
    said: BTreeSet<StorageVersionHash>,
    is_reported: bool,
    is_contradicted: bool,
    /// The looks of named observers.
    looks: Vec<ObserverLook>,
}

/// What is known of each store, by its first name, and the names of those that have several.
async fn known(client: &Client) -> Result<(BTreeMap<GroupResource, Known>, StoreNames), Error> {
    let list = ListStorageVersions::new().with_unreported();
    let page = client.storage_versions(list).all().await?;
    let mut all: BTreeMap<GroupResource, Known> = BTreeMap::new();
    let mut names = StoreNames::default();
    for item in &page.items {
        let Some(state) = &item.storage_state else {
            continue;
        };
        names.add(state);
        let known = all.entry(state.resource.clone()).or_default();
        known.take(state, item.storage_version.as_ref());
    }
    Ok((all, names))
}

/// The hash of the version that a member reports to encode.
fn encoding_hash(entry: &StorageVersionEntry) -> Option<StorageVersionHash> {
    let encoding = entry.encoding.as_ref()?;
    Some(StorageVersionHash::of_version(encoding, &entry.kind))
}

impl Known {
    /// Takes over what is kept of a store, and what members report of it under one of its names.
    fn take(&mut self, state: &StorageState, version: Option<&StorageVersion>) {
        let entries = version.into_iter().flat_map(|version| &version.entries);
        self.revision = state.metadata.resource_version;
        self.observed = state.observed.iter().copied().collect();
        self.said.extend(entries.filter_map(encoding_hash));
        self.is_reported |= version.is_some();
        self.is_contradicted = state.contradicted;
        self.looks.clone_from(&state.looks);
    }

    fn hashes(&self) -> BTreeSet<StorageVersionHash> {
        &self.observed | &self.said
    }

    /// The hashes that discovery shows, or showed last, and that no member reports.
    fn against(&self) -> BTreeSet<StorageVersionHash> {
        if self.is_contradicted {
            &self.observed - &self.said
        } else {
            BTreeSet::new()
        }
    }
}
