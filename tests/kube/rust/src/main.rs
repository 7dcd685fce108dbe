//! Works on the Kubernetes API of Synod by kube-rs: a reflector, configurations that are applied, a controller with a finalizer and with
//! objects that it owns, leader election, and discovery.
//!
//! Its first argument is the address of a replica that has the namespaced collection `widgets.example.io`, whose status is a
//! subresource. With the files of a CA, a certificate and its key behind it, it connects over TLS. It prints each step that it has done,
//! and ends with 1 at the first that fails.

mod applying;
mod controlling;
mod electing;
mod finding;
mod reflecting;
mod road;
mod widget;

use std::process::ExitCode;
use std::time::Duration;

use kube::{Client, Config};
use tokio::time::timeout;

/// The longest time that a step takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a step has failed.
pub(crate) type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Where the replica is, and by what this program proves who it is.
#[derive(Clone)]
pub(crate) struct Replica {
    pub(crate) address: String,
    /// The files of a CA, a certificate and its key.
    pub(crate) files: Option<[String; 3]>,
}

impl Replica {
    /// How kube-rs reaches it at this address, which is its own or that of a road to it.
    pub(crate) fn config(&self, address: &str) -> Result<Config, Fault> {
        let mut config = Config::new(address.parse()?);
        if let Some([ca, certificate, key]) = self.files.clone() {
            config.root_cert_file = Some(ca.into());
            config.auth_info.client_certificate = Some(certificate);
            config.auth_info.client_key = Some(key);
        }
        Ok(config)
    }

    pub(crate) fn client(&self) -> Result<Client, Fault> {
        Ok(self.config(&self.address)?.try_into()?)
    }
}

/// Fails with what was found, if it is not as it should be.
pub(crate) fn must(holds: bool, found: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(found().into()) }
}

/// The code of the status that a call was refused with.
pub(crate) fn refused<T: std::fmt::Debug>(answer: kube::Result<T>) -> Result<(u16, String), Fault> {
    match answer {
        Err(kube::Error::Api(status)) => Ok((status.code, status.message.clone())),
        other => Err(format!("it was not refused: {other:?}").into()),
    }
}

/// Does a step, and says whether that is done.
async fn done(name: &str, step: impl Future<Output = Result<(), Fault>>) -> bool {
    let ended = timeout(PATIENCE, step).await;
    let fault = match ended {
        Ok(Ok(())) => {
            println!("{name}: ok");
            return true;
        }
        Ok(Err(fault)) => fault.to_string(),
        Err(_) => format!("it takes longer than {PATIENCE:?}"),
    };
    eprintln!("{name}: {fault}");
    false
}

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let replica = match words.as_slice() {
        [address] => Replica {
            address: address.clone(),
            files: None,
        },
        [address, ca, certificate, key] => Replica {
            address: address.clone(),
            files: Some([ca.clone(), certificate.clone(), key.clone()]),
        },
        _ => {
            eprintln!("usage: kube-rs ADDRESS [CA CERTIFICATE KEY]");
            return ExitCode::from(2);
        }
    };
    let all = done("discovery", finding::discovers(&replica)).await
        && done("reflector", reflecting::reflects(&replica)).await
        && done("apply", applying::applies(&replica)).await
        && done("objects", applying::writes(&replica)).await
        && done("controller", controlling::controls(&replica)).await
        && done("election", electing::elects(&replica)).await
        && done("races", electing::races(&replica)).await
        && done("reviews", finding::reviews(&replica)).await;
    if all {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
