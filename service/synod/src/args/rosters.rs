//! The arguments of `synod rosters`.

use clap::{ArgGroup, Args, Subcommand};

use super::{NewArg, QueryArgs, WriteArgs, examples};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RostersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RostersCommand>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RostersCommand {
    /// Show all rosters. The same as `synod rosters` alone.
    #[command(after_long_help = examples::ROSTERS_LIST)]
    List(QueryArgs),
    /// Show one roster.
    #[command(after_long_help = examples::ROSTERS_GET)]
    Get {
        /// For which resources it is: `*`, `group.*` with `core` for the core group, `resource.group` or a topic.
        scope: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Say who must speak for some resources, in place of whoever had to before.
    ///
    /// All that is asked for must hold. While somebody is missing there is no agreement, no new migration, no completion
    /// and no safe answer for these resources.
    #[command(after_long_help = examples::ROSTERS_SET)]
    Set(SetRosterArgs),
    /// Take a roster away. The next wider one that covers a resource counts then.
    #[command(after_long_help = examples::ROSTERS_DELETE)]
    Delete {
        /// For which resources it is: `*`, `group.*` with `core` for the core group, `resource.group` or a topic.
        scope: String,
        #[command(flatten)]
        write: WriteArgs,
    },
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("who").args(["members", "labels", "least"]).required(true).multiple(true))]
pub(crate) struct SetRosterArgs {
    /// For which resources: `*`, `group.*` with `core` for the core group, `resource.group` or a topic.
    pub(crate) scope: String,
    #[command(flatten)]
    pub(crate) new: NewArg,
    /// These members must speak, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    pub(crate) members: Vec<String>,
    /// Every member with labels that match must speak, and there must be one, as in tier=control,zone in (a,b).
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) labels: Option<String>,
    /// At least so many must speak: of those whose labels match, if --labels is given.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) least: Option<u32>,
    /// You know that no server outside of the live members writes these resources, now or later. Without this, answers under a
    /// roster that asks by labels or for a number assume it (roster-may-miss).
    #[arg(long)]
    pub(crate) complete: bool,
    /// With the scope `*`: leave out resources that no member ever reported and that are only observed, until one is reported.
    #[arg(long)]
    pub(crate) exempt_observed: bool,
    /// Only if it was last changed at this revision; 0: only if there is none.
    #[arg(long, value_name = "REVISION")]
    pub(crate) if_revision: Option<u64>,
    /// Only check: change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}
