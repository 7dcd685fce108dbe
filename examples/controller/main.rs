//! A controller that keeps its history in Synod.
//!
//! It manages workers, each labelled with the ControllerRevision that it was made from. When what it wants changes, it
//! relabels the workers that already conform, updates in place those that differ in their replicas alone, and makes the
//! others again. Run it against a cluster: `cargo run --example controller -- 127.0.0.1:4600`.

mod controller;

use std::error::Error;
use std::io::Write as _;

use controller::{Controller, Worker};
use synod_client::{Client, ReadOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let endpoint = std::env::args().nth(1);
    let endpoint = endpoint.unwrap_or_else(|| "127.0.0.1:4600".to_owned());
    let client = Client::builder()
        .endpoints(vec![endpoint])
        .connect()
        .await?;
    let mut controller = Controller::new(&client)?;
    let known = controller
        .history()
        .read(ReadOptions::linearizable())
        .await?;
    writeln!(
        std::io::stdout(),
        "{} ControllerRevisions before",
        known.items.len()
    )?;
    let before_history = Worker {
        revision: None,
        runs: String::new(),
        made: 1,
    };
    controller
        .workers
        .insert("web-0".to_owned(), before_history);
    for target in [
        r#"{"image":"web:1","replicas":1}"#,
        r#"{"image":"web:1","replicas":2}"#,
        r#"{"image":"web:2","replicas":2}"#,
        r#"{"replicas":1.0,"image":"web:1"}"#,
    ] {
        for (worker, step) in controller.want(target).await? {
            writeln!(std::io::stdout(), "{target}: {worker} {step:?}")?;
        }
    }
    client.close().await?;
    Ok(())
}
