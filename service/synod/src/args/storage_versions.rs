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

/// The arguments of `synod storage-versions check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The resources, as `resource.group`; of the core group as `resource` alone.
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) new: NewArg,
    /// Wait until they are agreed on, at most so long.
    #[arg(long, value_parser = duration::parse, value_name = "TIME")]
    pub(crate) wait: Option<Duration>,
    /// Nothing at all being known counts as agreed, as in a new cluster.
    #[arg(long)]
    pub(crate) allow_none: bool,
    /// You vouch for all that an agreement assumes, as that nobody else writes than those who take part.
    #[arg(long)]
    pub(crate) assume_complete: bool,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
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
    /// it, nobody is missing by a roster, discovery shows nothing else, and every member that has joined has reported.
    /// Without a name, all that is known is checked: what is reported, observed, draining or on a roster, and each
    /// collection that was reported once.
    #[command(after_long_help = examples::CHECK)]
    Check(CheckArgs),
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
    /// Say which resources are one store under several names.
    ///
    /// What is stored, agreed on, draining and migrated is known once for all names then. Servers say so themselves by what
    /// they report; this is for those that do not.
    #[command(subcommand, after_long_help = examples::EQUIVALENTS_ADD)]
    Equivalents(EquivalentsCommand),
    /// Show what was agreed on over time.
    #[command(after_long_help = examples::HISTORY)]
    History {
        /// The resource, as `resource.group`; of the core group as `resource` alone.
        name: String,
        #[command(flatten)]
        query: QueryArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum EquivalentsCommand {
    /// Join what is known of these resources, which are one store.
    ///
    /// The agreement begins anew, migrations are aborted, and what is stored is unknown if nothing was known of one of them.
    #[command(after_long_help = examples::EQUIVALENTS_ADD)]
    Add {
        /// The resources, at least two, as `resource.group`; of the core group as `resource` alone. Each brings the names that
        /// it is known to be equivalent to.
        #[arg(required = true, num_args = 2..=8)]
        names: Vec<String>,
        #[command(flatten)]
        new: NewArg,
        #[command(flatten)]
        change: ChangeArgs,
    },
    /// Take a name out of its set: it is a store of its own from then on.
    ///
    /// What is stored under it and under the others is unknown until migrations end.
    #[command(after_long_help = examples::EQUIVALENTS_REMOVE)]
    Remove {
        /// The resource, as `resource.group`; of the core group as `resource` alone.
        name: String,
        #[command(flatten)]
        change: ChangeArgs,
    },
}
