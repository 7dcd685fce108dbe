//! The arguments of commands that need no cluster and have few.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder to write to, as in /usr/local/share/man/man1.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct HashArgs {
    /// The API group; '' or core for the core group.
    pub(crate) group: String,
    /// The version in which objects are stored.
    pub(crate) version: String,
    /// The kind, as in Deployment.
    pub(crate) kind: String,
}
