//! Counts what would be rewritten.

use axum::http::StatusCode;
use synod_apiserver::{ApiServer, Fault, Page, Resource, may_pass};
use tokio::time::sleep;

use super::retries::{TRIES, pause};

/// What a dry run counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) objects: u64,
    pub(super) bytes: u64,
}

/// Counts the objects of a resource.
pub(super) async fn count(
    server: &ApiServer,
    resource: &Resource,
    page_size: u32,
) -> Result<Counted, String> {
    let mut counted = Counted::default();
    let mut token: Option<String> = None;
    let mut objects = page_size;
    let (mut tries, mut expired) = (0, 0);
    loop {
        let path = Page::path(resource, objects, token.as_deref());
        let (why, retry_after) = match server.get(&path).await {
            Err(Fault::TooLarge(_)) if objects > 1 => {
                objects = objects.div_ceil(2);
                continue;
            }
            Err(fault @ Fault::TooLarge(_)) => return Err(fault.to_string()),
            Err(fault) => (fault.to_string(), None),
            Ok(reply) if reply.status == StatusCode::OK => {
                match Page::parse(resource, &reply.body) {
                    Ok(page) => {
                        counted.add(&page);
                        token = page.next;
                        tries = 0;
                        if token.is_none() {
                            return Ok(counted);
                        }
                        continue;
                    }
                    Err(why) => (why, None),
                }
            }
            Ok(reply) if reply.status == StatusCode::GONE && expired < TRIES => {
                expired += 1;
                let next = reply.says().metadata.next;
                token = Some(next).filter(|next| !next.is_empty());
                if token.is_none() {
                    counted = Counted::default();
                }
                continue;
            }
            Ok(reply) if may_pass(reply.status) => (reply.words(), reply.retry_after()),
            Ok(reply) => return Err(reply.words()),
        };
        tries += 1;
        match pause(tries, retry_after) {
            Some(pause) => sleep(pause).await,
            None => return Err(why),
        }
    }
}

impl Counted {
    fn add(&mut self, page: &Page) {
        self.objects += page.items.len() as u64;
        let bytes = page.items.iter().map(|item| item.document.len() as u64);
        self.bytes += bytes.sum::<u64>();
    }
}
