//! Measures calls per second of callers that each wait for an answer before the next call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use synod_client::{
    ApiVersion, Client, GroupResource, Kind, MemberEpoch, MemberId, ReadOptions, ReportEntry,
    Stance, StatementNumber,
};
use tokio::time::Instant;

use crate::etcd::{self, Etcd};
use crate::replicas::{Replicas, long_lived};
use crate::sample::{Load, cpu_micros, rates};
use crate::{ROUND, ROUNDS};

/// The number of connections that the callers share, for Synod and for etcd alike.
const CONNECTIONS: usize = 8;

/// Which replicas Synod's callers call. etcd's callers always call its leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// The replica that their client has chosen; a follower forwards writes to the leader.
    Anywhere,
    /// The leader.
    AtTheLeader,
}

/// Each caller reports its own resource, differently each time, so that each report is a revision on two disks.
pub(crate) async fn durable_reports(replicas: &Replicas, etcd: &Etcd, callers: usize, whom: Where) {
    let clients = clients(replicas, whom).await;
    let mut members = Vec::new();
    for caller in 0..callers {
        let client = clients[caller % CONNECTIONS].clone();
        let id = format!("caller-{caller}-{whom:?}").to_lowercase();
        let joined = client
            .send_join(long_lived(&id))
            .await
            .expect("a member can join");
        let member = MemberEpoch {
            member: MemberId::parse(&id).expect("the id is a name"),
            epoch: joined.epoch,
            cluster: None,
        };
        members.push((client, member));
    }
    let (mut own, mut peer) = (Load::default(), Load::default());
    let channels: Vec<_> = (0..CONNECTIONS).map(|_| etcd.channel()).collect();
    for _ in 0..ROUNDS {
        let calls = members
            .iter()
            .cloned()
            .enumerate()
            .map(|(caller, (client, member))| {
                move |call: u64| {
                    let (client, member) = (client.clone(), member.clone());
                    async move {
                        let entry = entry(&format!("kind{caller}s"), call.is_multiple_of(2));
                        client
                            .send_report(&member, StatementNumber::FIRST, vec![entry], true)
                            .await
                            .is_ok_and(|reported| reported.changed)
                    }
                }
            });
        own.push(closed_loop(calls, &replicas.processes()).await);
        let calls = (0..callers).map(|caller| {
            let channel = channels[caller % CONNECTIONS].clone();
            move |_| {
                let (channel, key) = (channel.clone(), format!("key-{caller}"));
                async move { etcd::put(&channel, &key).await }
            }
        });
        peer.push(closed_loop(calls, &etcd.processes()).await);
    }
    let at = match whom {
        Where::Anywhere => "",
        Where::AtTheLeader => " of the leader",
    };
    rates(
        &format!("durable reports, {callers} callers{at} (etcd: put of 256 B)"),
        &own,
        &peer,
    );
}

/// Each caller reads one resource from the replica that its client has chosen.
pub(crate) async fn linearizable_reads(replicas: &Replicas, etcd: &Etcd, callers: usize) {
    let clients = clients(replicas, Where::Anywhere).await;
    let (mut own, mut peer) = (Load::default(), Load::default());
    let channels: Vec<_> = (0..CONNECTIONS).map(|_| etcd.channel()).collect();
    for _ in 0..ROUNDS {
        let calls = (0..callers).map(|caller| {
            let client = clients[caller % CONNECTIONS].clone();
            let resource = resource(&format!("kind{caller}s"));
            move |_| {
                let (client, resource) = (client.clone(), resource.clone());
                async move {
                    client
                        .storage_version(&resource, ReadOptions::linearizable())
                        .await
                        .is_ok()
                }
            }
        });
        own.push(closed_loop(calls, &replicas.processes()).await);
        let calls = (0..callers).map(|caller| {
            let channel = channels[caller % CONNECTIONS].clone();
            move |_| {
                let (channel, key) = (channel.clone(), format!("key-{caller}"));
                async move { etcd::get(&channel, &key).await }
            }
        });
        peer.push(closed_loop(calls, &etcd.processes()).await);
    }
    rates(
        &format!("linearizable reads, {callers} callers (etcd: get)"),
        &own,
        &peer,
    );
}

async fn clients(replicas: &Replicas, whom: Where) -> Vec<Client> {
    let mut clients = Vec::new();
    let leader = replicas.leader().await;
    for _ in 0..CONNECTIONS {
        clients.push(match whom {
            Where::Anywhere => replicas.client().await,
            Where::AtTheLeader => replicas.client_of(leader).await,
        });
    }
    clients
}

/// The number of successful calls per second, and the processor time that the `servers` spend on each.
async fn closed_loop<C, F>(calls: impl Iterator<Item = C>, servers: &[u32]) -> (f64, f64)
where
    C: Fn(u64) -> F + Send + 'static,
    F: Future<Output = bool> + Send,
{
    let succeeded = Arc::new(AtomicU64::new(0));
    let spent = || {
        servers
            .iter()
            .map(|server| cpu_micros(*server))
            .sum::<f64>()
    };
    let (begin, spent_before) = (Instant::now(), spent());
    let callers = calls.map(|call| {
        let succeeded = Arc::clone(&succeeded);
        tokio::spawn(async move {
            let mut number = 0;
            while begin.elapsed() < ROUND {
                if call(number).await {
                    succeeded.fetch_add(1, Ordering::Relaxed);
                }
                number += 1;
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("a caller does not panic");
    }
    let count = u32::try_from(succeeded.load(Ordering::Relaxed)).expect("rounds are short");
    let count = f64::from(count);
    (
        count / begin.elapsed().as_secs_f64(),
        (spent() - spent_before) / count,
    )
}

/// An entry that serves one version or two.
pub(crate) fn entry(name: &str, both: bool) -> ReportEntry {
    let version = |text| ApiVersion::parse(text).expect("it is a version");
    let versions = [version("figures.example/v1"), version("figures.example/v2")];
    ReportEntry {
        resource: resource(name),
        kind: Kind::parse("Figure").expect("it is a kind"),
        decodable: versions.iter().cloned().collect(),
        served: versions
            .iter()
            .take(1 + usize::from(both))
            .cloned()
            .collect(),
        stance: Stance::Fixed {
            encoding: version("figures.example/v1"),
        },
    }
}

fn resource(name: &str) -> GroupResource {
    GroupResource::new("figures.example", name).expect("it is a resource")
}
