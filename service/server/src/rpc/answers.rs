//! The body of an answer. Its bytes count on the connection, and its call counts as active, until the bytes are taken.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use synod_model::Refusal;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

use super::admission::AdmissionSlot;
use super::methods::Class;
use crate::connections::{Call, Held, Line, Pieces};

/// The body of an answer to one call.
pub(super) struct ResponseBody {
    body: Body,
    /// The connection that the bytes count on; `None` where the service counts them itself.
    line: Option<Arc<Line>>,
    /// What was made of the body already and is given to the network first.
    made: Option<Made>,
    /// Whether this is a stream, which makes each message only when it can be sent.
    is_stream: bool,
    _call: Option<Call>,
    /// A stream holds its place until it ends; any other call has released it when it is answered.
    _place: Option<AdmissionSlot>,
}

enum Made {
    /// A message.
    Message(Pieces),
    /// Anything else: the end of the body, trailers or an error.
    Other(Option<Result<Frame<Bytes>, Status>>),
}

/// Waits until the connection of a call has room for another answer.
///
/// # Errors
///
/// `OVERLOADED` if the client does not read enough of its earlier answers by the deadline.
pub(super) async fn room(
    line: Option<&Line>,
    class: Class,
    deadline: Instant,
) -> Result<(), Refusal> {
    match (line, class) {
        // Answers about health and status are small, and must be given even when the replica does badly.
        (None, _) | (_, Class::Side | Class::SideStream) => Ok(()),
        (Some(line), _) => line.unsent().room(deadline).await,
    }
}

impl ResponseBody {
    /// The body for a call of this class. A stream's messages are made as they are taken; any other answer at once.
    pub(super) fn body(
        body: Body,
        class: Class,
        place: AdmissionSlot,
        line: Option<Arc<Line>>,
        call: Option<Call>,
    ) -> Body {
        let is_stream = class.is_stream();
        let mut answer = Self {
            body,
            line: line.filter(|_| !matches!(class, Class::Watch | Class::Pipeline)),
            made: None,
            is_stream,
            _call: call,
            _place: is_stream.then_some(place),
        };
        if !is_stream {
            // Encoded at once, because the message in memory is larger than its bytes and is not counted.
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(frame) = answer.poll_make(&mut context) {
                answer.made = Some(frame);
            }
        }
        Body::new(answer)
    }

    fn poll_make(&mut self, context: &mut Context<'_>) -> Poll<Made> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let Some(line) = &self.line else {
            return Poll::Ready(Made::Other(frame));
        };
        Poll::Ready(match frame {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(bytes) => Made::Message(Held::own(line, bytes).pieces()),
                Err(frame) => Made::Other(Some(Ok(frame))),
            },
            ended => Made::Other(ended),
        })
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        loop {
            match self.made.take() {
                Some(Made::Message(mut pieces)) => {
                    if let Some(piece) = pieces.next() {
                        self.made = Some(Made::Message(pieces));
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                }
                Some(Made::Other(frame)) => return Poll::Ready(frame),
                None => {
                    if let (true, Some(line)) = (self.is_stream, &self.line) {
                        ready!(line.unsent().poll_room(context));
                    }
                    self.made = Some(ready!(self.poll_make(context)));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.made.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
