//! Waits for an agreement.
//!
//! Two API servers of different releases take part. As long as the older one cannot decode v2, both encode in v1. Once
//! it is upgraded and votes for v2, too, v2 is selected, both adopt it, and all agree. The program follows this in a
//! cache and prints which members have not agreed yet. Run it against a cluster:
//! `cargo run --example agreement -- 127.0.0.1:4600`.

use std::collections::BTreeSet;

use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use synod_client::{
    ApiVersion, Client, GroupResource, JoinOptions, Kind, Membership, ObjectKind, Reflector,
    ReportEntry, Revision, Stance, StoredIn, Violations, apiserver_id,
};
use tokio::time::{sleep, timeout};

type Failed = Box<dyn Error + Send + Sync>;

/// The longest wait for agreement.
const LIMIT: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let client = Client::builder().endpoints(endpoints()).connect().await?;
    let widgets = GroupResource::new("agreed.example.io", "widgets")?;
    let (old, new) = (join(&client, "old").await?, join(&client, "new").await?);
    old.report(vec![entry(&widgets, &["v1"])?]).await?;
    new.report(vec![entry(&widgets, &["v1", "v2"])?]).await?;

    let reflector = client.reflect(vec![ObjectKind::StorageVersion]).await?;
    let wanted = ApiVersion::parse("v2")?;
    let waiting = wait_for(&reflector, &widgets, &wanted);
    let upgrade = async {
        // The upgraded server decodes v2 and votes for it.
        old.report_change(entry(&widgets, &["v1", "v2"])?).await?;
        Ok::<(), Failed>(())
    };
    let both = async { tokio::try_join!(waiting, upgrade) };
    let (revision, ()) = timeout(LIMIT, both).await??;
    writeln!(
        std::io::stdout(),
        "all agree on {wanted} since revision {revision}"
    )?;

    for membership in [old, new] {
        membership.leave(Duration::from_secs(5)).await?;
    }
    forget(&client, &widgets).await?;
    client.close().await?;
    Ok(())
}

/// Forgets the resource, once what may have been written before its members spoke has landed.
async fn forget(client: &Client, resource: &GroupResource) -> Result<(), Failed> {
    loop {
        let Err(error) = client.forget_resource(resource, None).await else {
            return Ok(());
        };
        let left_ms = error.metadata().get("left_ms");
        let Some(left_ms) = left_ms.and_then(|text| text.parse().ok()) else {
            return Err(error.into());
        };
        sleep(Duration::from_millis(left_ms)).await;
    }
}

/// Waits until all members that report a resource agree on a version; prints those that do not yet at every change.
async fn wait_for(
    reflector: &Reflector,
    resource: &GroupResource,
    wanted: &ApiVersion,
) -> Result<Revision, Failed> {
    let mut seen = Revision::ZERO;
    loop {
        if let Some(version) = reflector.storage_version(resource) {
            if version.status.agreed.as_ref() == Some(wanted) {
                return Ok(version.status.agreement_revision);
            }
            let others = version
                .entries
                .iter()
                .filter(|entry| entry.encoding.as_ref() != Some(wanted));
            let others: Vec<&str> = others.map(|entry| entry.member.as_str()).collect();
            writeln!(
                std::io::stdout(),
                "not yet on {wanted}: {}",
                others.join(", ")
            )?;
        }
        seen = reflector.changed(seen).await?;
    }
}

async fn join(client: &Client, name: &str) -> Result<Membership, Failed> {
    let id = apiserver_id(&format!("agreement-{name}"));
    Ok(client.join(JoinOptions::new(id)).await?)
}

/// A vote for the last of the versions that a server decodes.
fn entry(resource: &GroupResource, versions: &[&str]) -> Result<ReportEntry, Violations> {
    let mut parsed = Vec::new();
    for version in versions {
        parsed.push(ApiVersion::parse(version)?);
    }
    let preferred = parsed.last().cloned().expect("a server reads some version");
    Ok(ReportEntry {
        resource: resource.clone(),
        kind: Kind::parse("Widget")?,
        decodable: parsed.iter().cloned().collect(),
        served: parsed.iter().cloned().collect(),
        stance: Stance::Voting { preferred },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    })
}

fn endpoints() -> Vec<String> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.is_empty() {
        return vec!["127.0.0.1:4600".to_owned()];
    }
    given
}
