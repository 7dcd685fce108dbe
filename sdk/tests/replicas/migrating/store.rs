//! A store behind HTTP that answers as a test orders.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Method, Request, Response, StatusCode, Uri};
use axum::routing::{get, put};
use http_body_util::BodyExt as _;
use synod_client::{ContinueToken, Migration, Store, StoreError, StorePage};
use tower::ServiceExt as _;

const PAGE: usize = 4;

/// Items by number, each in the old version or the new one.
#[derive(Clone)]
pub(super) struct Shop(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    new: BTreeMap<usize, bool>,
    /// The errors that each place answers before it serves requests.
    answers: BTreeMap<String, VecDeque<u16>>,
    asked: BTreeMap<String, usize>,
    written: usize,
}

impl Shop {
    pub(super) fn with(items: usize) -> Self {
        let new = (0..items).map(|item| (item, false)).collect();
        Self(Arc::new(Mutex::new(Inner {
            new,
            ..Inner::default()
        })))
    }

    /// Orders the next answers of a place: `GET <from>` or `PUT <name>`.
    pub(super) fn answers(&self, place: &str, statuses: &[u16]) {
        let statuses = statuses.iter().copied().collect();
        self.inner().answers.insert(place.to_owned(), statuses);
    }

    pub(super) fn asked(&self, place: &str) -> usize {
        self.inner().asked.get(place).copied().unwrap_or_default()
    }

    /// How many writes succeeded.
    pub(super) fn written(&self) -> usize {
        self.inner().written
    }

    pub(super) fn in_old_version(&self) -> Vec<String> {
        let inner = self.inner();
        let old = inner.new.iter().filter(|(_, new)| !**new);
        old.map(|(item, _)| format!("item-{item}")).collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// Counts a request for this place, and returns the answer that was ordered for it.
    fn ordered(&self, place: &str) -> Option<StatusCode> {
        let mut inner = self.inner();
        *inner.asked.entry(place.to_owned()).or_default() += 1;
        let status = inner.answers.get_mut(place)?.pop_front()?;
        Some(StatusCode::from_u16(status).unwrap())
    }
}

/// The store as seen by a worker.
pub(super) struct ShopStore(Router);

impl ShopStore {
    pub(super) fn of(shop: &Shop) -> Self {
        let routes = Router::new()
            .route("/items", get(list))
            .route("/items/{name}", put(write));
        Self(routes.with_state(shop.clone()))
    }

    async fn send(&self, method: Method, path: &str) -> Result<String, StoreError> {
        let request = Request::builder().method(method).uri(path);
        let request = request.body(Body::empty()).unwrap();
        let response = self.0.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        match StoreError::of_http(head.status, &head.headers) {
            None => Ok(text),
            // As the server of Kubernetes does, the refusal contains the token to continue with.
            Some(StoreError::Expired(_)) => {
                Err(StoreError::Expired(ContinueToken::parse(&text).ok()))
            }
            Some(error) => Err(error),
        }
    }
}

impl Store for ShopStore {
    type Object = String;

    async fn list_page(
        &self,
        _: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<String>, StoreError> {
        let from = token.map(ContinueToken::as_str).unwrap_or_default();
        let page = self
            .send(Method::GET, &format!("/items?from={from}"))
            .await?;
        let (names, next) = page.split_once('\n').unwrap();
        Ok(StorePage {
            objects: names.split_whitespace().map(str::to_owned).collect(),
            next: ContinueToken::parse(next).ok(),
            remaining: None,
        })
    }

    async fn rewrite(&self, _: &Migration, name: &String) -> Result<(), StoreError> {
        let written = self.send(Method::PUT, &format!("/items/{name}")).await;
        written.map(drop)
    }
}

/// The names of a page in one line, and in the next one where the following page begins.
async fn list(State(shop): State<Shop>, uri: Uri) -> Response<Body> {
    let from = uri.query().and_then(|query| query.strip_prefix("from="));
    let from = from.unwrap_or_default();
    if let Some(status) = shop.ordered(&format!("GET {from}")) {
        // A list that has expired continues where it was.
        return answer(status, from.to_owned());
    }
    let from: usize = from.parse().unwrap_or_default();
    let inner = shop.inner();
    let page = inner.new.range(from..).take(PAGE);
    let names: Vec<String> = page.map(|(item, _)| format!("item-{item}")).collect();
    let next = match from + PAGE {
        next if next < inner.new.len() => next.to_string(),
        _ => String::new(),
    };
    answer(StatusCode::OK, format!("{}\n{next}", names.join(" ")))
}

async fn write(State(shop): State<Shop>, Path(name): Path<String>) -> Response<Body> {
    if let Some(status) = shop.ordered(&format!("PUT {name}")) {
        return answer(status, String::new());
    }
    let item: usize = name.trim_start_matches("item-").parse().unwrap();
    let mut inner = shop.inner();
    inner.new.insert(item, true);
    inner.written += 1;
    answer(StatusCode::OK, String::new())
}

fn answer(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    if status == StatusCode::TOO_MANY_REQUESTS {
        response
            .headers_mut()
            .insert("retry-after", "1".parse().unwrap());
    }
    response
}
