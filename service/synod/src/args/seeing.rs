//! The arguments of the commands that look at a running cluster: `log-level`, `doctor`, `top` and `debug`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{ClientArgs, QueryArgs};
use crate::duration;

#[derive(Debug, Args)]
pub(crate) struct LogLevelArgs {
    /// What to log for a while, as in debug or synod_server=debug,info. Left out: what is logged is shown.
    #[arg(value_name = "FILTER", conflicts_with = "reset")]
    pub(crate) filter: Option<String>,
    /// After how long the configured filter returns; from 1s to 24h.
    #[arg(long = "for", value_parser = duration::parse_some, default_value = "10m", requires = "filter", value_name = "TIME")]
    pub(crate) lasts: Duration,
    /// Have the configured filter return now.
    #[arg(long)]
    pub(crate) reset: bool,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Print one table and end, as it does where standard output is no terminal.
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    #[command(subcommand)]
    pub(crate) command: DebugCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DebugCommand {
    /// Collect what others need to find out what is wrong, in one file.
    ///
    /// Of each replica: its status, settings, metrics, readiness and configuration; what `synod doctor` finds; how this client
    /// was configured. No object, no key, no token: of certificates and keys only where they are. What could not be had is
    /// listed with the reason. The file is for its owner alone (mode 0600), and one that is there is not replaced.
    #[command(after_long_help = BUNDLE_EXAMPLES)]
    Bundle(BundleArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BundleArgs {
    /// The file to write [default: synod-debug-TIME.tar.gz in this folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

pub(super) const LOG_LEVEL_EXAMPLES: &str = "\
Examples:
  synod log-level --endpoints 10.0.0.2:4600
  synod log-level synod_server=debug,info --for 5m --endpoints 10.0.0.2:4600
  synod log-level --reset --endpoints 10.0.0.1:4600,10.0.0.2:4600";

pub(super) const DOCTOR_EXAMPLES: &str = "\
Examples:
  synod doctor
  synod doctor --endpoints 10.0.0.1:4600,10.0.0.2:4600,10.0.0.3:4600 -o wide
  synod doctor -o json | jq '.findings[] | select(.verdict != \"ok\")'";

pub(super) const TOP_EXAMPLES: &str = "\
Examples:
  synod top
  synod top --once --endpoints 10.0.0.1:4600";

pub(super) const DEBUG_EXAMPLES: &str = "\
Examples:
  synod debug bundle --out incident.tar.gz";

const BUNDLE_EXAMPLES: &str = "\
Examples:
  synod debug bundle
  synod debug bundle --out incident.tar.gz --endpoints 10.0.0.1:4600,10.0.0.2:4600,10.0.0.3:4600";
