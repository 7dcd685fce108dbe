//! The arguments of `synod lease`, `synod lock` and `synod elect`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::{ClientArgs, QueryArgs, examples};
use crate::duration;

/// Which lease, and who wants it for how long.
#[derive(Clone, Debug, Args)]
pub(crate) struct HoldArgs {
    /// The lease.
    pub(crate) name: String,
    /// Its namespace.
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,
    /// Under which name to hold it; no other process may use the same one. A random one if it is not given.
    #[arg(long, value_name = "IDENTITY")]
    pub(crate) holder: Option<String>,
    /// How long it is held after a renewal.
    #[arg(long, value_parser = duration::parse, default_value = "15s", value_name = "TIME")]
    pub(crate) ttl: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct LeaseArgs {
    #[command(subcommand)]
    pub(crate) command: LeaseCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LeaseCommand {
    /// Show all leases, or those of one namespace.
    #[command(after_long_help = examples::LEASE_LIST)]
    List {
        /// Only leases of this namespace.
        #[arg(short, long)]
        namespace: Option<String>,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Show one lease.
    #[command(after_long_help = examples::LEASE_GET)]
    Get {
        /// The lease.
        name: String,
        /// Its namespace.
        #[arg(short, long, default_value = "default")]
        namespace: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Take a lease and print its fencing token. Nothing renews it.
    ///
    /// Ends with 4 if another holds it, unless it is to wait.
    #[command(after_long_help = examples::LEASE_ACQUIRE)]
    Acquire {
        #[command(flatten)]
        hold: HoldArgs,
        /// Wait for it, at most so long.
        #[arg(long, value_parser = duration::parse, value_name = "TIME")]
        wait: Option<Duration>,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Renew a lease once. Ends with 1 if it is lost.
    #[command(after_long_help = examples::LEASE_RENEW)]
    Renew {
        /// The lease.
        name: String,
        /// Its namespace.
        #[arg(short, long, default_value = "default")]
        namespace: String,
        /// The fencing token that acquiring it printed.
        #[arg(long)]
        token: u64,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Delete a lease, whoever holds it.
    ///
    /// Its token is stale at once, but the holder may act until its next renewal, by which it learns of it. Who is next has a
    /// new lease of this name, with a higher token. Needs machine version 2.
    #[command(after_long_help = examples::LEASE_DELETE)]
    Delete {
        /// The lease.
        name: String,
        /// Its namespace.
        #[arg(short, long, default_value = "default")]
        namespace: String,
        /// Only if it was last changed at this revision.
        #[arg(long, value_name = "REVISION")]
        if_revision: Option<u64>,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Give up a lease, or the place in the queue for it.
    #[command(after_long_help = examples::LEASE_RELEASE)]
    Release {
        /// The lease.
        name: String,
        /// Its namespace.
        #[arg(short, long, default_value = "default")]
        namespace: String,
        /// Who holds it, or waits for it.
        #[arg(long, value_name = "IDENTITY")]
        holder: String,
        /// Only if it is held by this fencing token.
        #[arg(long)]
        token: Option<u64>,
        #[command(flatten)]
        client: ClientArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// Do not wait if another holds it: end with 4.
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// What to run while the lease is held.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ElectArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// Stand as a candidate that runs this release: the candidate of the lowest release leads.
    #[arg(long, value_name = "VERSION")]
    pub(crate) candidate: Option<String>,
    /// The release that the candidate behaves like [default: that of --candidate].
    #[arg(long, requires = "candidate", value_name = "VERSION")]
    pub(crate) emulates: Option<String>,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// What to run while this process leads.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
