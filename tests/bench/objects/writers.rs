//! Writes at a steady rate, whether or not earlier writes were answered.

use std::time::Duration;

use synod_client::{
    Attributes, Client, DeleteObject, ErrorKind, ObjectKey, Preconditions, Revision, TtlChange,
    UpdateObject,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};

use crate::WRITES_PER_SECOND;
use crate::replicas::Replicas;
use crate::stored::content;

/// The connections that the writes share.
const CONNECTIONS: usize = 8;

/// An acknowledged write.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) begin: Instant,
    pub(crate) taken: Duration,
    pub(crate) key: ObjectKey,
    pub(crate) revision: Revision,
    /// The number in the object; `None`: it was deleted.
    pub(crate) number: Option<u64>,
}

/// The effect of one write.
pub(crate) struct Write {
    pub(crate) key: ObjectKey,
    /// The number of bytes to write; `None`: delete the object.
    pub(crate) bytes: Option<usize>,
}

/// Writes at the rate until `end` resolves. Returns every write that changed something.
pub(crate) async fn write_until(
    replicas: &Replicas,
    write: impl Fn(u64) -> Write,
    end: impl Future<Output = ()>,
) -> Vec<Written> {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(replicas.client().await);
    }
    let mut beat = interval(Duration::from_micros(1_000_000 / WRITES_PER_SECOND));
    let mut under_way = JoinSet::new();
    let mut written = Vec::new();
    let mut end = std::pin::pin!(end);
    let mut number = 0;
    loop {
        tokio::select! {
            biased;
            () = &mut end => break,
            Some(done) = under_way.join_next() => written.extend(done.expect("a write is made")),
            _ = beat.tick() => {
                let client = clients[number as usize % CONNECTIONS].clone();
                under_way.spawn(one(client, write(number), number));
                number += 1;
            }
        }
    }
    while let Some(done) = under_way.join_next().await {
        written.extend(done.expect("a write is made"));
    }
    written
}

async fn one(client: Client, write: Write, number: u64) -> Option<Written> {
    let begin = Instant::now();
    let objects = client.raw_objects();
    let key = write.key.clone();
    let answer = match write.bytes {
        Some(bytes) => {
            let update = UpdateObject {
                key: write.key,
                attributes: Attributes::default(),
                content: content(number, bytes),
                ttl: TtlChange::Keep,
                preconditions: Preconditions::default(),
                fences: Default::default(),
            };
            objects.update(update).await
        }
        None => {
            let delete = DeleteObject {
                key: write.key,
                propagation: None,
                preconditions: Preconditions::default(),
                fences: Default::default(),
            };
            objects.delete(delete).await
        }
    };
    let result = match answer {
        Ok(answer) => answer.result,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => panic!("a write is made: {error}"),
    };
    Some(Written {
        begin,
        taken: begin.elapsed(),
        key,
        revision: result.resource_version,
        number: write.bytes.map(|_| number),
    })
}
