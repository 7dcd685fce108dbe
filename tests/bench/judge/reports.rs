//! How long it takes until watchers on all three servers have everything that one server says about 1,000 resources.
//!
//! Synod takes it as one report. Elsewhere each resource is a key: it is read and then written by a compare-and-swap, as
//! the updater of Kubernetes does it, or all of them are read at once, and then written in transactions as large as etcd takes
//! them, all under way together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::try_join_all;
use prost::Message;
use synod_proto::v1;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

use crate::audience::Audience;
use crate::options::Options;
use crate::sample::{Sample, cpu_micros};
use crate::services::{Protocol, SERVICES, Servers, Service};
use crate::session::{Answered, Keys, Reading, Session, Swap, TTL, dial};
use crate::{to_etcd, unary};

const RESOURCES: u64 = 1_000;

/// etcd's `--max-txn-ops` by default.
const TRANSACTION: usize = 128;

/// Longer takes none.
const LIMIT: Duration = Duration::from_secs(60);

/// How a server says it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Report,
    /// One resource after the other.
    Swaps,
    Transactions,
}

impl Way {
    /// How often it is measured in a round, after once that does not count: processor time is counted in hundredths of a
    /// second.
    const fn repeats(self) -> usize {
        match self {
            Self::Report | Self::Transactions => 30,
            Self::Swaps => 3,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Report => "one report",
            Self::Swaps => "get and compare-and-swap of each",
            Self::Transactions => "transactions of 128",
        })
    }
}

/// Measures the ways of each service that is wanted, and prints medians and their ratios to the first one.
pub(crate) async fn measure(options: &Options) {
    let ways = SERVICES.iter().flat_map(|service| {
        let ways: &[Way] = match service.protocol {
            Protocol::Unary => &[Way::Report, Way::Swaps],
            Protocol::Etcd => &[Way::Transactions, Way::Swaps],
            Protocol::Pipeline | Protocol::ZooKeeper | Protocol::Empty => &[],
        };
        ways.iter().map(move |way| (service, *way))
    });
    let is_wanted = |(service, _): &(&Service, Way)| {
        options.has_service(service.name, !service.is_secured) && service.version().is_ok()
    };
    let ways: Vec<(&Service, Way)> = ways.filter(is_wanted).collect();
    let mut samples = vec![[Sample::default(), Sample::default()]; ways.len()];
    for round in 0..options.rounds {
        for ((service, way), [times, used]) in ways.iter().zip(&mut samples) {
            let spent = spent(service, *way).await;
            let (time, processor) = spent.expect("every way can be gone");
            eprintln!(
                "round {round} {:<11}{way}: {time:.2} ms, {processor:.1} ms of processors",
                service.name
            );
            times.push(time);
            used.push(processor);
        }
    }
    println!(
        "\n{RESOURCES} resources until the last of 3 watchers has all of them, ms; medians, and their ratios to the first; then the\n\
         processor time of all servers"
    );
    for ((service, way), [times, used]) in ways.iter().zip(&samples) {
        let ratios = times.ratios_to(&samples[0][0]);
        println!(
            "  {:<11}{:<34}{:>30} {:>8.1} {:>28}",
            service.name,
            way.to_string(),
            times.spread(),
            ratios.median(),
            used.spread()
        );
    }
}

/// The milliseconds that one service takes by one way, and those that the processors take for it.
async fn spent(service: &Service, way: Way) -> Answered<(f64, f64)> {
    let servers = service.start().await?;
    let spent = match way {
        Way::Report => by_reports(&servers).await?,
        Way::Swaps if service.protocol == Protocol::Etcd => {
            by_swaps::<to_etcd::Etcd>(&servers).await?
        }
        Way::Swaps => by_swaps::<unary::Unary>(&servers).await?,
        Way::Transactions => by_transactions(&servers).await?,
    };
    servers.stop().await;
    Ok(spent)
}

/// Says everything by `say`, so many times and once before. Returns the median of how long it takes until an `audience` of
/// three has seen all of it, and the mean of the processor time of the servers.
async fn repeated(
    servers: &Servers,
    way: Way,
    audience: &Audience,
    mut say: impl AsyncFnMut(usize) -> Answered<()>,
) -> Answered<(f64, f64)> {
    let used = || servers.processes().into_iter().map(cpu_micros).sum::<f64>();
    let (mut sample, mut before) = (Sample::default(), 0.0);
    for time in 0..=way.repeats() {
        if time == 1 {
            before = used();
        }
        if audience.seen() != 3 * RESOURCES * u64::try_from(time)? {
            return Err("a change was seen that was not made now".into());
        }
        let begin = Instant::now();
        say(time).await?;
        let seen = 3 * RESOURCES * (u64::try_from(time)? + 1);
        timeout(LIMIT, audience.have_seen(seen)).await?;
        if time > 0 {
            sample.push(begin.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    let each = (used() - before) / way.repeats() as f64;
    Ok((sample.median(), each / 1_000.0))
}

async fn by_reports(servers: &Servers) -> Answered<(f64, f64)> {
    let leader = dial(&servers.leader().await).await?;
    let join = v1::MembershipJoinRequest {
        id: "reporter".to_owned(),
        instance: "judge".to_owned(),
        ttl_ms: Some(u64::try_from(TTL.as_millis())?),
        ..Default::default()
    };
    let joined = MembershipClient::new(leader.clone()).join(join).await?;
    let member = v1::MemberEpoch {
        member: "reporter".to_owned(),
        epoch: joined.into_inner().epoch,
        cluster_id: String::new(),
    };
    let audience = Arc::new(Audience::new());
    let mut watchers = JoinSet::new();
    for place in servers.places() {
        watch(dial(&place).await?, &audience, &mut watchers).await?;
    }
    let client = StorageVersionsClient::new(leader);
    repeated(servers, Way::Report, &audience, async |time| {
        let request = v1::StorageVersionsReportRequest {
            member: Some(member.clone()),
            entries: (0..RESOURCES).map(|at| entry(at, time)).collect(),
            replace: true,
            number: u64::try_from(time)? + 1,
            ..Default::default()
        };
        client.clone().report(request).await?;
        Ok(())
    })
    .await
}

/// A resource that serves one version or two, in turn.
fn entry(at: u64, time: usize) -> v1::ReportEntry {
    let versions = ["v1", "v2"].map(|version| format!("judge.example/{version}"));
    v1::ReportEntry {
        resource: Some(v1::GroupResource {
            group: "judge.example".to_owned(),
            resource: format!("reported{at}"),
        }),
        kind: "Reported".to_owned(),
        decodable_versions: versions.to_vec(),
        served_versions: versions[..1 + time % 2].to_vec(),
        stance: Some(v1::report_entry::Stance::EncodingVersion(
            versions[0].clone(),
        )),
        serve_until_ms: None,
        stored: v1::StoredIn::Outside.into(),
        equivalents: Vec::new(),
    }
}

/// As much of a `synod.v1.WatchResponse` as is read of etcd's: the rows of events as bytes.
#[derive(Clone, PartialEq, Message)]
struct Told {
    #[prost(message, optional, tag = "1")]
    events: Option<Events>,
}

#[derive(Clone, PartialEq, Message)]
struct Events {
    #[prost(bytes = "bytes", repeated, tag = "2")]
    events: Vec<Bytes>,
}

/// Watches storage versions, and tells the audience how many have changed.
async fn watch(
    channel: Channel,
    audience: &Arc<Audience>,
    watchers: &mut JoinSet<()>,
) -> Answered<()> {
    let request = v1::WatchRequest {
        filter: Some(v1::WatchFilter {
            kinds: vec![v1::ObjectKind::StorageVersion.into()],
            ..Default::default()
        }),
        ..Default::default()
    };
    let mut client = Grpc::new(channel);
    client.ready().await?;
    let path = PathAndQuery::from_static("/synod.v1.Watch/Watch");
    let codec: ProstCodec<v1::WatchRequest, Told> = ProstCodec::default();
    let stream = client.server_streaming(tonic::Request::new(request), path, codec);
    let mut stream = stream.await?.into_inner();
    // The first message is a bookmark: what comes after it is seen.
    stream.message().await?.ok_or("a watch ended")?;
    let audience = Arc::clone(audience);
    watchers.spawn(async move {
        while let Ok(Some(told)) = stream.message().await {
            for _ in told.events.unwrap_or_default().events {
                audience.saw(&[], 1);
            }
        }
    });
    Ok(())
}

/// The value of a key, in as many bytes as Synod is told of the resource.
fn value(at: u64, time: usize) -> Bytes {
    entry(at, time).encode_to_vec().into()
}

/// Watches the keys on all servers.
async fn watched<S: Session>(servers: &Servers) -> Answered<(Arc<Audience>, Vec<JoinSet<()>>)> {
    let audience = Arc::new(Audience::new());
    let mut watchers = Vec::new();
    for place in servers.places() {
        let mut session = S::open(&place).await?;
        // It has everything that was written until now: what a watch sees is new.
        session
            .get(Keys::Watched.key(0), Reading::Linearizable)
            .await?;
        watchers.push(session.watch(1, Arc::clone(&audience)).await?);
    }
    Ok((audience, watchers))
}

/// Writes every key, so that each has a version.
async fn written<S: Session>(session: &S) -> Answered<()> {
    let writes = (0..RESOURCES).map(|at| {
        let mut session = session.beside();
        async move { session.put(Keys::Watched.key(at), value(at, 0)).await }
    });
    try_join_all(writes).await.map(drop)
}

async fn by_swaps<S: Session>(servers: &Servers) -> Answered<(f64, f64)> {
    let mut session = S::open(&servers.leader().await).await?;
    written(&session).await?;
    let (audience, _watchers) = watched::<S>(servers).await?;
    repeated(servers, Way::Swaps, &audience, async |time| {
        for at in 0..RESOURCES {
            let key = Keys::Watched.key(at);
            let version = session.get(key, Reading::Linearizable).await?;
            let Swap::Done(_) = session.swap(key, version, value(at, time + 1)).await? else {
                return Err("nobody else writes".into());
            };
        }
        Ok(())
    })
    .await
}

async fn by_transactions(servers: &Servers) -> Answered<(f64, f64)> {
    let session = to_etcd::Etcd::open(&servers.leader().await).await?;
    written(&session).await?;
    let (audience, _watchers) = watched::<to_etcd::Etcd>(servers).await?;
    let numbers: Vec<u64> = (0..RESOURCES).collect();
    repeated(servers, Way::Transactions, &audience, async |time| {
        let versions = session.beside().versions(Keys::Watched).await?;
        let swaps = numbers.iter().zip(versions);
        let swaps = swaps.map(|(at, version)| {
            let key = Keys::Watched.key(*at);
            (key, version, value(*at, time + 1))
        });
        let swaps: Vec<_> = swaps.collect();
        let transactions = swaps.chunks(TRANSACTION).map(|swaps| {
            let mut session = session.beside();
            async move { session.swap_all(swaps.to_vec()).await }
        });
        let done = try_join_all(transactions).await?;
        let all = done.iter().all(|is_done| *is_done);
        all.then_some(()).ok_or_else(|| "nobody else writes".into())
    })
    .await
}
