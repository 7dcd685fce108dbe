//! The clients of the API servers: they read, change and write back objects all the time, at all servers, and record
//! every answer.
//!
//! Each client has objects of its own that no other client writes, so it knows what it must read. If a server refuses,
//! is down or does not answer, the next step asks another one.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::clock::now_ms;
use super::codec::HubObject;
use super::journal::Journal;
use super::records::{Answered, Asked, ClientAnswer};
use super::release::{AGGREGATED, CONTROL_PLANE, Resource};
use super::servers::METRICS;
use super::stage::Stage;
use synod_terminal::http::{Http, NoReply, Reply};

const CLIENTS: usize = 6;

/// The number of objects of each resource that a client has.
const OBJECTS: usize = 2;

/// The number of objects of each resource that the archivist stores once and does not touch again.
const ARCHIVED: usize = 30;

/// How long a client rests after each write.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a client waits for an answer: longer than a server waits for the store.
const LIMIT: Duration = Duration::from_secs(3);

/// The running clients.
#[derive(Debug)]
pub(crate) struct Clients {
    stop: watch::Sender<bool>,
    /// Whether the archivist has stored all of its objects.
    archived: watch::Receiver<bool>,
    tasks: JoinSet<()>,
}

impl Clients {
    /// Starts the clients.
    pub(crate) fn start(
        servers: &[(&'static str, String)],
        journal: &Arc<Journal>,
        stage: &Stage,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (archiving, archived) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let client = |name: String, objects| ApiClient {
            name,
            objects,
            servers: servers.to_vec(),
            http: Http::default(),
            journal: Arc::clone(journal),
            stage: stage.clone(),
        };
        for number in 1..=CLIENTS {
            let client = client(format!("client-{number}"), OBJECTS);
            tasks.spawn(client.work(number, stopped.clone()));
        }
        let archivist = client("archivist".to_owned(), ARCHIVED);
        tasks.spawn(archivist.archive(archiving, stopped));
        Self {
            stop,
            archived,
            tasks,
        }
    }

    /// Waits until the archivist has stored all of its objects.
    pub(crate) async fn archived(&mut self) {
        // An error means that the archivist has ended: then it stores nothing more.
        let _ = self.archived.wait_for(|done| *done).await;
    }

    /// Lets the clients finish their current turn and read everything back once more, through every server.
    pub(crate) async fn finish(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

/// One client.
#[derive(Clone, Debug)]
struct ApiClient {
    name: String,
    /// The number of objects of each resource that this client has.
    objects: usize,
    servers: Vec<(&'static str, String)>,
    http: Http,
    journal: Arc<Journal>,
    stage: Stage,
}

/// The result of a read.
enum Found {
    Object { object: HubObject, version: String },
    Nothing,
    Unreadable,
}

impl ApiClient {
    async fn work(self, offset: usize, stopped: watch::Receiver<bool>) {
        let objects = self.objects();
        let mut step = offset;
        while !*stopped.borrow() {
            for (resource, name) in &objects {
                // Each turn begins at another server. It reads from one server and writes through the next.
                self.turn(*resource, name, step).await;
                step += 1;
                sleep(PAUSE).await;
            }
        }
        self.read_back(&objects).await;
    }

    /// The archivist's work: stores objects once, and reads them back at the end.
    async fn archive(self, done: watch::Sender<bool>, mut stopped: watch::Receiver<bool>) {
        let objects = self.objects();
        for (step, (resource, name)) in objects.iter().enumerate() {
            // Repeated until the object is there: a write may be refused by a closed gate, or not be answered.
            while !matches!(self.read(*resource, name, step).await, Found::Object { .. }) {
                self.turn(*resource, name, step).await;
            }
        }
        done.send_replace(true);
        // An error means that the sender is gone.
        let _ = stopped.wait_for(|stop| *stop).await;
        self.read_back(&objects).await;
    }

    /// Reads every object through every server.
    async fn read_back(&self, objects: &[(Resource, String)]) {
        for (resource, name) in objects {
            for place in 0..self.serving(*resource).len() {
                self.read(*resource, name, place).await;
            }
        }
    }

    /// Every object of this client.
    fn objects(&self) -> Vec<(Resource, String)> {
        let resources = CONTROL_PLANE[0]
            .resources
            .iter()
            .chain(AGGREGATED.resources);
        let numbered = resources
            .flat_map(|resource| (1..=self.objects).map(move |number| (*resource, number)));
        numbered
            .map(|(resource, number)| (resource, format!("{}-{number}", self.name)))
            .collect()
    }

    /// The servers that serve a resource.
    fn serving(&self, resource: Resource) -> Vec<&(&'static str, String)> {
        let is_aggregated = AGGREGATED.resources.contains(&resource);
        self.servers
            .iter()
            .filter(|(id, _)| (*id == METRICS) == is_aggregated)
            .collect()
    }

    /// Reads an object from one server and writes its next number through another.
    async fn turn(&self, resource: Resource, name: &str, step: usize) {
        let (asked, object, version) = match self.read(resource, name, step).await {
            Found::Unreadable => return,
            Found::Nothing => {
                let object = HubObject {
                    name: name.to_owned(),
                    color: HubObject::color_of(name).to_owned(),
                    number: 1,
                    author: self.name.clone(),
                };
                (Asked::Create, object, None)
            }
            Found::Object { object, version } => {
                let number = object.number + 1;
                (Asked::Update, HubObject { number, ..object }, Some(version))
            }
        };
        let mut body = object.encode(resource.kind, resource.served);
        if let Some(version) = version {
            body["metadata"]["resourceVersion"] = version.into();
        }
        let (method, path) = match asked {
            Asked::Update => (Method::PUT, format!("{}/{name}", path(resource))),
            Asked::Create | Asked::Read => (Method::POST, path(resource)),
        };
        let (server, reply) = self
            .ask(resource, step + 1, method, &path, Some(&body))
            .await;
        let answer = written(reply);
        self.record(server, asked, resource, &object, answer);
    }

    async fn read(&self, resource: Resource, name: &str, step: usize) -> Found {
        let path = format!("{}/{name}", path(resource));
        let (server, reply) = self.ask(resource, step, Method::GET, &path, None).await;
        let (answer, found) = read(reply, resource, name);
        let object = HubObject {
            name: name.to_owned(),
            color: String::new(),
            number: 0,
            author: String::new(),
        };
        self.record(server, Asked::Read, resource, &object, answer);
        found
    }

    async fn ask(
        &self,
        resource: Resource,
        step: usize,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> (&'static str, Result<Reply, NoReply>) {
        let serving = self.serving(resource);
        let (id, address) = serving[step % serving.len()];
        (id, self.http.ask(method, address, path, body, LIMIT).await)
    }

    fn record(
        &self,
        server: &str,
        asked: Asked,
        resource: Resource,
        object: &HubObject,
        answer: ClientAnswer,
    ) {
        self.stage.change(|shown| {
            let tally = &mut shown.tally;
            match &answer {
                ClientAnswer::Acknowledged(_) => {
                    tally.acknowledged += 1;
                    let place = (server.to_owned(), resource.name());
                    *tally.places.entry(place).or_default() += 1;
                }
                ClientAnswer::Refused => tally.refused += 1,
                ClientAnswer::Read(_) => tally.read += 1,
                ClientAnswer::Garbled
                | ClientAnswer::Missing
                | ClientAnswer::Conflict
                | ClientAnswer::Undecodable(_)
                | ClientAnswer::NotSent
                | ClientAnswer::Unknown(_) => tally.other += 1,
            }
        });
        let line = Answered {
            at_ms: now_ms(),
            client: self.name.clone(),
            server: server.to_owned(),
            asked,
            resource: resource.name(),
            name: object.name.clone(),
            number: object.number,
            answer,
        };
        if let Err(error) = self.journal.append(&line) {
            self.stage
                .say(format!("an answer cannot be recorded: {error}"));
        }
    }
}

/// The path of a resource's objects, in the version that clients use.
fn path(resource: Resource) -> String {
    format!("/apis/{}/{}", resource.served, resource.plural)
}

/// The answer to a write, as it is recorded.
fn written(reply: Result<Reply, NoReply>) -> ClientAnswer {
    let reply = match reply {
        Ok(reply) => reply,
        Err(NoReply::NotSent(_)) => return ClientAnswer::NotSent,
        Err(NoReply::Unanswered(why)) => return ClientAnswer::Unknown(why),
    };
    let body = reply.json();
    let version = body
        .pointer("/metadata/resourceVersion")
        .and_then(Value::as_str);
    let version = version.and_then(|text| text.parse().ok());
    match (reply.status, version) {
        (StatusCode::OK | StatusCode::CREATED, Some(version)) => {
            ClientAnswer::Acknowledged(version)
        }
        (StatusCode::CONFLICT, _) => ClientAnswer::Conflict,
        (StatusCode::SERVICE_UNAVAILABLE, _) if body["reason"] == json!("ServiceUnavailable") => {
            ClientAnswer::Refused
        }
        (StatusCode::SERVICE_UNAVAILABLE, _) => ClientAnswer::NotSent,
        (status, _) => ClientAnswer::Unknown(format!("{status}: {body}")),
    }
}

/// The answer to a read, as it is recorded, and what was found.
fn read(reply: Result<Reply, NoReply>, resource: Resource, name: &str) -> (ClientAnswer, Found) {
    let reply = match reply {
        Ok(reply) => reply,
        Err(NoReply::NotSent(_)) => return (ClientAnswer::NotSent, Found::Unreadable),
        Err(NoReply::Unanswered(why)) => return (ClientAnswer::Unknown(why), Found::Unreadable),
    };
    let body = reply.json();
    let message = || body["message"].as_str().unwrap_or_default().to_owned();
    match reply.status {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return (ClientAnswer::Missing, Found::Nothing),
        StatusCode::INTERNAL_SERVER_ERROR => {
            return (ClientAnswer::Undecodable(message()), Found::Unreadable);
        }
        status => {
            return (
                ClientAnswer::Unknown(format!("{status}: {}", message())),
                Found::Unreadable,
            );
        }
    }
    let version = body
        .pointer("/metadata/resourceVersion")
        .and_then(Value::as_str);
    match (HubObject::decode(&body, [resource.served]), version) {
        (Ok(object), Some(version)) if object.color == HubObject::color_of(name) => {
            let version = version.to_owned();
            (
                ClientAnswer::Read(object.number),
                Found::Object { object, version },
            )
        }
        (_, _) => (ClientAnswer::Garbled, Found::Unreadable),
    }
}
