//! Relates the order of the store's writes to revisions of Synod, by marks many times a second.

use std::sync::Arc;
use std::time::Duration;

use synod_client::{Client, ReadOptions};
use tokio::time::sleep;

use super::clock::now_ms;
use super::journal::Journal;
use super::records::Mark;
use super::stage::Stage;
use super::store::StoreClient;

/// The pause between two marks.
const PERIOD: Duration = Duration::from_millis(20);

/// The longest that a read may take. A read that begins during an election is tried again.
const LIMIT: Duration = Duration::from_secs(2);

/// Records marks for as long as it is polled.
pub(crate) async fn survey(client: Client, store: StoreClient, marks: Arc<Journal>, stage: Stage) {
    let client = client.with_timeout(LIMIT);
    loop {
        // A mark that fails is tried again. A missing mark only makes the bounds of some writes wider.
        if let Ok(mark) = mark(&client, &store).await {
            if let Err(error) = marks.append(&mark) {
                stage.say(format!("a mark cannot be recorded: {error}"));
            }
            stage.change(|shown| shown.tally.marked = mark.asked_after);
        }
        sleep(PERIOD).await;
    }
}

async fn mark(client: &Client, store: &StoreClient) -> Result<Mark, String> {
    let asked_after = store.position().await?;
    let read = client.settings(ReadOptions::linearizable()).await;
    let revision = read
        .map_err(|error| error.to_string())?
        .header
        .revision
        .get();
    Ok(Mark {
        asked_after,
        revision,
        at_ms: now_ms(),
        answered_before: store.position().await?,
    })
}
