//! The arguments of `synod upgrade`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::QueryArgs;
use crate::duration;

pub(super) const EXAMPLES: &str = "\
Examples:
  synod upgrade status
  synod upgrade status --wait 10m && echo 'upgrade the next server'";

const STATUS: &str = "\
Examples:
  synod upgrade status
  synod upgrade status --assume-complete
  synod upgrade status --wait 10m && echo 'upgrade the next server'
  synod upgrade status -o json | jq -r .obstacles[].command

Ends with 0 if nothing stands in the way, and nothing is assumed or you vouch for what is; else with 8, also if --wait was not long
enough. The obstacles are, the worst first: alarms, disagreements, members that a roster misses, members that have not reported,
members about to expire, migrations that failed, wait or run, and writes in another version that may still land. docs/REASONS.md
lists them.";

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    #[command(subcommand)]
    pub(crate) command: UpgradeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UpgradeCommand {
    /// End with 0 if the upgrade may go on, with 8 if not, naming who stands in the way.
    ///
    /// It may go on once no alarm is raised, the members agree on all that is known, all of it is migrated, and no write in another
    /// version may still land. Each obstacle has a command that shows more or helps.
    #[command(after_long_help = STATUS)]
    Status(UpgradeStatusArgs),
}

/// The arguments of `synod upgrade status`.
#[derive(Debug, Args)]
pub(crate) struct UpgradeStatusArgs {
    /// Wait until nothing stands in the way, at most so long.
    #[arg(long, value_parser = duration::parse, value_name = "TIME")]
    pub(crate) wait: Option<Duration>,
    /// You vouch for all that the answer assumes, as that nobody else writes than those who take part.
    #[arg(long)]
    pub(crate) assume_complete: bool,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}
