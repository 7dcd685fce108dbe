//! The handshakes of transport security, many at a time.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use synod_tls::{Acceptor, Certificate, Protocol, Signer, Subject};
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::server::Connected;

use super::door::Speaks;
use super::register::Entered;
use crate::access::{Access, Certified, Proxy};
use crate::seams::{Caller, Connection, ConnectionInfo};

/// How the connections of a door are secured.
#[derive(Clone)]
pub(crate) struct Secure {
    pub(crate) acceptor: Acceptor,
    /// Says whether a certificate may be missing.
    pub(crate) access: Access,
}

impl Secure {
    /// Whether a caller must show a certificate. Where HTTP/1.1 may be spoken, as probes do, it may be missing: the request is
    /// refused in place of the connection.
    fn certificate(&self, protocol: Protocol) -> Certificate {
        match protocol {
            Protocol::Http2 if !self.access.takes_tokens() => Certificate::Required,
            Protocol::Http2 | Protocol::Http1 => Certificate::Optional,
            // Front proxies speak for their callers at the port for the Kubernetes API alone.
            Protocol::Either => Certificate::OptionalOrProxy,
        }
    }
}

/// The connections of `entered` whose ends agree on transport security, in the order in which they do. At most `max`
/// handshakes are under way; each is a task of its own, so that several threads share the work.
pub(super) fn each(
    entered: impl Stream<Item = (Connection, Entered)> + Send,
    secure: Secure,
    max: usize,
) -> impl Stream<Item = (Connection, Entered)> + Send {
    let agreeing = entered.map(move |(connection, entered)| {
        let agreed = agree(secure.clone(), connection, entered);
        AbortOnDropHandle::new(tokio::spawn(agreed))
    });
    // A task that has panicked has let its connection go.
    let agreed = agreeing.buffer_unordered(max);
    agreed.filter_map(|ended| std::future::ready(ended.ok().flatten()))
}

/// The connection behind its transport security. `None`: its ends did not agree, or it was cut meanwhile.
async fn agree(
    secure: Secure,
    connection: Connection,
    entered: Entered,
) -> Option<(Connection, Entered)> {
    let info = connection.connect_info();
    let protocol = match entered.speaks() {
        Speaks::Http2 => Protocol::Http2,
        Speaks::Http1 => Protocol::Http1,
        Speaks::Either => Protocol::Either,
    };
    let line = Arc::clone(entered.line());
    let agreed = tokio::select! {
        biased;
        _ = poll_fn(|context| line.poll_cut(context)) => return None,
        agreed = secure.acceptor.accept(connection, protocol, secure.certificate(protocol)) => agreed,
    };
    match agreed {
        Ok(stream) => {
            let caller = match stream.get_ref().1.peer_certificates() {
                Some(chain) => {
                    let subject = chain.first().and_then(Subject::of);
                    match secure.acceptor.signer(chain)? {
                        Signer::Client => Caller::Certified(Arc::new(Certified::new(subject))),
                        Signer::Proxy => Caller::Proxy(Arc::new(Proxy::new(subject))),
                    }
                }
                None if secure.acceptor.asks() => Caller::Nameless,
                None => Caller::Unasked,
            };
            let info = ConnectionInfo { caller, ..info };
            Some((Connection::known(stream, info), entered))
        }
        Err(error) => {
            // Who looks whether the port is open goes without a word.
            if error.kind() == ErrorKind::InvalidData {
                entered.handshake_failed(&error);
            }
            None
        }
    }
}
