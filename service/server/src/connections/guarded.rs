//! An incoming connection as a byte stream that counts its frames, notes activity, and ends when the connection is cut.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::door::{Introduced, Speaks};
use super::flood::{Frames, PREFACE_BYTES, Preface, Spoken};
use super::line::Why;
use super::register::Entered;
use crate::seams::Connection;
use crate::stop::Stop;

/// A connection that checks on every read and write whether it was cut, and notes what is received.
pub(super) struct Guarded {
    connection: Connection,
    entered: Entered,
    /// Resolves when all connections of the door are cut.
    all_cut: BoxFuture<'static, ()>,
    /// The number of bytes received, counted up to the length of the HTTP/2 preface.
    heard: usize,
    /// What tells HTTP/2 from HTTP/1.
    preface: Preface,
    /// The frames of HTTP/2; `None` where HTTP/1 is spoken.
    frames: Option<Frames>,
    sending: Sending,
}

/// How far the answers that are ready have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    /// Nothing waits.
    Nothing,
    /// An answer waits for those that are about to be ready too.
    Gathering,
    /// All that was ready is being written.
    Writing,
}

impl Guarded {
    pub(super) fn new(connection: Connection, entered: Entered, cut: Option<Stop>) -> Self {
        let all_cut = async move {
            match cut {
                Some(cut) => cut.requested().await,
                None => std::future::pending().await,
            }
        };
        let frames = (entered.speaks() != Speaks::Http1).then(Frames::new);
        Self {
            connection,
            entered,
            all_cut: Box::pin(all_cut),
            heard: 0,
            preface: Preface::default(),
            frames,
            sending: Sending::Nothing,
        }
    }

    /// Lets those calls of this connection that have just been answered go on before an answer is written: their answers
    /// leave with it. An entry of the log answers many calls at once, and a round of leadership does, and each answer would
    /// be a write and a packet of its own.
    fn gather(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.sending == Sending::Nothing && self.entered.line().has_waits() {
            self.sending = Sending::Gathering;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.sending = Sending::Writing;
        Poll::Ready(())
    }

    /// Fails if the connection is cut. The task that serves a connection always waits to read or to write, so checking
    /// in both places wakes it to end.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.all_cut.as_mut().poll(context).is_ready() {
            self.all_cut = Box::pin(std::future::ready(()));
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        match self.entered.line().poll_cut(context) {
            Poll::Ready(Why::Silent) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Ready(_) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }

    /// Notes received bytes: introduction, activity and frames.
    fn hear(&mut self, bytes: &[u8]) -> io::Result<()> {
        let line = self.entered.line();
        if self.heard < PREFACE_BYTES {
            self.heard += bytes.len().min(PREFACE_BYTES - self.heard);
            match self.entered.introduced() {
                Introduced::Preface if self.heard == PREFACE_BYTES => line.introduce(),
                Introduced::Anything => line.introduce(),
                Introduced::Preface | Introduced::Call => {}
            }
        }
        let spoken = self.preface.hear(bytes);
        match (self.entered.speaks(), spoken) {
            (Speaks::Either, Spoken::Http2) => line.ping(),
            (Speaks::Either, Spoken::Http1) => self.frames = None,
            // The library would speak HTTP/2 here, too, whose frames nobody would count.
            (Speaks::Http1, Spoken::Http2) => {
                self.entered.cut(Why::Flood);
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            (Speaks::Http2, _)
            | (Speaks::Either, Spoken::Unknown)
            | (Speaks::Http1, Spoken::Http1 | Spoken::Unknown) => {}
        }
        let Some(frames) = &mut self.frames else {
            line.hear();
            return Ok(());
        };
        // On HTTP/2, only calls count as activity, not frames.
        if frames.pass(bytes) {
            return Ok(());
        }
        self.entered.cut(Why::Flood);
        Err(io::ErrorKind::ConnectionAborted.into())
    }

    fn sent(&mut self, written: &Poll<io::Result<usize>>) {
        if let (Poll::Ready(Ok(bytes)), Some(frames)) = (written, &mut self.frames) {
            frames.send(*bytes);
        }
    }
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.connection).poll_read(context, buffer))?;
        Poll::Ready(self.hear(&buffer.filled()[before..]))
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        ready!(self.gather(context));
        let written = Pin::new(&mut self.connection).poll_write(context, bytes);
        self.sent(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        ready!(Pin::new(&mut self.connection).poll_flush(context))?;
        if self.sending == Sending::Writing {
            self.sending = Sending::Nothing;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.connection).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        ready!(self.gather(context));
        let written = Pin::new(&mut self.connection).poll_write_vectored(context, buffers);
        self.sent(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }
}
