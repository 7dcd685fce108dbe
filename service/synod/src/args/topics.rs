//! The arguments of `synod topics`.

use clap::{Args, Subcommand, ValueEnum};
use synod_client::TopicKind;

use super::QueryArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  synod topics list
  synod topics get keys/secrets
  synod topics check keys/secrets aescbc/key-2025
  synod topics check served/v1beta1.widgets.example.io served";

const LIST: &str = "\
Examples:
  synod topics list
  synod topics list --kind keys -o name";

const GET: &str = "\
Examples:
  synod topics get keys/secrets
  synod topics get features/async-locks -o json | jq -r .storageVersion.status.agreedVersion";

const HISTORY: &str = "\
Examples:
  synod topics history keys/secrets";

const CHECK: &str = "\
Examples:
  synod topics check keys/secrets aescbc/key-2025
  synod topics check features/async-locks v1 --assume-complete
  synod topics check served/v1beta1.widgets.example.io served";

#[derive(Debug, Args)]
pub(crate) struct TopicsArgs {
    #[command(subcommand)]
    pub(crate) command: TopicsCommand,
}

/// The kinds of topics, as they are typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KindArg {
    /// The versions that resources are encoded in.
    Encoding,
    /// The keys that encrypt the objects of resources.
    Keys,
    /// The levels of features.
    Features,
    /// Whether versions of resources are served.
    Served,
}

impl KindArg {
    pub(crate) const fn kind(self) -> TopicKind {
        match self {
            Self::Encoding => TopicKind::Encoding,
            Self::Keys => TopicKind::Key,
            Self::Features => TopicKind::Feature,
            Self::Served => TopicKind::Served,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum TopicsCommand {
    /// Show all topics that members report.
    #[command(after_long_help = LIST)]
    List {
        /// Only those of one kind.
        #[arg(long, value_enum)]
        kind: Option<KindArg>,
        /// Also those that no member reports now and of which something has stayed.
        #[arg(long)]
        unreported: bool,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Show one topic, with what each member reads, prefers and writes; of a served version also why it is not withdrawn.
    #[command(after_long_help = GET)]
    Get {
        /// The topic, as `keys/secrets`.
        topic: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Show what was agreed on over time.
    #[command(after_long_help = HISTORY)]
    History {
        /// The topic, as `keys/secrets`.
        topic: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Say whether anything may still need a key, a level or a version: with 0 if nothing does, with 8 if not, naming why.
    ///
    /// Something may while objects may be stored with it, while a member writes with it or prefers it, and while such writes
    /// may still land. What is not known is not safe. What a safe answer assumes is printed, and it ends with 8 for that, too,
    /// unless you vouch for it by --assume-complete.
    #[command(after_long_help = CHECK)]
    Check {
        /// The topic, as `keys/secrets`.
        topic: String,
        /// The key, the level or the version; `served` asks whether the code of a version may go.
        value: String,
        /// You vouch for all that a safe answer assumes, as that nobody else writes than those who take part.
        #[arg(long)]
        assume_complete: bool,
        #[command(flatten)]
        query: QueryArgs,
    },
}
