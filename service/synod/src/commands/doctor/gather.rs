//! Looks at every endpoint, from the socket up to a linearizable read. Each look has a deadline, and a failure is noted.

use std::time::Duration;

use futures::future::join_all;
use synod_client::{Client, ReadOptions};
use synod_tls::{ClientTls, Connector, look};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::found::{Answered, EndpointFound, Found, Shown, Unanswered};
use crate::commands::{now, status};
use crate::settings::ClientSettings;

/// The longest time for a connection, and for what is agreed on it.
const CONNECT_MAX: Duration = Duration::from_secs(3);

/// Looks at every endpoint of the settings, and at every replica that an answer names.
pub(crate) async fn gather(settings: &ClientSettings) -> Found {
    let mut endpoints = look_at_all(settings, settings.endpoints.clone()).await;
    let seen = endpoints.iter();
    let seen = seen.map(|found| (&*found.endpoint, found.answered().map(|it| &it.status)));
    let others = status::not_asked(&seen.collect::<Vec<_>>());
    endpoints.extend(look_at_all(settings, others).await);
    Found {
        now: now(),
        own: settings.tls.clone().map(|tls| {
            let loaded = Connector::load(tls).map_err(|fault| fault.to_string());
            loaded.map(|loaded| loaded.validities())
        }),
        endpoints,
    }
}

async fn look_at_all(settings: &ClientSettings, endpoints: Vec<String>) -> Vec<EndpointFound> {
    join_all(
        endpoints
            .into_iter()
            .map(|endpoint| look_at(settings, endpoint)),
    )
    .await
}

async fn look_at(settings: &ClientSettings, endpoint: String) -> EndpointFound {
    let address = endpoint
        .split_once("://")
        .map_or(&*endpoint, |(_, address)| address);
    let began = Instant::now();
    let mut found = EndpointFound {
        connected: Err(format!("no connection within {CONNECT_MAX:?}")),
        endpoint: endpoint.clone(),
        shown: None,
        answer: None,
        read: None,
        readiness: None,
    };
    let stream = match timeout(CONNECT_MAX, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            found.connected = Err(error.to_string());
            return found;
        }
        Err(_) => return found,
    };
    found.connected = Ok(began.elapsed());
    if let Some(tls) = &settings.tls {
        found.shown = Some(shown(tls, stream, address).await);
    }
    let alone = ClientSettings {
        endpoints: vec![endpoint],
        ..settings.clone()
    };
    match alone.connect().await {
        Ok(client) => ask(&client, &mut found).await,
        Err(failure) => {
            let message = failure.to_string();
            found.answer = Some(Err(Unanswered {
                kind: synod_client::ErrorKind::InvalidArgument,
                message: message.lines().collect::<Vec<_>>().join(" "),
            }));
        }
    }
    found
}

/// What the server shows behind a connection.
async fn shown(tls: &ClientTls, stream: TcpStream, address: &str) -> Shown {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let failed = |why: String| Shown {
        certificate: None,
        agreed: Err(why),
    };
    match timeout(CONNECT_MAX, look(tls, stream, host)).await {
        Ok(Ok(looked)) => Shown {
            certificate: looked.certificate,
            agreed: looked.agreed.map_err(|error| error.to_string()),
        },
        Ok(Err(fault)) => failed(fault.to_string()),
        Err(_) => failed(format!("nothing was agreed on within {CONNECT_MAX:?}")),
    }
}

/// Asks the one replica that the client knows.
async fn ask(client: &Client, found: &mut EndpointFound) {
    let endpoint = found.endpoint.clone();
    // The first call connects, which the time of the second one must not hold.
    if let Err(error) = client.status_of(&endpoint).await {
        found.answer = Some(Err(error.into()));
        return;
    }
    let (asked, began) = (now(), Instant::now());
    let status = client.status_of(&endpoint).await;
    let round_trip = began.elapsed();
    found.answer = Some(match status {
        Ok(status) => Ok(Answered {
            status,
            asked,
            round_trip,
        }),
        Err(error) => Err(error.into()),
    });
    let (read, readiness) = tokio::join!(
        async {
            let began = Instant::now();
            let read = client.settings(ReadOptions::linearizable()).await;
            read.map(|_| began.elapsed())
        },
        client.diagnostics_of(&endpoint),
    );
    found.read = Some(read.map_err(Unanswered::from));
    let readiness = readiness.map(|diagnostics| diagnostics.readiness);
    found.readiness = Some(readiness.map_err(Unanswered::from));
}
