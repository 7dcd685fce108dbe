//! One session of ZooKeeper over one connection. It answers calls in their order.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::interval;

use crate::session::Answered;

const PING: i32 = 11;
const PING_NUMBER: i32 = -2;

const SESSION_TIMEOUT: Duration = Duration::from_secs(30);

/// The length of the first message.
const HELLO_BYTES: i32 = 45;
const PASSWORD_BYTES: i32 = 16;

/// The number of calls that may wait to be sent: as many as the clients of a connection have under way.
const CALLS_MAX: usize = 2_048;

/// The number of calls that are written at once.
const CALLS_IN_WRITE_MAX: usize = 256;

pub(crate) struct Reply {
    pub(crate) error: i32,
    pub(crate) body: Bytes,
}

struct Outgoing {
    operation: i32,
    body: Bytes,
    /// Nobody waits for the answer to a ping.
    reply: Option<oneshot::Sender<Reply>>,
}

type Waiting = Arc<Mutex<VecDeque<oneshot::Sender<Reply>>>>;

pub(crate) struct Connection {
    outgoing: mpsc::Sender<Outgoing>,
    /// They end with the connection.
    _tasks: JoinSet<()>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Answered<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        greet(&mut stream).await?;
        let (reader, writer) = stream.into_split();
        let (outgoing, queue) = mpsc::channel(CALLS_MAX);
        let waiting = Waiting::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(write(writer, queue, Arc::clone(&waiting)));
        tasks.spawn(read(reader, waiting));
        tasks.spawn(ping(outgoing.clone()));
        Ok(Self {
            outgoing,
            _tasks: tasks,
        })
    }

    pub(crate) async fn send(
        &self,
        operation: i32,
        body: Bytes,
    ) -> Answered<oneshot::Receiver<Reply>> {
        let (reply, receiver) = oneshot::channel();
        let outgoing = Outgoing {
            operation,
            body,
            reply: Some(reply),
        };
        let sent = self.outgoing.send(outgoing).await;
        sent.map_err(|_| "the connection has ended")?;
        Ok(receiver)
    }
}

/// Begins a new session, which has seen nothing.
async fn greet(stream: &mut TcpStream) -> Answered<()> {
    let timeout_ms = i32::try_from(SESSION_TIMEOUT.as_millis())?;
    let mut hello = BytesMut::new();
    hello.put_i32(HELLO_BYTES);
    // The version of the protocol, and the last change that was seen.
    hello.put_i32(0);
    hello.put_i64(0);
    hello.put_i32(timeout_ms);
    // No session before, so no password; and not for reading alone.
    hello.put_i64(0);
    hello.put_i32(PASSWORD_BYTES);
    hello.put_bytes(0, usize::try_from(PASSWORD_BYTES)?);
    hello.put_u8(0);
    stream.write_all(&hello).await?;
    let length = usize::try_from(stream.read_i32().await?)?;
    stream.read_exact(&mut vec![0; length]).await?;
    Ok(())
}

async fn write(mut writer: OwnedWriteHalf, mut queue: mpsc::Receiver<Outgoing>, waiting: Waiting) {
    let mut number = 0;
    let (mut buffer, mut calls) = (BytesMut::new(), Vec::new());
    while queue.recv_many(&mut calls, CALLS_IN_WRITE_MAX).await > 0 {
        for call in calls.drain(..) {
            buffer.put_i32(i32::try_from(8 + call.body.len()).expect("calls are short"));
            match call.reply {
                Some(reply) => {
                    number = (number + 1) & i32::MAX;
                    buffer.put_i32(number);
                    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                    waiting.push_back(reply);
                }
                None => buffer.put_i32(PING_NUMBER),
            }
            buffer.put_i32(call.operation);
            buffer.put_slice(&call.body);
        }
        if writer.write_all(&buffer).await.is_err() {
            return;
        }
        buffer.clear();
    }
}

async fn read(mut reader: OwnedReadHalf, waiting: Waiting) {
    let mut buffer = BytesMut::new();
    while matches!(reader.read_buf(&mut buffer).await, Ok(1..)) {
        while let Some((number, reply)) = next(&mut buffer) {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if number >= 0
                && let Some(caller) = waiting.pop_front()
            {
                // A client that has stopped needs no answer.
                let _ = caller.send(reply);
            }
        }
        buffer.reserve(16 * 1024);
    }
    // Whoever still waits hears that there will be no answer.
    waiting
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
}

/// Takes the next whole answer with its number.
fn next(buffer: &mut BytesMut) -> Option<(i32, Reply)> {
    let length = (&buffer[..]).try_get_i32().ok()?;
    let length = usize::try_from(length).ok()?;
    if buffer.len() < 4 + length {
        return None;
    }
    buffer.advance(4);
    let mut body = buffer.split_to(length).freeze();
    let number = body.try_get_i32().ok()?;
    let _change = body.try_get_i64().ok()?;
    let error = body.try_get_i32().ok()?;
    Some((number, Reply { error, body }))
}

async fn ping(outgoing: mpsc::Sender<Outgoing>) {
    let mut beat = interval(SESSION_TIMEOUT / 3);
    loop {
        beat.tick().await;
        let ping = Outgoing {
            operation: PING,
            body: Bytes::new(),
            reply: None,
        };
        if outgoing.send(ping).await.is_err() {
            return;
        }
    }
}
