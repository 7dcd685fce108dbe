//! Finds the API servers that a command calls.

use std::env;
use std::time::Duration;

use synod_apiserver::{Access, ApiServer, Kubeconfig, Misconfigured};

use crate::args::KubeArgs;
use crate::failure::Failure;

/// The API server that the arguments name, or the one at this URL, as whom the arguments say.
///
/// # Errors
///
/// Nobody says how to reach one, or what is said cannot be used.
pub(super) fn api_server(
    args: &KubeArgs,
    url: Option<&str>,
    patience: Duration,
) -> Result<ApiServer, Failure> {
    let access = match url {
        None => access(args)?,
        Some(url) => at(found(args)?, url)?,
    };
    ApiServer::new(access, patience).map_err(unusable)
}

/// How the arguments reach an API server.
///
/// # Errors
///
/// Nobody says how, or what is said cannot be used.
pub(super) fn access(args: &KubeArgs) -> Result<Access, Failure> {
    found(args)?.ok_or_else(|| {
        let message =
            "nothing says how to reach an API server: there is no kubeconfig, and this is no pod";
        Failure::local(message, "name one with --kubeconfig").in_usage()
    })
}

/// What is said of a configuration that cannot be used.
pub(super) fn unusable(fault: Misconfigured) -> Failure {
    let advice = "correct it, or name another with --kubeconfig and --kube-context";
    Failure::local(fault.to_string(), advice).in_usage()
}

fn found(args: &KubeArgs) -> Result<Option<Access>, Failure> {
    let variable = |name: &str| env::var(name).ok();
    let config = Kubeconfig::find(args.kubeconfig.as_deref(), variable).map_err(unusable)?;
    match config {
        Some(config) => {
            let access = config.access(args.kube_context.as_deref());
            access.map(Some).map_err(unusable)
        }
        None => Access::of_pod(variable).map_err(unusable),
    }
}

fn at(access: Option<Access>, url: &str) -> Result<Access, Failure> {
    let other = access.map_or_else(|| Access::to(url), |access| access.at(url));
    other.map_err(|rule| unusable(Misconfigured(format!("--kube-server {rule}"))))
}
