//! The arguments of `synod migrations`, `synod check-binary` and `synod check-drop`.
//!
//! Only a deletion takes `--if-revision`: the name of a migration is never used again, its phase decides whether it can
//! be aborted or retried, the token of its claim whether that can be given back, and the contents of a restored store are unknown whatever was known before.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ChangeArgs, ClientArgs, NewArg, QueryArgs, examples};

#[derive(Debug, Args)]
pub(crate) struct MigrationsArgs {
    #[command(subcommand)]
    pub(crate) command: MigrationsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MigrationsCommand {
    /// Show all migrations that are remembered.
    #[command(after_long_help = examples::MIGRATIONS_LIST)]
    List(QueryArgs),
    /// Show one migration.
    #[command(after_long_help = examples::MIGRATIONS_GET)]
    Get {
        /// The migration, as `resource.group-number`, or its alias.
        name: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Follow a migration to its end, a line for each change.
    ///
    /// Ends with 0 when every object is rewritten, with 1 when it was aborted or nobody will try it again by itself.
    #[command(after_long_help = examples::MIGRATIONS_WATCH)]
    Watch {
        /// The migration, as `resource.group-number`, or its alias.
        name: String,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Create a migration to what is agreed on.
    #[command(after_long_help = examples::MIGRATIONS_START)]
    Start {
        /// The resource, as `resource.group`; of the core group as `resource` alone.
        resource: String,
        #[command(flatten)]
        new: NewArg,
        /// Also rewrite what is in the right version: after a key was rotated. What is stored after this needs no rewrite, so
        /// every server must write with the new key by now, and no write with the old one may still land.
        #[arg(long)]
        rewrite_all: bool,
        /// A name of one's own for the migration, which no other one has: lower case letters, digits, `-` and `.`, and no
        /// number behind a `-` at its end.
        #[arg(long, value_name = "NAME")]
        alias: Option<String>,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Call a migration off. Its worker is told with the next word that it says.
    #[command(after_long_help = examples::MIGRATIONS_ABORT)]
    Abort {
        /// The migration, as `resource.group-number`, or its alias.
        name: String,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Delete a migration, at any time. One that has not ended is called off by that.
    ///
    /// What is known of the store stays as it is: nothing is safer to drop by this. An agreement that began the migration begins
    /// none again by itself.
    #[command(after_long_help = examples::MIGRATIONS_DELETE)]
    Delete {
        /// The migration, as `resource.group-number`, or its alias.
        name: String,
        /// Only if it was last changed at this revision.
        #[arg(long, value_name = "REVISION")]
        if_revision: Option<u64>,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Have a failed migration tried again, at once and with all its tries.
    #[command(after_long_help = examples::MIGRATIONS_RETRY)]
    Retry {
        /// The migration, as `resource.group-number`, or its alias.
        name: String,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Give back the claim of a worker that is gone, so that another one need not wait until it has run out.
    ///
    /// The next worker goes on from what was said last. A worker that is not gone after all is told so with its next word,
    /// and stops; what it may write until then drains. Who does this must be allowed to act under the name of the worker.
    #[command(after_long_help = examples::MIGRATIONS_RELEASE)]
    Release {
        /// The migration, as `resource.group-number`, or its alias.
        name: String,
        /// Only if it is claimed by this fencing token, as `synod migrations get -o json` shows it.
        #[arg(long)]
        token: Option<NonZeroU64>,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Forget what is known of the store: what is persisted becomes unknown, but for what is written now.
    ///
    /// For a store that was restored or changed by hand. What is unknown is migrated under the next agreement, or at once
    /// if there is one. Of a key or a feature what is known stays beside that, and no level is unlearned.
    #[command(after_long_help = examples::MIGRATIONS_RESET)]
    Reset {
        /// The resource, as `resource.group`; of the core group as `resource` alone.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        resource: Option<String>,
        /// Every resource.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        change: ChangeArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CheckBinaryArgs {
    /// The file that says what the whole binary decodes: of a resource that is known and not in it, the binary decodes
    /// nothing, unless the file leaves it to others; `-` is standard input.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) filename: PathBuf,
    #[command(flatten)]
    pub(crate) new: NewArg,
    /// You vouch for all that a safe answer assumes, as that nobody else writes than those who take part.
    #[arg(long)]
    pub(crate) assume_complete: bool,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckDropArgs {
    /// The resource, as `resource.group`; of the core group as `resource` alone.
    pub(crate) resource: String,
    /// The version, as `group/version`, or as `version` of the core group.
    pub(crate) version: String,
    /// You vouch for all that a safe answer assumes, as that nobody else writes than those who take part.
    #[arg(long)]
    pub(crate) assume_complete: bool,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}
