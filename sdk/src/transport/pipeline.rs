//! One pipeline: the calls on their way, and who waits for their answers.

pub(super) mod calls;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{Stream, stream};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use prost::bytes::Bytes;
use synod_proto::status::from_bytes;
use synod_proto::v1;
use synod_proto::v1::pipeline_answer::Answer;
use synod_proto::v1::pipeline_client::PipelineClient;
use tokio::sync::{mpsc, oneshot};
use tonic::metadata::MetadataMap;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};

/// The size in bytes of the largest answer that is read. Replicas are trusted to answer what was asked for, but a page
/// of 5,000 resources with thousands of entries each is large.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Calls that wait to be sent. A call beyond it waits for room.
const UNSENT_MAX: usize = 1_024;

/// Bytes of the calls in one message, unless a single one is longer.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// Messages of a watch that wait to be read. A reader that lets more of them wait loses its watch, and resumes it.
const WATCH_MESSAGES_MAX: usize = 1_024;

/// A pipeline that is open, or has broken.
pub(super) struct Pipeline {
    unsent: mpsc::Sender<Outgoing>,
    waiting: Arc<Waiting>,
}

/// What is sent.
enum Outgoing {
    Call(v1::PipelineCall),
    Cancel(u64),
}

/// Who waits for answers, by the numbers of the calls. `None` once the pipeline has broken.
#[derive(Default)]
struct Waiting {
    last: AtomicU64,
    callers: Mutex<Option<BTreeMap<u64, Caller>>>,
}

type Answered = Result<Bytes, Status>;

/// Who waits for the answers to one call.
enum Caller {
    Call(oneshot::Sender<Answered>),
    Watch(mpsc::Sender<Answered>),
}

/// A number of a call in progress. When it is dropped before the last answer, the call is cancelled.
struct Number {
    number: u64,
    unsent: mpsc::Sender<Outgoing>,
    waiting: Arc<Waiting>,
}

impl Pipeline {
    /// Opens a pipeline, by what proves who calls.
    ///
    /// # Errors
    ///
    /// The replica cannot be reached, or knows no pipelines.
    pub(super) async fn open(
        channel: Channel,
        header: Option<HeaderValue>,
    ) -> Result<Self, Status> {
        let (unsent, receiver) = mpsc::channel(UNSENT_MAX);
        let mut client = PipelineClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX);
        let mut request = Request::new(requests(receiver));
        if let Some(header) = header {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, header)]);
            *request.metadata_mut() = MetadataMap::from_headers(headers);
        }
        let responses = client.open(request).await?.into_inner();
        let waiting = Arc::new(Waiting {
            last: AtomicU64::new(0),
            callers: Mutex::new(Some(BTreeMap::new())),
        });
        let pipeline = Self {
            unsent: unsent.clone(),
            waiting: Arc::clone(&waiting),
        };
        tokio::spawn(async move {
            let why = read(responses, &waiting, &unsent.downgrade()).await;
            waiting.break_off(&why);
        });
        Ok(pipeline)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.unsent.is_closed() && self.waiting.lock().is_some()
    }

    /// Sends a call, and returns its one answer.
    async fn call(&self, call: v1::PipelineCall) -> Answered {
        let (sender, answer) = oneshot::channel();
        let _number = self.send(call, Caller::Call(sender)).await?;
        answer.await.unwrap_or_else(|_| Err(broken()))
    }

    /// Sends the call of a watch, whose messages follow.
    async fn watch(
        &self,
        call: v1::PipelineCall,
    ) -> Result<(Number, mpsc::Receiver<Answered>), Status> {
        let (sender, messages) = mpsc::channel(WATCH_MESSAGES_MAX);
        let number = self.send(call, Caller::Watch(sender)).await?;
        Ok((number, messages))
    }

    async fn send(&self, mut call: v1::PipelineCall, caller: Caller) -> Result<Number, Status> {
        let number = self.waiting.last.fetch_add(1, Ordering::Relaxed);
        call.number = number;
        match &mut *self.waiting.lock() {
            Some(callers) => callers.insert(number, caller),
            None => return Err(broken()),
        };
        let number = Number {
            number,
            unsent: self.unsent.clone(),
            waiting: Arc::clone(&self.waiting),
        };
        match self.unsent.send(Outgoing::Call(call)).await {
            Ok(()) => Ok(number),
            Err(_) => Err(broken()),
        }
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Option<BTreeMap<u64, Caller>>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands an answer to its caller. False: the reader of a watch is too slow, and its watch is given up.
    fn answer(&self, number: u64, answer: Answered) -> bool {
        let mut callers = self.lock();
        let Some(callers) = &mut *callers else {
            return true;
        };
        match callers.remove(&number) {
            Some(Caller::Call(caller)) => {
                let _ = caller.send(answer);
            }
            Some(Caller::Watch(watch)) => {
                let goes_on = answer.is_ok();
                if watch.try_send(answer).is_err() {
                    return false;
                }
                if goes_on {
                    callers.insert(number, Caller::Watch(watch));
                }
            }
            // It was given up.
            None => {}
        }
        true
    }

    /// Tells all callers that there will be no answer.
    fn break_off(&self, why: &Status) {
        let callers = self.lock().take();
        for caller in callers.into_iter().flat_map(BTreeMap::into_values) {
            match caller {
                Caller::Call(caller) => {
                    let _ = caller.send(Err(why.clone()));
                }
                Caller::Watch(watch) => {
                    let _ = watch.try_send(Err(why.clone()));
                }
            }
        }
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        let was_waiting = match &mut *self.waiting.lock() {
            Some(callers) => callers.remove(&self.number).is_some(),
            None => false,
        };
        if was_waiting {
            // If there is no room the replica goes on in vain, until the deadline of the call.
            let _ = self.unsent.try_send(Outgoing::Cancel(self.number));
        }
    }
}

/// What waits to be sent, as many calls in a message as are there.
fn requests(
    receiver: mpsc::Receiver<Outgoing>,
) -> impl Stream<Item = v1::PipelineOpenRequest> + Send + 'static {
    stream::unfold(receiver, |mut receiver| async move {
        let mut next = Some(receiver.recv().await?);
        let mut request = v1::PipelineOpenRequest::default();
        let mut bytes = 0;
        while let Some(outgoing) = next {
            match outgoing {
                Outgoing::Call(call) => {
                    bytes += call.message.len();
                    request.calls.push(call);
                }
                Outgoing::Cancel(number) => request.cancel.push(number),
            }
            let is_full = bytes >= MESSAGE_BYTES_MAX || request.calls.len() >= UNSENT_MAX;
            next = if is_full {
                None
            } else {
                receiver.try_recv().ok()
            };
        }
        Some((request, receiver))
    })
}

/// Hands out the answers until the pipeline ends. Returns why it did.
async fn read(
    mut responses: Streaming<v1::PipelineOpenResponse>,
    waiting: &Waiting,
    unsent: &mpsc::WeakSender<Outgoing>,
) -> Status {
    loop {
        let response = match responses.message().await {
            Ok(Some(response)) => response,
            Ok(None) => return broken(),
            Err(status) => return status,
        };
        for v1::PipelineAnswer { numbers, answer } in response.answers {
            let answer = match answer {
                Some(Answer::Message(message)) => Ok(message),
                Some(Answer::Status(status)) => Err(from_bytes(status)),
                None => Err(Status::internal("an answer of the pipeline says nothing")),
            };
            for number in numbers {
                if !waiting.answer(number, answer.clone())
                    && let Some(unsent) = unsent.upgrade()
                {
                    let _ = unsent.try_send(Outgoing::Cancel(number));
                }
            }
        }
    }
}

/// The status of a call whose pipeline has broken: nobody knows what became of it.
fn broken() -> Status {
    Status::unavailable("the pipeline has ended before the answer")
}
