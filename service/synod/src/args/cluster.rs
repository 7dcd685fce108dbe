//! The arguments of `synod cluster`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;
use super::backup::FoundedArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  synod cluster force-new --data-dir old --out new --replica-id 4 --peer 10.0.0.4:4610";

const FORCE_NEW: &str = "\
Examples:
  synod cluster force-new --data-dir old --out new --replica-id 4 --peer 10.0.0.4:4610
  synod cluster force-new --data-dir old --out new --replica-id 4 --peer 10.0.0.4:4610 --yes

Run it first without --yes on every directory that is left, and take the one that has come furthest.
Every replica of the old cluster must be stopped for good: those that are left are refused by the new one.";

#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Found a new cluster from one data directory, when a majority of the replicas is lost for good. Needs no cluster.
    ///
    /// What the lost majority had acknowledged and this directory does not hold is lost. The command says all that it
    /// knows of that, and does nothing more without --yes. The old directory stays as it is; the new cluster has one
    /// replica and goes on as after a restore: by another id, 2^40 revisions later, without members, leases and sessions.
    /// While a majority can still be started, start it instead: nothing is lost then.
    #[command(after_long_help = FORCE_NEW)]
    ForceNew(ForceNewArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ForceNewArgs {
    /// The data directory that is left. No replica may run on it.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: PathBuf,
    /// The data directory of the new replica, which must not exist or be empty.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) founded: FoundedArgs,
    /// Found the cluster, and accept what is lost.
    #[arg(long)]
    pub(crate) yes: bool,
    /// In which form to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) output: Format,
}
