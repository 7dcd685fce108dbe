//! One API server that joins and leaves again and again.

use std::collections::BTreeSet;

use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use synod_client::{
    ApiVersion, Client, GroupResource, JoinOptions, Kind, MemberId, Membership, ReadOptions,
    ReportEntry, Revision, Stance, StoredIn, Ttl, VersionSet,
};

use super::{Notes, client, watching};
use crate::net::{Host, Net};
use crate::trace::Trace;

/// The versions of the one resource that all servers serve.
const VERSIONS: [&str; 2] = ["v1", "v2"];

pub(super) struct Server {
    pub(super) host: Host,
    pub(super) net: Net,
    pub(super) notes: Notes,
    pub(super) trace: Trace,
    pub(super) rng: StdRng,
}

impl Server {
    /// Joins, serves for a while and ends, again and again.
    pub(super) async fn run(mut self) {
        let client = client(self.host, &self.net, self.rng.random()).await;
        tokio::spawn(watching::watch(
            self.host,
            client.clone(),
            self.notes.clone(),
            self.trace.clone(),
        ));
        loop {
            self.pause(100..1_000).await;
            let id = MemberId::parse(&format!("server-{}", self.host)).unwrap();
            let options = JoinOptions::new(id).ttl(Ttl::from_millis(5_000).unwrap());
            match client.join(options).await {
                Ok(membership) => self.serve(&client, membership).await,
                Err(error) => self
                    .trace
                    .add(format_args!("{} cannot join: {error}", self.host)),
            }
        }
    }

    async fn serve(&mut self, client: &Client, membership: Membership) {
        let turns = self.rng.random_range(5..25);
        for turn in 0..turns {
            self.write(&membership);
            let entry = self.entry();
            let reported = match turn {
                0 => membership.report(vec![entry]).await,
                _ if self.rng.random_ratio(1, 3) => membership.report_change(entry).await,
                _ => {
                    self.read(client).await;
                    self.pause(50..500).await;
                    continue;
                }
            };
            match reported {
                Ok(reported) => self.acknowledged("a report", reported.header.revision),
                Err(error) => self
                    .trace
                    .add(format_args!("{} cannot report: {error}", self.host)),
            }
            if turn == 0 && membership.ready().await.is_ok() {
                self.trace.add(format_args!("{} is ready", self.host));
            }
        }
        // In a third of the cases it ends without leaving, and expires.
        if self.rng.random_ratio(2, 3) && membership.leave(Duration::from_secs(1)).await.is_ok() {
            self.trace.add(format_args!("{} left", self.host));
        }
    }

    /// Writes, if the gate is open.
    fn write(&self, membership: &Membership) {
        if let Ok(permit) = membership.gate().try_permit(&resource()) {
            self.notes.writes(membership.id(), permit.epoch());
            permit.done();
        }
    }

    async fn read(&self, client: &Client) {
        let expected = self.notes.newest();
        match client
            .storage_version(&resource(), ReadOptions::linearizable())
            .await
        {
            Ok(view) => {
                let revision = view.header.revision;
                self.notes.read(expected, revision, self.host);
                self.trace
                    .add(format_args!("{} read at {revision}", self.host));
            }
            Err(error) => self
                .trace
                .add(format_args!("{} cannot read: {error}", self.host)),
        }
    }

    fn acknowledged(&self, what: &str, revision: Revision) {
        self.notes.acknowledge(revision);
        self.trace.add(format_args!(
            "{} was acknowledged {what} at {revision}",
            self.host
        ));
    }

    /// An entry that votes for one of the versions, chosen at random.
    fn entry(&mut self) -> ReportEntry {
        let versions =
            VERSIONS.map(|version| ApiVersion::parse(&format!("apps/{version}")).unwrap());
        let preferred = versions[self.rng.random_range(0..versions.len())].clone();
        ReportEntry {
            resource: resource(),
            kind: Kind::parse("Deployment").unwrap(),
            decodable: VersionSet::from_iter(versions.clone()),
            served: VersionSet::from_iter(versions),
            stance: Stance::Voting { preferred },
            serve_until: None,
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
        }
    }

    async fn pause(&mut self, millis: std::ops::Range<u64>) {
        tokio::time::sleep(Duration::from_millis(self.rng.random_range(millis))).await;
    }
}

fn resource() -> GroupResource {
    GroupResource::new("apps", "deployments").unwrap()
}
