//! The arguments of commands that call Kubernetes-style API servers.

use std::path::PathBuf;

use clap::Args;

/// How to reach API servers, and as whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct KubeArgs {
    /// The kubeconfig that says how to reach the API server [default: those in KUBECONFIG, else ~/.kube/config, else what
    /// the pod was given that this runs in].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig [default: its current context].
    #[arg(long, value_name = "NAME")]
    pub(crate) kube_context: Option<String>,
}
