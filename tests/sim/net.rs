//! The simulated network: byte pipes with latency, which lose nothing but may deliver late.
//!
//! A connection is two pipes. Bytes become readable when they are due; a cut link holds them until it is healed, as TCP
//! would resend them. A machine that loses power falls silent. A killed process closes its connections at once, but its
//! address accepts new ones for a moment and drops them: the operating system closes the listening socket last.

mod pipe;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use synod_server::seams::{Connection, Dial, Incoming};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use pipe::Pipe;

/// A machine of the simulation, by its number.
pub(crate) type Host = u64;

/// The bytes in flight that one pipe can hold; then its writer waits.
const PIPE_BYTES: usize = 256 << 10;

/// The latency of bytes, in simulated milliseconds.
const LATENCY: std::ops::RangeInclusive<u64> = 1..=4;

/// How long after a link is healed a connection resends what was lost, in simulated milliseconds: TCP backs off.
const RESENT: std::ops::RangeInclusive<u64> = 0..=400;

/// How long the address of a killed process still accepts connections, in simulated milliseconds.
const LINGER: std::ops::RangeInclusive<u64> = 0..=15;

/// The network. Clones share it.
#[derive(Clone)]
pub(crate) struct Net(Arc<Mutex<NetState>>);

struct NetState {
    now: u64,
    rng: StdRng,
    pipes: BTreeMap<u64, Pipe>,
    next_pipe: u64,
    listeners: BTreeMap<String, Listener>,
    /// Addresses of killed processes that still accept connections, and when they will refuse them.
    closing: BTreeMap<String, u64>,
    cut: BTreeSet<(Host, Host)>,
    /// Cut links whose answers arrive all the same: see [`Net::let_answer`].
    answering: BTreeSet<(Host, Host)>,
    silent: BTreeSet<Host>,
    /// The additional latency of all bytes, in milliseconds.
    slowness: u64,
}

struct Listener {
    host: Host,
    arrived: VecDeque<(u64, u64, Host)>,
    waker: Option<Waker>,
}

impl Net {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(NetState {
            now: 0,
            rng: StdRng::seed_from_u64(seed),
            pipes: BTreeMap::new(),
            next_pipe: 0,
            listeners: BTreeMap::new(),
            closing: BTreeMap::new(),
            cut: BTreeSet::new(),
            answering: BTreeSet::new(),
            silent: BTreeSet::new(),
            slowness: 0,
        })))
    }

    /// Sets the network's clock, and delivers what is due.
    pub(crate) fn advance(&self, now: u64) {
        let mut state = self.lock();
        state.now = now;
        let NetState {
            pipes,
            cut,
            answering,
            silent,
            ..
        } = &mut *state;
        let mut wakers = Vec::new();
        for pipe in pipes.values_mut() {
            let link = (pipe.from, pipe.to);
            let held = cut.contains(&link) && !(pipe.answers && answering.contains(&link))
                || silent.contains(&pipe.from)
                || silent.contains(&pipe.to);
            if !held {
                wakers.extend(pipe.deliver(now));
            }
        }
        pipes.retain(|_, pipe| !(pipe.reader_gone && pipe.writer_gone));
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// The time of the world, in simulated milliseconds.
    pub(crate) fn now(&self) -> u64 {
        self.lock().now
    }

    /// Cuts the link between two hosts, or heals it.
    pub(crate) fn set_cut(&self, one: Host, other: Host, cut: bool) {
        let mut state = self.lock();
        for link in [(one, other), (other, one)] {
            if cut {
                state.cut.insert(link);
            } else {
                state.cut.remove(&link);
                state.answering.remove(&link);
                let NetState {
                    now, rng, pipes, ..
                } = &mut *state;
                for pipe in pipes
                    .values_mut()
                    .filter(|pipe| (pipe.from, pipe.to) == link)
                {
                    pipe.resume_at(*now + rng.random_range(RESENT));
                }
            }
        }
    }

    /// Cuts one direction of a link only.
    pub(crate) fn cut_towards(&self, from: Host, to: Host) {
        self.lock().cut.insert((from, to));
    }

    /// Lets what `from` has answered arrive over the connections that `to` opened, although the link is cut: every connection
    /// resends what was lost at a time of its own.
    pub(crate) fn let_answer(&self, from: Host, to: Host) {
        self.lock().answering.insert((from, to));
    }

    /// Adds this latency, in milliseconds, to all links.
    pub(crate) fn slow_down(&self, millis: u64) {
        self.lock().slowness = millis;
    }

    /// Makes a host fall silent, as when it loses power: its peers keep their connections, and receive nothing more.
    pub(crate) fn silence(&self, host: Host) {
        let mut state = self.lock();
        state.silent.insert(host);
        state.abandon(host, |_| None);
        // Its peers can still write until the pipe is full.
        state
            .pipes
            .values_mut()
            .filter(|pipe| pipe.to == host)
            .for_each(|pipe| pipe.reader_gone = false);
    }

    /// Reconnects a silent host. Its old connections break.
    pub(crate) fn unsilence(&self, host: Host) {
        let mut state = self.lock();
        let mut wakers = Vec::new();
        for pipe in state
            .pipes
            .values_mut()
            .filter(|pipe| pipe.from == host || pipe.to == host)
        {
            wakers.extend(pipe.break_off());
        }
        state.silent.remove(&host);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends all connections of a host whose process was killed, in the order in which they were opened. The order in
    /// which the runtime drops its tasks would depend on earlier runs in this process.
    pub(crate) fn close(&self, host: Host) {
        let mut state = self.lock();
        let listening = state.listeners.iter().filter(|(_, it)| it.host == host);
        let addresses: Vec<String> = listening.map(|(address, _)| address.clone()).collect();
        for address in addresses {
            let closed = state.now + state.rng.random_range(LINGER);
            state.closing.insert(address, closed);
        }
        state.abandon(host, |state| Some(state.now + state.latency()));
    }

    /// Listens at `address` on `host`, and returns the connections that arrive.
    pub(crate) fn listen(&self, host: Host, address: &str) -> Incoming {
        let listener = Listener {
            host,
            arrived: VecDeque::new(),
            waker: None,
        };
        let mut state = self.lock();
        state.closing.remove(address);
        state.listeners.insert(address.to_owned(), listener);
        drop(state);
        let (net, address) = (self.clone(), address.to_owned());
        futures::stream::poll_fn(move |context| net.poll_accept(&address, context)).boxed()
    }

    /// The dialler for connections from `host`.
    pub(crate) fn dialer(&self, host: Host) -> Arc<dyn Dial> {
        Arc::new(SimDialer {
            net: self.clone(),
            host,
        })
    }

    fn poll_accept(
        &self,
        address: &str,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Connection>>> {
        let mut state = self.lock();
        let Some(listener) = state.listeners.get_mut(address) else {
            return Poll::Ready(None);
        };
        match listener.arrived.pop_front() {
            Some((read, write, from)) => {
                drop(state);
                let end = End {
                    net: self.clone(),
                    read,
                    write,
                };
                Poll::Ready(Some(Ok(Connection::new(end, format!("host {from}")))))
            }
            None => {
                listener.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// `None` if not even a refusal would arrive.
    fn try_connect(&self, from: Host, address: &str) -> Option<io::Result<End>> {
        let mut state = self.lock();
        let to = address.parse::<Address>().ok()?.host;
        if state.silent.contains(&to) || state.cut.contains(&(from, to)) {
            return None;
        }
        let closed = state.closing.get(address).copied().unwrap_or_default();
        if !state.listeners.contains_key(address) && closed <= state.now {
            return Some(Err(io::ErrorKind::ConnectionRefused.into()));
        }
        let there = state.add_pipe(from, to, false);
        let back = state.add_pipe(to, from, true);
        let waker = match state.listeners.get_mut(address) {
            Some(listener) => {
                listener.arrived.push_back((there, back, from));
                listener.waker.take()
            }
            None => {
                state.drop_unaccepted(there, back, closed);
                None
            }
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Some(Ok(End {
            net: self.clone(),
            read: back,
            write: there,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, NetState> {
        self.0.lock().unwrap()
    }
}

impl NetState {
    fn add_pipe(&mut self, from: Host, to: Host, answers: bool) -> u64 {
        let id = self.next_pipe;
        self.next_pipe += 1;
        self.pipes.insert(id, Pipe::new(from, to, answers));
        id
    }

    /// Removes a host's listeners and its ends of connections. `end` says when the other side learns of it.
    fn abandon(&mut self, host: Host, end: impl Fn(&mut Self) -> Option<u64>) {
        self.listeners.retain(|_, listener| listener.host != host);
        let ids: Vec<u64> = self.pipes.keys().copied().collect();
        for id in ids {
            let due = if self.pipes[&id].from == host {
                end(self)
            } else {
                None
            };
            let Some(pipe) = self.pipes.get_mut(&id) else {
                continue;
            };
            if let Some(due) = due.filter(|_| !pipe.writer_gone) {
                pipe.send(due, &[]);
            }
            pipe.writer_gone |= pipe.from == host;
            pipe.reader_gone |= pipe.to == host;
            pipe.abandoned |= pipe.to == host;
        }
    }

    /// Ends a connection to a killed process when its address stops accepting.
    fn drop_unaccepted(&mut self, there: u64, back: u64, closed: u64) {
        let heard = closed + self.latency();
        if let Some(pipe) = self.pipes.get_mut(&there) {
            pipe.reader_gone = true;
            pipe.abandoned = true;
        }
        if let Some(pipe) = self.pipes.get_mut(&back) {
            pipe.send(heard, &[]);
            pipe.writer_gone = true;
        }
    }

    fn latency(&mut self) -> u64 {
        self.slowness + self.rng.random_range(LATENCY)
    }
}

/// An address: `replica-<host>:<port>`.
struct Address {
    host: Host,
}

impl std::str::FromStr for Address {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (name, _) = text.split_once(':').ok_or(())?;
        let host = name
            .strip_prefix("replica-")
            .and_then(|host| host.parse().ok())
            .ok_or(())?;
        Ok(Self { host })
    }
}

/// The address at which a host serves the other replicas.
pub(crate) fn peer_address(host: Host) -> String {
    format!("replica-{host}:2380")
}

/// The address at which a host serves clients.
pub(crate) fn client_address(host: Host) -> String {
    format!("replica-{host}:2379")
}

struct SimDialer {
    net: Net,
    host: Host,
}

impl Dial for SimDialer {
    fn dial(&self, address: String) -> BoxFuture<'static, io::Result<Connection>> {
        let (net, host) = (self.net.clone(), self.host);
        Box::pin(async move {
            let latency = net.lock().latency();
            tokio::time::sleep(Duration::from_millis(latency)).await;
            match net.try_connect(host, &address) {
                Some(connected) => Ok(Connection::new(connected?, address)),
                // Not even a refusal arrives; the caller has a deadline.
                None => std::future::pending().await,
            }
        })
    }
}

/// One end of a connection.
struct End {
    net: Net,
    read: u64,
    write: u64,
}

impl AsyncRead for End {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.net.lock();
        let Some(pipe) = state.pipes.get_mut(&self.read) else {
            return Poll::Ready(Ok(()));
        };
        if pipe.readable.is_empty() {
            if pipe.ended {
                return Poll::Ready(Ok(()));
            }
            pipe.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        let count = buffer.remaining().min(pipe.readable.len());
        let bytes: Vec<u8> = pipe.readable.drain(..count).collect();
        buffer.put_slice(&bytes);
        let writer = pipe.writer.take();
        drop(state);
        if let Some(writer) = writer {
            writer.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.net.lock();
        let due = state.now + state.latency();
        let Some(pipe) = state
            .pipes
            .get_mut(&self.write)
            .filter(|pipe| !pipe.reader_gone)
        else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let room = PIPE_BYTES.saturating_sub(pipe.under_way_bytes + pipe.readable.len());
        if room == 0 {
            pipe.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        let count = room.min(bytes.len());
        pipe.send(due, &bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.net.lock();
        let due = state.now + state.latency();
        if let Some(pipe) = state.pipes.get_mut(&self.write) {
            pipe.send(due, &[]);
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let mut state = self.net.lock();
        let open = state
            .pipes
            .get(&self.write)
            .is_some_and(|pipe| !pipe.writer_gone);
        let due = if open {
            Some(state.now + state.latency())
        } else {
            None
        };
        if let Some((due, pipe)) = due.zip(state.pipes.get_mut(&self.write)) {
            pipe.writer_gone = true;
            pipe.send(due, &[]);
        }
        let waker = state
            .pipes
            .get_mut(&self.read)
            .filter(|pipe| !pipe.abandoned)
            .and_then(|pipe| {
                pipe.reader_gone = true;
                pipe.writer.take()
            });
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
