//! A server that keeps its objects in etcd, and migrates them under a fence.
//!
//! It writes widgets in v1, then reports v2, and rewrites the earlier widgets. Every write compares the fence key,
//! which the worker raises before it lists: so etcd refuses a write of another server that was let through in v1 and
//! arrives late, however late. Run it against a cluster and an etcd:
//! `cargo run --example etcd-fence -- 127.0.0.1:4600 http://127.0.0.1:2379`.

mod widgets;

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use synod_client::{
    ApiVersion, Client, Fenced, GroupResource, JoinOptions, Kind, ListMigrations, MemberId,
    Membership, Migrator, MigratorOptions, ReportEntry, Stance, StoredIn, WorkerName,
};
use synod_fence::{Etcd, FencedObjects, FencedWriter, KeyStore as _};
use widgets::{FENCES, WIDGETS, Widgets, decode, encode, key};

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let endpoint = argument("127.0.0.1:4600");
    let etcd = Etcd::new(&argument("http://127.0.0.1:2379"));
    let client = Client::builder()
        .endpoints(vec![endpoint])
        .connect()
        .await?;
    let id = MemberId::parse("etcd-fence").map_err(|fault| fault.to_string())?;
    let membership = client.join(JoinOptions::new(id)).await?;
    let writer = FencedWriter::new(&client, membership.id().clone(), etcd.clone(), FENCES).await?;
    membership.report(vec![entry("example.io/v1")?]).await?;
    for number in 0..3 {
        write(&writer, &membership, &format!("w-{number}"), number).await?;
    }
    membership.report(vec![entry("example.io/v2")?]).await?;
    migrate(&client, etcd.clone()).await?;
    write(&writer, &membership, "w-3", 3).await?;
    for number in 0..4 {
        let stored = etcd.get(&key(&format!("w-{number}"))).await?;
        let read = stored.and_then(|pair| decode(&pair.value));
        writeln!(std::io::stdout(), "w-{number}: {read:?}")?;
    }
    membership.leave(Duration::from_secs(5)).await?;
    client.close().await?;
    Ok(())
}

/// The report of the server once it encodes in this version.
fn entry(encoding: &str) -> Result<ReportEntry, Failure> {
    let version = |text: &str| ApiVersion::parse(text).map_err(|fault| fault.to_string());
    let both = [version("example.io/v1")?, version("example.io/v2")?];
    Ok(ReportEntry {
        resource: GroupResource::parse_qualified(WIDGETS).map_err(|fault| fault.to_string())?,
        kind: Kind::parse("Widget").map_err(|fault| fault.to_string())?,
        decodable: both.iter().cloned().collect(),
        served: both.iter().cloned().collect(),
        stance: Stance::Fixed {
            encoding: version(encoding)?,
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    })
}

/// Stores a widget, in the version that its permit names.
async fn write(
    writer: &FencedWriter<Etcd>,
    membership: &Membership,
    name: &str,
    size: u64,
) -> Result<(), Failure> {
    let resource = GroupResource::parse_qualified(WIDGETS).map_err(|fault| fault.to_string())?;
    let (gate, key, limit) = (membership.gate(), key(name), Duration::from_secs(10));
    let written = writer.update(&gate, &resource, &key, limit, |_, version| {
        Ok(encode(size, version))
    });
    written.await?;
    Ok(())
}

/// Works at the open migrations of widgets.
async fn migrate(client: &Client, etcd: Etcd) -> Result<(), Failure> {
    let name = WorkerName::parse("etcd-fence").map_err(|fault| fault.to_string())?;
    let resource = GroupResource::parse_qualified(WIDGETS).map_err(|fault| fault.to_string())?;
    let store = Fenced::new(client, FencedObjects::new(etcd, Widgets, FENCES)).await?;
    let options = MigratorOptions::new(name, BTreeSet::from([resource.clone()]));
    let worker = Migrator::new(client.clone(), store, options);
    let page = client.migrations(ListMigrations::new()).all().await?;
    for migration in page.items {
        if *migration.id.resource() == resource && migration.is_open() {
            let worked = worker.run_one(&migration.id).await?;
            writeln!(std::io::stdout(), "{}: {worked:?}", migration.id)?;
        }
    }
    Ok(())
}
