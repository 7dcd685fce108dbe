//! The API servers and their store: starts, stops, kills and upgrades them.

use std::time::Duration;

use axum::http::{Method, StatusCode};

use super::cluster::deserter;
use super::patience::until;
use super::processes::Process;
use super::records::{Deed, files};
use super::release::{AGGREGATED, Release};
use super::run::{LIMIT, Run, Stuck};
use super::store::StoreClient;
use synod_terminal::http::Http;

/// The API servers of the control plane, which are upgraded one by one.
pub(crate) const CONTROL_PLANE: [&str; 3] = ["apiserver-a", "apiserver-b", "apiserver-c"];

/// The server of another kind, which serves a resource of its own.
pub(crate) const METRICS: &str = "apiserver-metrics";

/// The first server of the next release.
pub(crate) const NEWCOMER: &str = "apiserver-next";

/// The server that is no member at first.
pub(crate) const OUTSIDER: &str = "apiserver-d";

/// How long Synod keeps a member that does not renew. Short, so that the demo can show an expiry.
pub(crate) const TTL: Duration = Duration::from_secs(4);

/// How long the answer of /readyz may take.
const READY_LIMIT: Duration = Duration::from_secs(1);

/// How a server is brought down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    /// It is asked to end: it drains, leaves and ends.
    Stopped,
    /// It is killed with SIGKILL.
    Killed,
}

/// The store and the API servers that use it.
#[derive(Debug)]
pub(crate) struct Servers {
    store: Process,
    store_address: String,
    /// The client addresses of the replicas.
    endpoints: Vec<String>,
    servers: Vec<Server>,
    http: Http,
    /// The server that plants the violation, if there is one.
    early: Option<&'static str>,
}

#[derive(Debug)]
struct Server {
    id: &'static str,
    address: String,
    release: Release,
    /// `None` while the server is down.
    process: Option<Process>,
}

impl Servers {
    /// Starts the store on the first port. The servers get the other ports and are not started yet.
    ///
    /// # Errors
    ///
    /// The store cannot be started, or does not answer in time.
    pub(crate) async fn start_store(
        run: &Run,
        ports: &[u16],
        endpoints: Vec<String>,
    ) -> Result<Self, Stuck> {
        let mut addresses = ports.iter().map(|port| format!("127.0.0.1:{port}"));
        let store_address = addresses
            .next()
            .ok_or_else(|| Stuck::new("the store has no port"))?;
        let arguments = [
            "demo-store".to_owned(),
            format!("--listen={store_address}"),
            format!("--journal={}", run.argument(files::STORE)),
        ];
        let store = run.launcher.start("store", &arguments)?;
        let ids = CONTROL_PLANE
            .into_iter()
            .chain([METRICS, NEWCOMER, OUTSIDER]);
        let servers = ids.zip(addresses).map(|(id, address)| Server {
            id,
            address,
            release: AGGREGATED,
            process: None,
        });
        let servers = Self {
            store,
            endpoints,
            servers: servers.collect(),
            http: Http::default(),
            early: None,
            store_address,
        };
        let client = servers.store();
        until("the store answering", LIMIT, || client.position()).await?;
        Ok(servers)
    }

    /// A client of the store.
    pub(crate) fn store(&self) -> StoreClient {
        StoreClient::new(&self.store_address)
    }

    /// The id and the address of each server that clients know.
    pub(crate) fn addresses(&self) -> Vec<(&'static str, String)> {
        self.servers
            .iter()
            .filter(|server| ![NEWCOMER, OUTSIDER].contains(&server.id))
            .map(|server| (server.id, server.address.clone()))
            .collect()
    }

    /// From its next start on, this server writes the version it votes for, even before it is selected.
    pub(crate) fn let_encode_early(&mut self, id: &'static str) {
        self.early = Some(id);
    }

    /// Starts a server that is down, with this release. Does not wait until it is ready.
    ///
    /// # Errors
    ///
    /// The server cannot be started.
    pub(crate) fn launch(&mut self, run: &Run, id: &str, release: Release) -> Result<(), Stuck> {
        let early = self.early == Some(id);
        self.start(run, id, release, early.then_some("--encode-early"))
    }

    /// Starts a server that is down, with this release, but not as a member of Synod. Does not wait until it is ready.
    ///
    /// # Errors
    ///
    /// The server cannot be started.
    pub(crate) fn launch_aside(
        &mut self,
        run: &Run,
        id: &str,
        release: Release,
    ) -> Result<(), Stuck> {
        self.start(run, id, release, Some("--aside"))
    }

    fn start(
        &mut self,
        run: &Run,
        id: &str,
        release: Release,
        flag: Option<&str>,
    ) -> Result<(), Stuck> {
        let (store, endpoints) = (self.store_address.clone(), self.endpoints.join(","));
        let server = self.server(id)?;
        let mut arguments = vec![
            "demo-apiserver".to_owned(),
            format!("--id={id}"),
            format!("--release={}", release.version),
            format!("--listen={}", server.address),
            format!("--store={store}"),
            format!("--endpoints={endpoints}"),
            format!("--journal={}", run.argument(files::server(id))),
            format!("--kept-journal={}", run.argument(files::keeper(id))),
            format!("--ttl-ms={}", TTL.as_millis()),
        ];
        arguments.extend(flag.map(str::to_owned));
        server.release = release;
        server.process = Some(run.launcher.start(id, &arguments)?);
        Ok(())
    }

    /// Waits until the /readyz of a server says that it is ready: it has joined and reported.
    ///
    /// # Errors
    ///
    /// The server is not ready in time.
    pub(crate) async fn ready(&mut self, run: &Run, id: &str) -> Result<(), Stuck> {
        let http = self.http.clone();
        let server = self.server(id)?;
        let (address, version) = (server.address.clone(), server.release.version);
        let what = format!("{id} ready with release {version}, as its /readyz says");
        let waited = until(what, LIMIT, || {
            let deserter = self.deserter();
            let asking = is_ready(http.clone(), address.clone());
            async move {
                match deserter {
                    Some(deserter) => Ok(Err(deserter)),
                    None => asking.await.map(Ok),
                }
            }
        });
        let late = |late| Stuck::new(format!("{late}; see {}", run.argument(format!("{id}.log"))));
        waited.await.map_err(late)??;
        run.did(Deed::Started, id, &format!("release {version}"))
    }

    /// Waits until a server has ended by itself, since Synod refused its report.
    ///
    /// # Errors
    ///
    /// The server does not end in time, or ends with success.
    pub(crate) async fn refused(&mut self, run: &Run, id: &str) -> Result<(), Stuck> {
        let server = self.server(id)?;
        let role = format!("release {}", server.release.version);
        let process = server.process.take();
        let process = process.ok_or_else(|| Stuck::new(format!("{id} is down already")))?;
        let log = process.log().display().to_string();
        if process.wait(LIMIT).await?.success() {
            let text = format!("{id} was to be refused, and ended well; see {log}");
            return Err(Stuck::new(text));
        }
        run.did(Deed::Refused, id, &role)
    }

    /// Brings a server down.
    ///
    /// # Errors
    ///
    /// The server is down already, or does not end.
    pub(crate) async fn bring_down(
        &mut self,
        run: &Run,
        id: &str,
        down: Down,
    ) -> Result<(), Stuck> {
        let server = self.server(id)?;
        let role = format!("release {}", server.release.version);
        let Some(process) = server.process.take() else {
            return Err(Stuck::new(format!("{id} is down already")));
        };
        let deed = match down {
            Down::Stopped => {
                process.stop().await?;
                Deed::Stopped
            }
            Down::Killed => {
                process.kill().await?;
                Deed::Killed
            }
        };
        run.did(deed, id, &role)
    }

    /// The process that has ended by itself, if there is one.
    pub(crate) fn deserter(&mut self) -> Option<Stuck> {
        let servers = self
            .servers
            .iter_mut()
            .filter_map(|server| server.process.as_mut());
        deserter(servers.chain([&mut self.store]))
    }

    fn server(&mut self, id: &str) -> Result<&mut Server, Stuck> {
        let mut servers = self.servers.iter_mut();
        servers
            .find(|server| server.id == id)
            .ok_or_else(|| Stuck::new(format!("there is no server {id}")))
    }
}

/// Asks a server whether it is ready.
async fn is_ready(http: Http, address: String) -> Result<(), String> {
    let reply = http
        .ask(Method::GET, &address, "/readyz", None, READY_LIMIT)
        .await;
    let reply = reply.map_err(|error| error.to_string())?;
    match reply.status {
        StatusCode::OK => Ok(()),
        _ => Err(String::from_utf8_lossy(&reply.body).into_owned()),
    }
}
