//! The kubeconfig that `synod serve` and `synod dev` write.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use synod_kube::kubeconfig;

use crate::failure::Failure;

/// Writes a kubeconfig for the Kubernetes API at this address.
pub(crate) fn write(file: &Path, address: &str, is_secured: bool) -> Result<(), Failure> {
    let scheme = if is_secured { "https" } else { "http" };
    let server = format!("{scheme}://{}", reachable(address));
    fs::write(file, kubeconfig(&server)).map_err(|error| {
        let message = format!("{} cannot be written: {error}", file.display());
        Failure::local(message, "name another file with --write-kubeconfig")
    })
}

/// Where a replica is reached from its own host that listens at this address.
fn reachable(address: &str) -> String {
    match address.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_unspecified() => format!("localhost:{}", address.port()),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_for_everybody_is_reached_at_this_host() {
        assert_eq!(reachable("0.0.0.0:4630"), "localhost:4630");
        assert_eq!(reachable("[::]:4630"), "localhost:4630");
        assert_eq!(reachable("10.0.0.1:4630"), "10.0.0.1:4630");
    }
}
