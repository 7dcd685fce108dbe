//! An election: one process leads, and the others wait.

use std::error::Error;
use std::io::Write as _;

use synod_client::{Client, Election, LeaseKey, LockOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let endpoints = std::env::args().skip(1).collect();
    let client = Client::builder().endpoints(endpoints).connect().await?;
    let key = LeaseKey::new("default", "scheduler")?;
    let election = Election::new(&client, LockOptions::new(key));
    let leadership = election.campaign().await?; // waits until this process leads
    writeln!(std::io::stdout(), "{} leads", leadership.holder())?;
    let work = async { leadership.check() }; // a leader checks before each step
    tokio::select! {
        biased;
        end = election.over(&leadership) => return Err(format!("stop: {end:?}").into()),
        done = work => done?,
    }
    leadership.release().await?;
    client.close().await?;
    Ok(())
}
