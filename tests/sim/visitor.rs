//! Calls one replica directly, without the client library, which would go to another one.

use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use hyper_util::rt::TokioIo;
use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use synod_proto::v1::leases_client::LeasesClient;
use synod_proto::v1::leases_renew_request;
use synod_proto::v1::sessions_client::SessionsClient;
use tonic::transport::{Channel, Endpoint};

use crate::clients::Clients;
use crate::net::{Host, Net, client_address, peer_address};
use crate::world::World;

/// The machine that these calls come from.
const HOST: Host = 31;

/// The time that a call may take, in simulated milliseconds.
const PATIENCE: u64 = 10_000;

/// Opens a session at `replica`.
pub(crate) fn open_session(world: &mut World, replica: Host) -> u64 {
    let opened = ask(world, replica, async |channel| {
        SessionsClient::new(channel)
            .open(v1::SessionsOpenRequest {})
            .await
    });
    opened.session
}

/// Changes the settings at `replica`.
pub(crate) fn update_settings(
    world: &mut World,
    replica: Host,
    request: v1::ClusterUpdateSettingsRequest,
) -> v1::ClusterUpdateSettingsResponse {
    ask(world, replica, async move |channel| {
        ClusterClient::new(channel).update_settings(request).await
    })
}

/// Adds a replica to the set at `replica`.
pub(crate) fn add_replica(world: &mut World, replica: Host, added: Host) {
    let request = v1::ClusterAddReplicaRequest {
        replica_id: added,
        peer_address: peer_address(added),
    };
    ask(world, replica, async move |channel| {
        ClusterClient::new(channel).add_replica(request).await
    });
}

/// Acquires a lease for 15 seconds at `replica`.
pub(crate) fn acquire(
    world: &mut World,
    replica: Host,
    lease: &str,
) -> Call<v1::LeasesAcquireResponse> {
    let request = v1::LeasesAcquireRequest {
        lease: Some(lease_key(lease)),
        holder: "visitor".to_owned(),
        ..Default::default()
    };
    begin(world, replica, async move |channel| {
        LeasesClient::new(channel).acquire(request).await
    })
}

/// Renews a lease once at `replica`.
pub(crate) fn renew(
    world: &mut World,
    replica: Host,
    lease: &str,
    token: u64,
) -> Call<v1::LeasesRenewResponse> {
    let what = leases_renew_request::What::Lease(v1::LeaseToken {
        lease: Some(lease_key(lease)),
        token,
        ..Default::default()
    });
    let request = v1::LeasesRenewRequest {
        what: Some(what),
        correlation: 1,
    };
    begin(world, replica, async move |channel| {
        let requests = futures::stream::iter([request]).chain(futures::stream::pending());
        let answers = LeasesClient::new(channel).renew(requests).await?;
        let answer = answers.into_inner().message().await?;
        answer
            .map(tonic::Response::new)
            .ok_or_else(|| tonic::Status::cancelled("no answer"))
    })
}

/// Reads a lease at `replica`, linearizably.
pub(crate) fn get_lease(
    world: &mut World,
    replica: Host,
    lease: &str,
) -> Call<v1::LeasesGetResponse> {
    let request = v1::LeasesGetRequest {
        lease: Some(lease_key(lease)),
        read: None,
    };
    begin(world, replica, async move |channel| {
        LeasesClient::new(channel).get(request).await
    })
}

fn lease_key(name: &str) -> v1::LeaseKey {
    v1::LeaseKey {
        namespace: "default".to_owned(),
        name: name.to_owned(),
    }
}

/// Calls `replica`, and lets the world go on until it has answered.
fn ask<A, F>(
    world: &mut World,
    replica: Host,
    call: impl FnOnce(Channel) -> F + Send + 'static,
) -> A
where
    A: Clone + Send + 'static,
    F: Future<Output = Result<tonic::Response<A>, tonic::Status>> + Send,
{
    let call = begin(world, replica, call);
    world.run_until(PATIENCE, |_| call.answer().is_some());
    call.answer()
        .expect("the replica answers")
        .expect("it agrees")
}

/// A call in progress.
pub(crate) struct Call<A>(Arc<Mutex<Option<Result<A, tonic::Status>>>>);

impl<A: Clone> Call<A> {
    /// The answer, once there is one.
    pub(crate) fn answer(&self) -> Option<Result<A, tonic::Status>> {
        self.0.lock().unwrap().clone()
    }
}

/// Begins a call of `replica`. It goes on as the world does.
fn begin<A, F>(
    world: &mut World,
    replica: Host,
    call: impl FnOnce(Channel) -> F + Send + 'static,
) -> Call<A>
where
    A: Clone + Send + 'static,
    F: Future<Output = Result<tonic::Response<A>, tonic::Status>> + Send,
{
    let Clients::Serving(servers) = &mut world.clients else {
        panic!("consensus alone serves no clients");
    };
    let answer = Arc::new(Mutex::new(None));
    let (answered, net) = (Arc::clone(&answer), world.net.clone());
    servers.visit(async move {
        let result = call(channel(HOST, &net, replica)).await;
        *answered.lock().unwrap() = Some(result.map(tonic::Response::into_inner));
    });
    Call(answer)
}

/// A connection from `host` to one replica, made when it is first used.
pub(crate) fn channel(host: Host, net: &Net, replica: Host) -> Channel {
    let dialer = net.dialer(host);
    Endpoint::from_static("http://synod").connect_with_connector_lazy(tower::service_fn(
        move |_| {
            let dialed = dialer.dial(client_address(replica));
            async move { dialed.await.map(TokioIo::new) }
        },
    ))
}
