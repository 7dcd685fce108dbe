//! The arguments of `synod storage-versions`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::{ChangeArgs, NewArg, QueryArgs, examples};
use crate::duration;

#[derive(Debug, Args)]
pub(crate) struct StorageVersionsArgs {
    #[command(subcommand)]
    pub(crate) command: StorageVersionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StorageVersionsCommand {
    /// Show all resources that members report.
    #[command(after_long_help = examples::LIST)]
    List {
        /// Also those that no member reports now and of which something has stayed; `forget` removes it.
        #[arg(long)]
        unreported: bool,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Show one resource with all of its entries.
    #[command(after_long_help = examples::GET)]
    Get {
        /// The resource, as `resource.group`; of the core group as `resource` alone.
        name: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Show resources against members: what each one encodes.
    #[command(after_long_help = examples::MATRIX)]
    Matrix(QueryArgs),
    /// End with 0 if the resources are agreed on, with 8 if not, naming why.
    ///
    /// Agreed on means: all members encode one version, it is the selected one if one is selected, every voter has adopted
    /// it, nobody is missing by a roster, and discovery shows nothing else. Without a name, all reported resources are
    /// checked.
    #[command(after_long_help = examples::CHECK)]
    Check {
        /// The resources, as `resource.group`; of the core group as `resource` alone.
        names: Vec<String>,
        #[command(flatten)]
        new: NewArg,
        /// Wait until they are agreed on, at most so long.
        #[arg(long, value_parser = duration::parse, value_name = "TIME")]
        wait: Option<Duration>,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Remove what is known of a resource that nobody reports any more.
    ///
    /// Whoever reports it again begins anew: which versions it is stored in is not known then. Refused while a member
    /// reports it, and while writes of one that did may still land.
    #[command(after_long_help = examples::FORGET)]
    Forget {
        /// The resource, as `resource.group`; of the core group as `resource` alone.
        name: String,
        /// Only if what is known of it, its storage state, was last changed at this revision.
        #[arg(long, value_name = "REVISION", value_parser = clap::value_parser!(u64).range(1..))]
        if_revision: Option<u64>,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Show what was agreed on over time.
    #[command(after_long_help = examples::HISTORY)]
    History {
        /// The resource, as `resource.group`; of the core group as `resource` alone.
        name: String,
        #[command(flatten)]
        query: QueryArgs,
    },
}
