//! What it costs to take commands through the queue of a lane, and to pack them into an entry; see [`crate::costs`].

use std::time::Duration;

use bytes::Bytes;
use synod_machine::Outcome;
use synod_model::{LogTime, WallTime};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::entry::encode;
use super::intake::{Unit, queue};
use super::log_time::Stamp;
use super::request::request;
use crate::costs::Count;
use crate::traces::{Span, Stages};

/// How often an entry is packed.
const TIMES: usize = 100;

/// How often what has gathered is taken from a lane, and how many requests that are.
const TAKEN: usize = 20;
const GATHERED: usize = 30;

/// Packs these encoded commands into an entry.
pub(crate) fn pack(count: &mut Count<'_>, kind: &str, envelopes: &[Bytes]) {
    let stamp = Stamp {
        log_time: LogTime::from_millis(1),
        lift_deadlines: false,
    };
    let wall = WallTime::from_millis(1_795_219_200_000);
    let operations = TIMES * envelopes.len();
    count(&format!("pack {kind}"), operations, &mut || {
        for _ in 0..TIMES {
            encode(stamp, wall, envelopes.iter());
        }
    });
}

/// Queues requests, takes what has gathered, and answers it with this outcome: all that a request costs in its lane
/// besides its entry.
pub(crate) fn lane(count: &mut Count<'_>, runtime: &Runtime, outcome: &Outcome) {
    let envelope = Bytes::from_static(&[7; 256]);
    let (queue, mut intake) = queue();
    count(
        "queue, take and answer a request",
        TAKEN * GATHERED,
        &mut || {
            runtime.block_on(async {
                let deadline = Instant::now() + Duration::from_secs(60);
                for _ in 0..TAKEN {
                    let mut waiters = Vec::with_capacity(GATHERED);
                    for _ in 0..GATHERED {
                        let place = queue.place(envelope.len()).unwrap();
                        let stages = Stages::of(&Span::default());
                        let (request, waiter) =
                            request(envelope.clone(), deadline, "".into(), stages, place);
                        queue.push(Unit::Own(request)).unwrap();
                        waiters.push(waiter);
                    }
                    assert!(intake.ready().await);
                    for unit in intake.take(Instant::now()).units {
                        let Unit::Own(request) = unit else {
                            panic!("nothing was forwarded")
                        };
                        request.answer(Ok(outcome.clone()));
                    }
                    for waiter in waiters {
                        waiter.answered().await.unwrap();
                    }
                }
            });
        },
    );
}
