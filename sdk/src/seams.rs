//! What tests and the simulator replace: the clock, randomness and the network.
//!
//! Timers are tokio's. They decide when something is tried again, never whether a write may go through: for that, the
//! [`Clock`] is read each time.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use rand::TryRng as _;
use rand::rngs::SysRng;
use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a client uses of its surroundings.
#[derive(Clone)]
pub struct Seams {
    /// The clock by which a membership is proved.
    pub clock: Arc<dyn Clock>,
    /// The random numbers for names and jitter.
    pub randomness: Arc<dyn Randomness>,
    /// The way to reach replicas. `None`: TCP.
    pub dialer: Option<Arc<dyn Dial>>,
}

/// A clock that goes on while the machine is suspended.
pub trait Clock: Send + Sync {
    /// The time since some fixed moment of the past. It never goes back, and counts suspension.
    fn now(&self) -> Duration;
}

/// A source of random numbers.
pub trait Randomness: Send + Sync {
    /// The next number.
    fn next(&self) -> u64;
}

/// A way to reach replicas.
pub trait Dial: Send + Sync {
    /// Connects to an address of the form `host:port`.
    fn dial(&self, address: &str) -> BoxFuture<'static, io::Result<Connection>>;
}

/// A stream of bytes to a replica and back.
pub struct Connection(Pin<Box<dyn Stream>>);

trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

impl Seams {
    /// The machine's own clock, randomness and network.
    #[must_use]
    pub fn real() -> Self {
        Self {
            clock: Arc::new(BootClock),
            randomness: Arc::new(SystemRandomness),
            dialer: None,
        }
    }
}

impl Default for Seams {
    fn default() -> Self {
        Self::real()
    }
}

impl fmt::Debug for Seams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seams").finish_non_exhaustive()
    }
}

impl Connection {
    /// A connection over `stream`.
    pub fn new(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connection")
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.as_mut().poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_shutdown(cx)
    }
}

/// The time since the machine was started, including suspension.
struct BootClock;

impl Clock for BootClock {
    fn now(&self) -> Duration {
        let now = clock_gettime(BOOT_CLOCK);
        // The time since a start is not negative, and nanoseconds are below a thousand million.
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        let nanoseconds = u32::try_from(now.tv_nsec).unwrap_or_default();
        Duration::new(seconds, nanoseconds)
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "openbsd"))]
const BOOT_CLOCK: ClockId = ClockId::Boottime;
/// On other systems, this is the clock that goes on while the machine sleeps; on macOS by its documentation.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "openbsd")))]
const BOOT_CLOCK: ClockId = ClockId::Monotonic;

/// The operating system's random numbers.
struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn next(&self) -> u64 {
        match SysRng.try_next_u64() {
            Ok(number) => number,
            // Two processes with the same instance name would share an epoch, which is worse than not to start.
            Err(error) => panic!("the operating system gives no random numbers: {error}"),
        }
    }
}
