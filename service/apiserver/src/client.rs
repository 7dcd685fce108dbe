//! Calls one server.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use synod_tls::KeyPair;
use tokio::time::timeout;
use tower::service_fn;
use tower::util::BoxCloneSyncService;

use crate::access::{Access, Proxy};
use crate::connect::{Stream, connected, is_loopback};
use crate::fault::{Fault, Misconfigured, innermost};
use crate::identity::{Caller, Login, Presented};
use crate::impersonation::Impersonation;
use crate::reply::Reply;

/// The most bytes that the body of an answer may have: a page of objects at its largest.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// How long a connection that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(60);

/// How many connections that nobody uses are kept.
const IDLE_MAX: usize = 16;

/// A client of one server. Clones share its connections.
#[derive(Clone)]
pub struct ApiServer {
    inner: Arc<Inner>,
}

struct Inner {
    access: Arc<Access>,
    caller: Caller,
    /// Sent with every request.
    impersonation: Vec<(HeaderName, HeaderValue)>,
    patience: Duration,
    /// The connections of a caller who shows this certificate.
    pool: Mutex<Option<(Option<KeyPair>, Pool)>>,
}

type Connector = BoxCloneSyncService<Uri, TokioIo<Stream>, io::Error>;
type Pool = Client<Connector, Full<Bytes>>;

impl ApiServer {
    /// A client that has no connections yet, and gives each request this long to be answered.
    ///
    /// # Errors
    ///
    /// The CAs, the certificate, the key or what is said of the caller cannot be used, or what says who calls would be sent
    /// in clear.
    pub fn new(access: Access, patience: Duration) -> Result<Self, Misconfigured> {
        if access.address.is_secure() {
            let usable = access.trust.config(access.identity.own.as_ref());
            usable.map_err(Misconfigured)?;
        } else {
            sends_no_secret(&access)?;
        }
        Ok(Self {
            inner: Arc::new(Inner {
                impersonation: access.impersonation.headers()?,
                caller: Caller::new(access.identity.clone()),
                access: Arc::new(access),
                patience,
                pool: Mutex::new(None),
            }),
        })
    }

    /// The URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        self.inner.access.address.url()
    }

    /// Asks for what is at a path, which may have a query.
    ///
    /// # Errors
    ///
    /// There is no answer.
    pub async fn get(&self, path: &str) -> Result<Reply, Fault> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    /// Replaces what is at a path by this JSON document.
    ///
    /// # Errors
    ///
    /// There is no answer.
    pub async fn put(&self, path: &str, document: Bytes) -> Result<Reply, Fault> {
        self.send(Method::PUT, path, document).await
    }

    /// Sends a request, and once more if the server does not take the caller for whom it says it is, and the caller has
    /// something else to show by now. Nothing was executed the first time.
    async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<Reply, Fault> {
        let presented = self
            .inner
            .caller
            .presents()
            .await
            .map_err(Fault::NoIdentity)?;
        let reply = self
            .send_as(&presented, method.clone(), path, body.clone())
            .await?;
        if reply.status != StatusCode::UNAUTHORIZED {
            return Ok(reply);
        }
        let caller = &self.inner.caller;
        let Some(other) = caller.after(&presented).await.map_err(Fault::NoIdentity)? else {
            return Ok(reply);
        };
        // Connections keep the certificate that they were made with.
        self.pool_lock().take();
        self.send_as(&other, method, path, body).await
    }

    async fn send_as(
        &self,
        presented: &Presented,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Reply, Fault> {
        let uri = self.inner.access.address.uri(path);
        let uri = uri.map_err(|error| Fault::NotSent(format!("{path}: {error}")))?;
        let mut request = Request::new(Full::new(body));
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(
            USER_AGENT,
            HeaderValue::from_static(concat!("synod/", env!("CARGO_PKG_VERSION"))),
        );
        if method == Method::PUT {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(authorization) = &presented.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        for (name, value) in &self.inner.impersonation {
            headers.append(name, value.clone());
        }
        *request.method_mut() = method;
        let pool = self.pool(presented.own.as_ref());
        match timeout(self.inner.patience, answered(&pool, request)).await {
            Ok(answered) => answered,
            Err(_) => {
                let limit = self.inner.patience;
                Err(Fault::Unanswered(format!("no answer within {limit:?}")))
            }
        }
    }

    /// The connections of a caller who shows this certificate.
    fn pool(&self, own: Option<&KeyPair>) -> Pool {
        let mut pool = self.pool_lock();
        if let Some((of, pool)) = &*pool
            && of.as_ref() == own
        {
            return pool.clone();
        }
        let made = self.new_pool(own.cloned());
        *pool = Some((own.cloned(), made.clone()));
        made
    }

    fn new_pool(&self, own: Option<KeyPair>) -> Pool {
        let access = Arc::clone(&self.inner.access);
        let connector = service_fn(move |uri| {
            let connecting = connected(Arc::clone(&access), own.clone(), uri);
            // The name of its type would stand in the type of the client.
            Box::pin(connecting) as Pin<Box<dyn Future<Output = io::Result<_>> + Send>>
        });
        Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_MAX)
            .build(BoxCloneSyncService::new(connector))
    }

    fn pool_lock(&self) -> std::sync::MutexGuard<'_, Option<(Option<KeyPair>, Pool)>> {
        self.inner
            .pool
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether everybody on the way may read what is sent to a server that is called without encryption.
fn sends_no_secret(access: &Access) -> Result<(), Misconfigured> {
    let says_nothing =
        access.identity.login == Login::Nothing && access.impersonation == Impersonation::default();
    let uri = access.address.uri("/").ok();
    let is_here = uri.is_some_and(|uri| uri.host().is_some_and(is_loopback));
    if says_nothing || (is_here && !matches!(access.proxy, Proxy::At(_))) {
        return Ok(());
    }
    Err(Misconfigured(format!(
        "{} is not encrypted: no token, password or impersonation is sent to it; use https://, or call it as nobody",
        access.address.url()
    )))
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiServer({})", self.url())
    }
}

async fn answered(pool: &Pool, request: Request<Full<Bytes>>) -> Result<Reply, Fault> {
    let response = pool.request(request).await.map_err(|error| {
        let text = innermost(&error);
        if error.is_connect() {
            Fault::NotSent(text)
        } else {
            Fault::Unanswered(text)
        }
    })?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => Fault::TooLarge(ANSWER_BYTES_MAX),
        false => Fault::Unanswered(innermost(&*error)),
    })?;
    Ok(Reply {
        status: head.status,
        headers: head.headers,
        body: body.to_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_who_calls_is_sent_to_no_server_in_clear_but_to_this_machine() {
        let server = |url: &str, login: &Login, user: Option<&str>| {
            let mut access = Access::to(url).unwrap();
            access.identity.login = login.clone();
            access.impersonation.user = user.map(str::to_owned);
            ApiServer::new(access, Duration::from_secs(1)).map(drop)
        };
        let token = Login::Token("hunter2".to_owned());
        let fault = server("http://10.0.0.1:8080", &token, None).unwrap_err();
        let fault = fault.to_string();
        assert!(
            fault.contains("http://10.0.0.1:8080") && !fault.contains("hunter2"),
            "{fault}"
        );
        assert!(server("http://10.0.0.1:8080", &Login::Nothing, Some("alice")).is_err());
        assert!(server("http://10.0.0.1:8080", &Login::Nothing, None).is_ok());
        assert!(server("http://127.0.0.1:8001", &token, Some("alice")).is_ok());
        assert!(server("http://[::1]:8001", &token, None).is_ok());
    }
}
