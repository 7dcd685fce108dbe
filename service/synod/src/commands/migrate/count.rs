//! Counts what would be rewritten.

use std::time::Duration;

use axum::http::StatusCode;
use synod_apiserver::{ApiServer, Fault, Page, Resource};
use tokio::time::sleep;

/// What a dry run counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) objects: u64,
    pub(super) bytes: u64,
}

/// How often a list is begun anew before it is given up, and a server asked again that is busy.
const TRIES: u32 = 5;

/// Counts the objects of a resource.
pub(super) async fn count(
    server: &ApiServer,
    resource: &Resource,
    page_size: u32,
) -> Result<Counted, String> {
    let mut counted = Counted::default();
    let mut token: Option<String> = None;
    let mut objects = page_size;
    let mut tries = 0;
    loop {
        let reply = match server
            .get(&Page::path(resource, objects, token.as_deref()))
            .await
        {
            Err(Fault::TooLarge(_)) if objects > 1 => {
                objects = objects.div_ceil(2);
                continue;
            }
            Err(fault) => return Err(fault.to_string()),
            Ok(reply) => reply,
        };
        match reply.status {
            StatusCode::OK => {}
            StatusCode::GONE if tries < TRIES => {
                tries += 1;
                let next = reply.says().metadata.next;
                token = Some(next).filter(|next| !next.is_empty());
                if token.is_none() {
                    counted = Counted::default();
                }
                continue;
            }
            StatusCode::TOO_MANY_REQUESTS if tries < TRIES => {
                tries += 1;
                let pause = reply.retry_after().unwrap_or(Duration::from_secs(1));
                sleep(pause).await;
                continue;
            }
            _ => return Err(reply.words()),
        }
        let page = Page::parse(resource, &reply.body)?;
        counted.objects += page.items.len() as u64;
        counted.bytes += page
            .items
            .iter()
            .map(|item| item.document.len() as u64)
            .sum::<u64>();
        token = page.next;
        if token.is_none() {
            return Ok(counted);
        }
    }
}
