//! An HTTP/2 client that writes its own frames.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use prost::Message;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

/// The first bytes of every HTTP/2 connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The length of a frame's header.
const HEAD: usize = 9;

/// Types of frames.
pub(super) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PING: u8 = 6;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
}

/// Flags of frames.
pub(super) mod flag {
    pub(crate) const ACK: u8 = 1;
    pub(crate) const END_STREAM: u8 = 1;
    pub(crate) const END_HEADERS: u8 = 4;
}

/// What comes over a connection, which may be secured.
type Reading = Box<dyn AsyncRead + Send + Unpin>;

/// What goes over it.
type Writing = Box<dyn AsyncWrite + Send + Unpin>;

/// A connection that answers pings and settings as any client does, and sends nothing else by itself.
pub(super) struct Hostile {
    write: Arc<Mutex<Writing>>,
    next_stream: AtomicU32,
    closed: watch::Receiver<bool>,
    reading: watch::Sender<bool>,
    answering: JoinHandle<()>,
}

/// Connects from an address of loopback.
pub(super) async fn dial(to: SocketAddr, from: Ipv4Addr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((from, 0)))?;
    socket.connect(to).await
}

impl Hostile {
    /// Opens a connection whose streams each have a window of `window` bytes for answers.
    pub(super) async fn connect(
        to: SocketAddr,
        from: Ipv4Addr,
        window: u32,
    ) -> std::io::Result<Self> {
        let (read, write) = dial(to, from).await?.into_split();
        Self::over(Box::new(read), Box::new(write), window).await
    }

    /// The same over a connection that is there already.
    pub(super) async fn over(
        read: Reading,
        mut write: Writing,
        window: u32,
    ) -> std::io::Result<Self> {
        let mut settings = vec![0, 4];
        settings.extend(window.to_be_bytes());
        let settings = frame(kind::SETTINGS, 0, 0, &settings);
        send(&mut write, &[PREFACE, &settings].concat()).await?;
        let write = Arc::new(Mutex::new(write));
        let (closing, closed) = watch::channel(false);
        let (reading, reads) = watch::channel(true);
        let answering = tokio::spawn({
            let write = Arc::clone(&write);
            async move {
                // `answer` returns when the connection ends.
                let _ = answer(read, &write, reads).await;
                closing.send_replace(true);
            }
        });
        Ok(Self {
            write,
            next_stream: AtomicU32::new(1),
            closed,
            reading,
            answering,
        })
    }

    /// Begins a call with one message.
    pub(super) async fn call(&self, path: &str, message: &impl Message) -> std::io::Result<u32> {
        let stream = self.next_stream.fetch_add(2, Ordering::Relaxed);
        let mut headers = Vec::new();
        for (name, value) in [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", "synod"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            ("grpc-timeout", "50S"),
        ] {
            literal(&mut headers, name);
            headers.extend([u8::try_from(value.len()).expect("headers are short")]);
            headers.extend(value.as_bytes());
        }
        let body = message.encode_to_vec();
        let length = u32::try_from(body.len()).expect("messages are short");
        let body = [&[0][..], &length.to_be_bytes(), &body].concat();
        let frames = [
            frame(kind::HEADERS, flag::END_HEADERS, stream, &headers),
            frame(kind::DATA, flag::END_STREAM, stream, &body),
        ];
        self.send(&frames.concat()).await?;
        Ok(stream)
    }

    /// Reads nothing from the socket and answers nothing from now on.
    pub(super) fn stop_reading(&mut self) {
        self.reading.send_replace(false);
    }

    /// Sends these bytes as they are.
    pub(super) async fn send(&self, bytes: &[u8]) -> std::io::Result<()> {
        send(&mut *self.write.lock().await, bytes).await
    }

    /// Whether the other end has closed the connection.
    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Waits until the other end closes the connection.
    pub(super) async fn closed(&self) {
        let mut closed = self.closed.clone();
        // An error means that the task that answers has ended, and with it the connection.
        let _ = closed.wait_for(|closed| *closed).await;
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.answering.abort();
    }
}

/// Encodes a frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("frames are short");
    let [_, length @ ..] = length.to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes a header's name as a literal: not indexed and not compressed.
fn literal(headers: &mut Vec<u8>, name: &str) {
    headers.extend([0, u8::try_from(name.len()).expect("headers are short")]);
    headers.extend(name.as_bytes());
}

/// Sends these bytes. Those of a secured connection leave when they are flushed.
async fn send(write: &mut Writing, bytes: &[u8]) -> std::io::Result<()> {
    write.write_all(bytes).await?;
    write.flush().await
}

/// Answers pings and settings, and ignores all other frames.
async fn answer(
    mut read: Reading,
    write: &Mutex<Writing>,
    mut reads: watch::Receiver<bool>,
) -> std::io::Result<()> {
    loop {
        // An error means that the connection is dropped, which ends this task.
        let _ = reads.wait_for(|reads| *reads).await;
        let mut head = [0; HEAD];
        read.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).expect("it has 24 bits")];
        read.read_exact(&mut payload).await?;
        let (kind, flags) = (head[3], head[4]);
        if flags & flag::ACK != 0 {
            continue;
        }
        let answer = match kind {
            kind::PING => frame(kind, flag::ACK, 0, &payload),
            kind::SETTINGS => frame(kind, flag::ACK, 0, &[]),
            _ => continue,
        };
        send(&mut *write.lock().await, &answer).await?;
    }
}
