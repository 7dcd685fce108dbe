//! Calls one replica directly, without the client library, which would go to another one.

use std::sync::{Arc, Mutex};

use hyper_util::rt::TokioIo;
use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use synod_proto::v1::sessions_client::SessionsClient;
use tonic::transport::{Channel, Endpoint};

use crate::clients::Clients;
use crate::net::{Host, Net, client_address};
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
    let Clients::Serving(servers) = &mut world.clients else {
        panic!("consensus alone serves no clients");
    };
    let answer = Arc::new(Mutex::new(None));
    let (answered, net) = (Arc::clone(&answer), world.net.clone());
    servers.visit(async move {
        let result = call(channel(HOST, &net, replica)).await;
        *answered.lock().unwrap() = Some(result.map(tonic::Response::into_inner));
    });
    world.run_until(PATIENCE, |_| answer.lock().unwrap().is_some());
    let answer = answer.lock().unwrap().clone();
    answer.expect("the replica answers").expect("it agrees")
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
