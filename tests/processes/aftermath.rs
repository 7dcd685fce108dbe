//! What follows from a switch is done by whoever leads, in many commands, also when the leader is killed in their midst.

use synod_client::{
    GroupResource, ReadOptions, ReportEntry, SettingsPatch, Stance, StatementNumber, Switch,
};

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::security::value;
use crate::waiting::eventually;
use crate::watched_over::shown_at;
use crate::writers::{fixed, join};

/// Each costs two steps, of which a command takes 4,000.
const RESOURCES: usize = 20_000;
/// Resources in one report.
const AT_ONCE: usize = 2_500;

fn votes(to: Switch) -> SettingsPatch {
    SettingsPatch {
        votes: Some(to),
        ..SettingsPatch::default()
    }
}

fn resource(number: usize) -> GroupResource {
    GroupResource::new("example.com", &format!("r{number}")).expect("it is a name")
}

fn voting(number: usize) -> ReportEntry {
    let entry = fixed(resource(number));
    let preferred = entry.decodable.iter().next().expect("it decodes one");
    let stance = Stance::Voting {
        preferred: preferred.clone(),
    };
    ReportEntry { stance, ..entry }
}

// Guarantee: U-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_leads_does_what_follows_from_a_switch_to_its_end() {
    let mut cluster = Cluster::start().await;
    let client = cluster.client().await;
    eventually("the machine version with switches", async || {
        let off = client.update_settings(votes(Switch::Off), None).await;
        off.map(drop).map_err(|error| error.to_string())
    })
    .await;
    // A member reports 10,000 resources at most.
    for (name, first) in [("one", 0), ("other", RESOURCES / 2)] {
        let member = join(&client, name, name, 600_000).await;
        let mut number = StatementNumber::FIRST;
        for first in (first..first + RESOURCES / 2).step_by(AT_ONCE) {
            let entries = (first..first + AT_ONCE).map(voting).collect();
            let reported = client.send_report(&member, number, entries, false).await;
            reported.expect("the cluster serves");
            number = number.next().expect("reports are few");
        }
    }
    let leader = cluster.leader().await;
    let on = client.update_settings(votes(Switch::On), None).await;
    on.expect("the cluster serves");
    cluster.kill(leader).await;
    cluster.restart(leader).await;
    for id in IDS {
        let [_, _, metrics] = cluster.ports(id);
        eventually("the end of what follows", async || {
            let unfinished = "synod_switch_unfinished{feature=\"votes\"}";
            match value(&shown_at(metrics).await, unfinished) {
                0.0 => Ok(()),
                _ => Err(format!("replica {id} has more to do")),
            }
        })
        .await;
    }
    agree(&cluster).await;
    for number in [0, RESOURCES / 2, RESOURCES - 1] {
        let resource = resource(number);
        let version = client
            .storage_version(&resource, ReadOptions::linearizable())
            .await;
        let version = version.expect("the cluster serves").storage_version;
        let version = version.expect("it is reported");
        assert!(version.status.selected.is_some(), "{resource}");
    }
    cluster.finish().await;
}
