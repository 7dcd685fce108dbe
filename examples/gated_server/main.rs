//! An API server with the write gate.
//!
//! It keeps its objects itself, in memory here, and asks Synod in which version to encode them. Every write passes the
//! gate: before the server has reported what it can decode, there is no permit, and so no write. Run it against a
//! cluster: `cargo run --example gated_server -- 127.0.0.1:4600`.

mod server;

use std::collections::BTreeSet;

use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use http::Method;
use server::{Server, widgets};
use synod_client::{
    ApiVersion, Client, JoinOptions, Kind, ReportEntry, Stance, StoredIn, Violations, apiserver_id,
};
use tokio::time::timeout;

const DISCOVERY: &str = "/apis/gated.example.io/v2";
const WIDGETS: &str = "/apis/gated.example.io/v2/namespaces/default/widgets";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut out = std::io::stdout();
    let client = Client::builder().endpoints(endpoints()).connect().await?;
    let options = JoinOptions::new(apiserver_id("gated-server"));
    let membership = client.join(options).await?;
    let server = Server::start(membership.gate()).await?;

    let widget = r#"{"name":"a","size":1}"#;
    let (status, _) = server.ask(Method::POST, WIDGETS, widget).await?;
    writeln!(out, "before the report a write is answered with {status}")?;

    membership.report(vec![entry()?]).await?;
    membership.ready().await?;
    let (status, _) = server.ask(Method::POST, WIDGETS, widget).await?;
    writeln!(out, "after it with {status}")?;
    let shown = timeout(Duration::from_secs(10), wait_for_hash(&server)).await??;
    writeln!(out, "discovery shows {shown}")?;
    let (_, stored) = server.ask(Method::GET, &format!("{WIDGETS}/a"), "").await?;
    writeln!(out, "stored is {stored}")?;

    // No permit is out any more, so this need not wait.
    membership.leave(Duration::from_secs(5)).await?;
    client.close().await?;
    writeln!(out, "left")?;
    Ok(())
}

/// The discovery document, once it has a hash: the server learns of the agreement by a watch, a moment later.
async fn wait_for_hash(server: &Server) -> Result<String, Box<dyn Error + Send + Sync>> {
    loop {
        let (_, shown) = server.ask(Method::GET, DISCOVERY, "").await?;
        if shown.contains("storageVersionHash") {
            return Ok(shown);
        }
    }
}

/// What this server can decode, and the version that it votes for.
fn entry() -> Result<ReportEntry, Violations> {
    let versions = [
        ApiVersion::parse("gated.example.io/v1")?,
        ApiVersion::parse("gated.example.io/v2")?,
    ];
    Ok(ReportEntry {
        resource: widgets()?,
        kind: Kind::parse("Widget")?,
        decodable: versions.iter().cloned().collect(),
        served: versions.iter().cloned().collect(),
        stance: Stance::Voting {
            preferred: versions[1].clone(),
        },
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
