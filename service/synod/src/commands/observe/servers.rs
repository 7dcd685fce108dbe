//! Which API servers there are: those that were named, or those behind the service `default/kubernetes`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use synod_apiserver::{Access, ApiServer};
use synod_client::{Violation, Violations};

use super::leases;
use super::server::{Fault, Look, Server};
use crate::args::ObserveArgs;
use crate::commands::api_server::{access, unusable};
use crate::failure::Failure;

/// The slices with the addresses of all API servers, which these keep themselves.
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes";

/// The port by which API servers are called.
const PORT: &str = "https";

/// Where the API servers are known from.
pub(super) enum Servers {
    /// They were named.
    Named(Vec<Server>),
    /// They are found in each round.
    Found {
        /// How the cluster is reached; each server is called in the same way.
        access: Box<Access>,
        through: ApiServer,
        patience: Duration,
        /// Those that were found last, by their URLs.
        known: BTreeMap<String, Server>,
    },
}

#[derive(Deserialize)]
struct SliceList {
    items: Option<Vec<Slice>>,
}

#[derive(Deserialize)]
struct Slice {
    endpoints: Option<Vec<Endpoint>>,
    ports: Option<Vec<Port>>,
}

#[derive(Deserialize)]
struct Endpoint {
    addresses: Vec<String>,
}

#[derive(Deserialize)]
struct Port {
    name: Option<String>,
    port: Option<u16>,
}

impl Servers {
    /// The servers that the arguments name or lead to.
    ///
    /// # Errors
    ///
    /// A URL or the kubeconfig cannot be used.
    pub(super) fn of(args: &ObserveArgs) -> Result<Self, Failure> {
        let patience = args.server_timeout;
        let is_somebody = args.kube.kubeconfig.is_some() || args.kube.kube_context.is_some();
        let members = args.members.iter().map(|it| &it.url);
        let members = members.filter(|url| !args.urls.contains(url));
        let urls: Vec<String> = args.urls.iter().chain(members).cloned().collect();
        if urls.is_empty() {
            let access = access(&args.kube)?;
            let through = ApiServer::new(access.clone(), patience).map_err(unusable)?;
            return Ok(Self::Found {
                access: Box::new(access),
                through,
                patience,
                known: BTreeMap::new(),
            });
        }
        // A token that stands in some kubeconfig is for no URL that was typed, unless it is asked for.
        let base = is_somebody.then(|| access(&args.kube)).transpose()?;
        named(&urls, base.as_ref(), patience).map(Self::Named)
    }

    /// The servers that there are now. What hides some of them is a fault of the server that was asked; then those that
    /// were known last count.
    pub(super) async fn now(&mut self) -> (Vec<Server>, Option<Look>) {
        let (access, through, patience, known) = match self {
            Self::Named(servers) => return (servers.clone(), None),
            Self::Found {
                access,
                through,
                patience,
                known,
            } => (access, through, *patience, known),
        };
        let whole = match found(through).await {
            Ok(urls) => match kept(&urls, known, access, patience) {
                Ok(()) => none_hidden(through, urls.len()).await,
                Err(why) => Err(why),
            },
            Err(why) => Err(why),
        };
        let fault = whole.err().map(|why| Look {
            server: through.url(),
            shown: Vec::new(),
            faults: vec![Fault {
                group: None,
                why: format!("which API servers there are: {why}"),
            }],
        });
        (known.values().cloned().collect(), fault)
    }
}

/// Keeps the servers of these URLs, with their connections, and no other.
fn kept(
    urls: &BTreeSet<String>,
    known: &mut BTreeMap<String, Server>,
    access: &Access,
    patience: Duration,
) -> Result<(), String> {
    for url in urls {
        if !known.contains_key(url) {
            let api = access
                .at(url)
                .and_then(|access| ApiServer::new(access, patience));
            let api = api.map_err(|fault| format!("{url}: {fault}"))?;
            known.insert(url.clone(), Server::new(api));
        }
    }
    known.retain(|url, _| urls.contains(url));
    Ok(())
}

/// The URL of each server behind the service. None at all is a fault: whoever answered is one.
async fn found(through: &ApiServer) -> Result<BTreeSet<String>, String> {
    let list: Option<SliceList> = through
        .document(SLICES)
        .await
        .map_err(|fault| fault.to_string())?;
    let list = list.ok_or_else(|| "it has no EndpointSlices".to_owned())?;
    let urls = urls(list);
    match urls.is_empty() {
        true => Err("no EndpointSlice of default/kubernetes has an address".to_owned()),
        false => Ok(urls),
    }
}

/// Whether each server has an address of its own. Several behind a balancer may all advertise that of the balancer.
async fn none_hidden(through: &ApiServer, addresses: usize) -> Result<(), String> {
    match leases::servers(through).await? {
        Some(servers) if servers > addresses => Err(format!(
            "{servers} of them hold leases in kube-system, and default/kubernetes has {addresses} addresses; let each \
             advertise its own, or name their URLs"
        )),
        Some(_) | None => Ok(()),
    }
}

fn urls(list: SliceList) -> BTreeSet<String> {
    let mut urls = BTreeSet::new();
    for slice in list.items.into_iter().flatten() {
        let ports = slice.ports.into_iter().flatten();
        let ports: Vec<u16> = ports
            .filter(|port| port.name.as_deref() == Some(PORT))
            .filter_map(|port| port.port)
            .collect();
        for address in slice
            .endpoints
            .into_iter()
            .flatten()
            .flat_map(|one| one.addresses)
        {
            let host = match address.contains(':') {
                true => format!("[{address}]"),
                false => address,
            };
            urls.extend(ports.iter().map(|port| format!("https://{host}:{port}")));
        }
    }
    urls
}

fn named(
    urls: &[String],
    base: Option<&Access>,
    patience: Duration,
) -> Result<Vec<Server>, Failure> {
    let mut servers: Vec<Server> = Vec::new();
    let mut found = Violations::new();
    for url in urls {
        let access = base.map_or_else(|| Access::to(url), |base| base.at(url));
        match access.and_then(|access| ApiServer::new(access, patience)) {
            Err(rule) => found.push(Violation::invalid(url, rule).at("URL")),
            Ok(api) if servers.iter().any(|known| known.url() == api.url()) => {
                found.push(Violation::invalid(url, "must not be given twice").at("URL"));
            }
            Ok(api) => servers.push(Server::new(api)),
        }
    }
    if found.is_empty() {
        Ok(servers)
    } else {
        Err(Failure::invalid("these servers cannot be looked at", found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_behind_the_service_is_a_server() {
        let list = r#"{"kind": "EndpointSliceList", "items": [
            {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}, {"addresses": ["10.0.0.2"], "conditions": {"ready": false}}],
             "ports": [{"name": "https", "port": 6443}, {"name": "other", "port": 1}]},
            {"addressType": "IPv6", "endpoints": [{"addresses": ["fd00::1"]}], "ports": [{"name": "https", "port": 443}]},
            {"endpoints": null, "ports": null}]}"#;
        let found: Vec<String> = urls(serde_json::from_str(list).unwrap())
            .into_iter()
            .collect();
        // One that is not ready may write all the same.
        assert_eq!(
            found,
            [
                "https://10.0.0.1:6443",
                "https://10.0.0.2:6443",
                "https://[fd00::1]:443"
            ]
        );
    }
}
