//! A lock, which at most one process holds.

use std::error::Error;
use std::io::Write as _;

use synod_client::{Client, LeaseKey, LockOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let endpoints = std::env::args().skip(1).collect();
    let client = Client::builder().endpoints(endpoints).connect().await?;
    let key = LeaseKey::new("default", "nightly-report")?;
    let lock = client.lock(LockOptions::new(key)).await?; // waits for its turn
    lock.check()?; // right before acting: the lease may have been lost since
    let token = lock.token(); // higher than that of every holder before
    writeln!(std::io::stdout(), "held with fencing token {token}")?;
    lock.release().await?; // the next one in the queue has it at once
    client.close().await?;
    Ok(())
}
