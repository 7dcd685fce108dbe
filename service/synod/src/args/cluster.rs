//! The arguments of `synod cluster`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::backup::FoundedArgs;
use super::{Format, QueryArgs, examples};
use crate::duration;

#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Show how the cluster does. The same as `synod status`.
    #[command(after_long_help = examples::CLUSTER_STATUS)]
    Status(QueryArgs),
    /// Add a fresh replica, which was started with `synod serve --join`, as a learner.
    ///
    /// A learner follows the log and serves reads. It does not count for the quorum: `synod cluster promote` makes it a
    /// voter.
    #[command(after_long_help = examples::CLUSTER_ADD)]
    Add {
        /// The number of the new replica, which none of this cluster has had before.
        #[arg(value_name = "ID", value_parser = clap::value_parser!(u64).range(1..))]
        replica: u64,
        /// Where the other replicas reach it; as in host:port.
        #[arg(value_name = "PEER")]
        peer: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Make a learner a voter, as soon as it has caught up.
    #[command(after_long_help = examples::CLUSTER_PROMOTE)]
    Promote {
        /// The number of the learner.
        #[arg(value_name = "ID", value_parser = clap::value_parser!(u64).range(1..))]
        replica: u64,
        /// For how long to wait until it has caught up.
        #[arg(long, default_value = "10m", value_name = "TIME", value_parser = duration::parse_some)]
        wait: Duration,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Let a replica leave the replica set for good.
    ///
    /// It ends by itself if it runs, and nobody gets its number again. It is refused if too few of the others answer.
    #[command(after_long_help = examples::CLUSTER_REMOVE)]
    Remove {
        /// The number of the replica.
        #[arg(value_name = "ID", value_parser = clap::value_parser!(u64).range(1..))]
        replica: u64,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Replace a replica that is lost, damaged or to be retired by a fresh one.
    ///
    /// The new one is added, catches up, and takes the vote of the old one in the same change by which that leaves. Run again
    /// after a failure, it goes on where it was.
    #[command(after_long_help = examples::CLUSTER_REPLACE)]
    Replace {
        /// The number of the replica that leaves.
        #[arg(value_name = "OLD-ID", value_parser = clap::value_parser!(u64).range(1..))]
        old: u64,
        /// The number of the new replica, which none of this cluster has had before.
        #[arg(value_name = "NEW-ID", value_parser = clap::value_parser!(u64).range(1..))]
        new: u64,
        /// Where the other replicas reach the new one; as in host:port.
        #[arg(value_name = "PEER")]
        peer: String,
        /// For how long to wait until it has caught up.
        #[arg(long, default_value = "10m", value_name = "TIME", value_parser = duration::parse_some)]
        wait: Duration,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Hand the leadership to another voter.
    #[command(after_long_help = examples::CLUSTER_TRANSFER_LEADER)]
    TransferLeader {
        /// The number of the voter; left out: the one that holds most of the log.
        #[arg(value_name = "ID", value_parser = clap::value_parser!(u64).range(1..))]
        replica: Option<u64>,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Let each replica of --endpoints write a checkpoint of its state to its disk.
    #[command(after_long_help = examples::CLUSTER_CHECKPOINT)]
    Checkpoint(QueryArgs),
    /// Found a new cluster from one data directory, when a majority of the replicas is lost for good. Needs no cluster.
    ///
    /// What the lost majority had acknowledged and this directory does not hold is lost. The command says all that it
    /// knows of that, and does nothing more without --yes. The old directory stays as it is; the new cluster has one
    /// replica and goes on as after a restore: by another id, 2^40 revisions later, without members, leases and sessions.
    /// While a majority can still be started, start it instead: nothing is lost then.
    #[command(after_long_help = examples::CLUSTER_FORCE_NEW)]
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
