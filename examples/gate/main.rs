//! A server behind the write gate.

mod handler;

use axum::{Router, routing::post};
use serde_json::json;
use synod_client::{Client, GateLayer, JoinOptions, MemberId, ReportEntry, json::FromJson as _};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let endpoints = std::env::args().skip(2).collect();
    let client = Client::builder().endpoints(endpoints).connect().await?;
    let id = MemberId::parse("apiserver-1")?;
    let membership = client.join(JoinOptions::new(id)).await?;
    let entry = ReportEntry::from_json(&json!({
        "resource": {"group": "example.io", "resource": "widgets"}, "kind": "Widget",
        "decodableVersions": ["example.io/v1"], "servedVersions": ["example.io/v1"],
        "preferredVersion": "example.io/v1", // it votes for this one
    }))?;
    membership.report(vec![entry]).await?;
    let router = Router::new().route("/apis/example.io/v1/widgets", post(handler::create));
    let router = router.layer(GateLayer::new(membership.gate()));
    axum::serve(TcpListener::bind(address).await?, router).await?;
    Ok(())
}
