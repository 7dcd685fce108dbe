//! The arguments of `synod history`.

use clap::{Args, Subcommand};

use super::{QueryArgs, WriteArgs, examples};

/// Whose history.
#[derive(Clone, Debug, Args)]
pub(crate) struct OwnerArgs {
    /// The controller's own object, as `Kind/name`.
    pub(crate) owner: String,
    /// Its namespace.
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,
    /// Its uid; needed where several of its name have left a history.
    #[arg(long)]
    pub(crate) uid: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) command: HistoryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Show the snapshots of one owner, oldest first, or of all by namespace and name.
    #[command(after_long_help = examples::HISTORIES_LIST)]
    List {
        /// The controller's own object, as `Kind/name`.
        owner: Option<String>,
        /// Only those of this namespace; that of the owner is `default` if it is not given.
        #[arg(short, long)]
        namespace: Option<String>,
        /// Only those that have these labels, as in app=web,tier=front.
        #[arg(short = 'l', long, value_delimiter = ',', value_name = "LABELS")]
        labels: Vec<String>,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Show one snapshot, with what was wanted then.
    #[command(after_long_help = examples::HISTORIES_SHOW)]
    Show {
        /// The snapshot.
        name: String,
        /// Its namespace.
        #[arg(short, long, default_value = "default")]
        namespace: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Show what changed from one snapshot to another.
    #[command(after_long_help = examples::HISTORIES_DIFF)]
    Diff {
        /// The one; '' for none, as before the first.
        from: String,
        /// The other; '' for none.
        to: String,
        /// The namespace of both.
        #[arg(short, long, default_value = "default")]
        namespace: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Make an older snapshot the newest again. Its data stays, its number becomes the highest.
    #[command(after_long_help = examples::HISTORIES_ROLLBACK)]
    Rollback {
        #[command(flatten)]
        owner: OwnerArgs,
        /// To the one of this number; the one before the newest if it is not given.
        #[arg(long, value_name = "NUMBER", conflicts_with = "to_name")]
        to: Option<u64>,
        /// To the one of this name.
        #[arg(long, value_name = "NAME")]
        to_name: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Delete the oldest snapshots that nobody uses. The newest stays.
    #[command(after_long_help = examples::HISTORIES_TRUNCATE)]
    Truncate {
        #[command(flatten)]
        owner: OwnerArgs,
        /// How many that nobody uses to keep beside the newest.
        #[arg(long, default_value_t = synod_model::limits::HISTORY_LIMIT_DEFAULT)]
        limit: u32,
        #[command(flatten)]
        write: WriteArgs,
    },
}
