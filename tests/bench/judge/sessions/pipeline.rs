//! Synod by a pipeline: one stream carries all that the clients of a connection ask.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream::{self, Stream};
use prost::Message;
use synod_proto::status::{from_bytes, from_status};
use synod_proto::v1;
use synod_proto::v1::pipeline_answer::Answer;
use synod_proto::v1::pipeline_client::PipelineClient;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::objects;
use crate::audience::Audience;
use crate::session::{Answered, Key, Place, Reading, Session, Swap, Version, dial};

/// The number of calls that may wait to be sent: as many as the clients of a connection have under way.
const CALLS_MAX: usize = 2_048;

/// The number of calls in one message.
const CALLS_IN_MESSAGE_MAX: usize = 256;

/// The longest message of answers.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

pub(crate) struct Pipeline(Arc<Pipe>);

struct Pipe {
    calls: mpsc::Sender<v1::PipelineCall>,
    next: AtomicU64,
    waiting: Arc<Waiting>,
    /// Ends with the pipe.
    _reader: JoinSet<()>,
}

type Waiting = Mutex<HashMap<u64, Waiter>>;

enum Waiter {
    Once(oneshot::Sender<Answer>),
    /// A watch, which has begun when the first message was sent there.
    Watch(mpsc::Sender<()>, Arc<Audience>),
}

impl Pipe {
    async fn open(place: &Place) -> Answered<Self> {
        let (calls, queue) = mpsc::channel(CALLS_MAX);
        let client = PipelineClient::new(dial(place).await?);
        let mut client = client.max_decoding_message_size(MESSAGE_BYTES_MAX);
        let mut responses = client.open(requests(queue)).await?.into_inner();
        let waiting = Arc::new(Waiting::default());
        let mut reader = JoinSet::new();
        let answered = Arc::clone(&waiting);
        reader.spawn(async move {
            while let Ok(Some(response)) = responses.message().await {
                for answer in response.answers {
                    give(answer, &answered);
                }
            }
            // Whoever still waits hears that there will be no answer.
            answered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clear();
        });
        Ok(Self {
            calls,
            next: AtomicU64::new(1),
            waiting,
            _reader: reader,
        })
    }

    async fn send(&self, method: &str, request: &impl Message, waiter: Waiter) -> Answered<()> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let call = v1::PipelineCall {
            number,
            method: method.to_owned(),
            message: request.encode_to_vec().into(),
            ..Default::default()
        };
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, waiter);
        Ok(self.calls.send(call).await?)
    }

    async fn call(&self, method: &str, request: &impl Message) -> Answered<Answer> {
        let (sender, answer) = oneshot::channel();
        self.send(method, request, Waiter::Once(sender)).await?;
        Ok(answer.await?)
    }

    /// Calls what is not refused.
    async fn ask<A: Message + Default>(&self, method: &str, request: &impl Message) -> Answered<A> {
        match self.call(method, request).await? {
            Answer::Message(message) => Ok(A::decode(message)?),
            Answer::Status(status) => Err(from_bytes(status).into()),
        }
    }
}

/// What is sent: as many calls at once as are at hand.
fn requests(
    queue: mpsc::Receiver<v1::PipelineCall>,
) -> impl Stream<Item = v1::PipelineOpenRequest> + Send + 'static {
    stream::unfold(queue, async |mut queue| {
        let mut calls = Vec::new();
        let count = queue.recv_many(&mut calls, CALLS_IN_MESSAGE_MAX).await;
        let cancel = Vec::new();
        (count > 0).then_some((v1::PipelineOpenRequest { calls, cancel }, queue))
    })
}

/// Gives an answer to whoever waits for it. A message of watches is decoded once.
fn give(answer: v1::PipelineAnswer, waiting: &Waiting) {
    let Some(content) = answer.answer else { return };
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let mut watching: Option<(Arc<Audience>, u64)> = None;
    for number in answer.numbers {
        match waiting.remove(&number) {
            Some(Waiter::Once(sender)) => {
                // A client that has stopped needs no answer.
                let _ = sender.send(content.clone());
            }
            Some(Waiter::Watch(begun, audience)) => {
                // Full when the watch has begun long ago.
                let _ = begun.try_send(());
                let watches = watching.map_or(0, |(_, watches)| watches);
                watching = Some((Arc::clone(&audience), watches + 1));
                waiting.insert(number, Waiter::Watch(begun, audience));
            }
            None => {}
        }
    }
    drop(waiting);
    if let (Some((audience, watches)), Answer::Message(message)) = (watching, content)
        && let Ok(response) = v1::WatchResponse::decode(message)
    {
        objects::show(response, watches, &audience);
    }
}

impl Session for Pipeline {
    type Lease = v1::LeasesRenewRequest;

    async fn open(place: &Place) -> Answered<Self> {
        Ok(Self(Arc::new(Pipe::open(place).await?)))
    }

    fn beside(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    async fn put(&mut self, key: Key, value: Bytes) -> Answered<()> {
        let request = objects::update(key, value, None);
        let _: v1::ObjectsUpdateResponse = self.0.ask("synod.v1.Objects/Update", &request).await?;
        Ok(())
    }

    async fn get(&mut self, key: Key, reading: Reading) -> Answered<Version> {
        let request = objects::get(key, reading);
        objects::version(self.0.ask("synod.v1.Objects/Get", &request).await?)
    }

    async fn swap(&mut self, key: Key, version: Version, value: Bytes) -> Answered<Swap> {
        let request = objects::update(key, value, Some(version));
        match self.0.call("synod.v1.Objects/Update", &request).await? {
            Answer::Message(message) => {
                let response = v1::ObjectsUpdateResponse::decode(message)?;
                Ok(Swap::Done(response.resource_version))
            }
            Answer::Status(status) => objects::lost(&from_status(&from_bytes(status))),
        }
    }

    async fn grant(&mut self) -> Answered<Self::Lease> {
        let request = objects::acquire();
        let response = self.0.ask("synod.v1.Leases/Acquire", &request).await?;
        objects::renewal(request.lease, response)
    }

    async fn renew(&mut self, lease: &Self::Lease) -> Answered<()> {
        objects::renewed(self.0.ask("synod.v1.Leases/Renew", lease).await?)
    }

    async fn watch(&mut self, watches: u64, audience: Arc<Audience>) -> Answered<JoinSet<()>> {
        for _ in 0..watches {
            let (sender, mut begun) = mpsc::channel(1);
            let waiter = Waiter::Watch(sender, Arc::clone(&audience));
            self.0
                .send("synod.v1.Watch/Watch", &objects::watch(), waiter)
                .await?;
            begun.recv().await.ok_or("the pipeline ended")?;
        }
        // The pipe's own task reads for all watches, and ends with the pipe.
        let mut tasks = JoinSet::new();
        let pipe = Arc::clone(&self.0);
        tasks.spawn(async move { pipe.calls.closed().await });
        Ok(tasks)
    }
}
