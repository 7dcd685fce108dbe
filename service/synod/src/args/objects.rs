//! The arguments of the commands for collections and objects.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{ClientArgs, QueryArgs, examples};
use crate::duration;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CollectionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CollectionsCommand>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CollectionsCommand {
    /// Show all collections. The same as `synod collections` alone.
    #[command(after_long_help = examples::COLLECTIONS_LIST)]
    List(QueryArgs),
    /// Show one collection.
    #[command(after_long_help = examples::COLLECTIONS_GET)]
    Get {
        /// The collection, as `resource.group`.
        name: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Declare a collection.
    #[command(after_long_help = examples::COLLECTIONS_CREATE)]
    Create {
        /// The collection, as `resource.group`.
        name: String,
        /// Take the name as it is typed, also where it fits a known resource as `group.resource`.
        #[arg(long)]
        new: bool,
        /// The kind of its objects, as in Widget.
        #[arg(long)]
        kind: String,
        /// Each object lives in a namespace.
        #[arg(long)]
        namespaced: bool,
        /// What is stored must be in the version that is selected.
        #[arg(long)]
        strict: bool,
        /// An update of an object that is not there creates it.
        #[arg(long)]
        create_on_update: bool,
        /// An update may leave out the revision that it was made for.
        #[arg(long)]
        unconditional_update: bool,
        /// The field status of its objects is what is observed of them, and changes by itself in the Kubernetes API.
        #[arg(long)]
        status_subresource: bool,
        /// Only check: change nothing.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Change the rules of a collection, or correct its kind.
    #[command(after_long_help = examples::COLLECTIONS_UPDATE)]
    Update {
        /// The collection, as `resource.group`.
        name: String,
        /// Whether what is stored must be in the version that is selected.
        #[arg(long, value_name = "BOOL")]
        strict: Option<bool>,
        /// Whether an update of an object that is not there creates it.
        #[arg(long, value_name = "BOOL")]
        create_on_update: Option<bool>,
        /// Whether an update may leave out the revision that it was made for.
        #[arg(long, value_name = "BOOL")]
        unconditional_update: Option<bool>,
        /// Whether the field status of its objects is what is observed of them.
        #[arg(long, value_name = "BOOL")]
        status_subresource: Option<bool>,
        /// The right kind of its objects, as in Widget, of which it must hold none.
        #[arg(long)]
        kind: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Take a collection away, which must hold no object.
    #[command(after_long_help = examples::COLLECTIONS_DELETE)]
    Delete {
        /// The collection, as `resource.group`.
        name: String,
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// What every change can be told.
#[derive(Clone, Debug, Args)]
pub(crate) struct WriteArgs {
    /// Only if it was last changed at this revision.
    #[arg(long, value_name = "REVISION", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) if_revision: Option<u64>,
    /// Only check: change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

/// What a change can be told that prints no document.
#[derive(Clone, Debug, Args)]
pub(crate) struct ChangeArgs {
    /// Only check: change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

/// Under which lease an object is written.
#[derive(Clone, Debug, Args)]
pub(crate) struct FenceArgs {
    /// Only while this lease is held by this token: under `synod lock` and `synod elect` it is
    /// "$SYNOD_LEASE=$SYNOD_FENCING_TOKEN".
    #[arg(long, value_name = "NAMESPACE/NAME=TOKEN")]
    pub(crate) if_lease: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The collection, as `resource.group`.
    pub(crate) resource: String,
    /// The object; all of them if it is not given.
    pub(crate) name: Option<String>,
    /// The namespace of the objects; of all if it is not given.
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
    /// Only those whose labels match, as in app=web,tier in (a,b),!old.
    #[arg(short = 'l', long, value_name = "SELECTOR", conflicts_with = "name")]
    pub(crate) selector: Option<String>,
    /// Only those whose metadata.name and metadata.namespace match, as in metadata.name!=web.
    #[arg(long, value_name = "SELECTOR", conflicts_with = "name")]
    pub(crate) field_selector: Option<String>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// YAML or JSON, one document or several; - for standard input.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) filename: PathBuf,
    /// The namespace of the documents that name none.
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
    /// How long the objects live; as in 30s, 2h. Until they are deleted if it is not given.
    #[arg(long, value_parser = duration::parse, value_name = "TIME")]
    pub(crate) ttl: Option<Duration>,
    /// Only check: change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) fence: FenceArgs,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

/// What `replace` and `apply` take.
#[derive(Debug, Args)]
pub(crate) struct DocumentsArgs {
    /// YAML or JSON, one document or several; - for standard input.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) filename: PathBuf,
    /// The namespace of the documents that name none.
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
    /// How long the objects live from now on, as in 30s, 2h; or none: until they are deleted. As long as they would if it is
    /// not given.
    #[arg(long, value_parser = ttl, value_name = "TIME|none")]
    pub(crate) ttl: Option<NewTtl>,
    #[command(flatten)]
    pub(crate) fence: FenceArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// The change of an object's TTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewTtl {
    /// The object lives this long from now on.
    Lasting(Duration),
    /// The object has no TTL from now on.
    None,
}

fn ttl(text: &str) -> Result<NewTtl, String> {
    match text {
        "none" => Ok(NewTtl::None),
        time => duration::parse(time).map(NewTtl::Lasting),
    }
}

#[derive(Debug, Args)]
pub(crate) struct PatchArgs {
    /// The collection, as `resource.group`.
    pub(crate) resource: String,
    /// The object.
    pub(crate) name: String,
    /// Its namespace.
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
    /// The patch of its data, as JSON or YAML.
    #[arg(short, long, required_unless_present_any = ["metadata", "ttl"])]
    pub(crate) patch: Option<String>,
    /// The patch of its metadata, as JSON or YAML: of the labels, annotations, ownerReferences and finalizers, as in
    /// '{labels: {app: web}}'.
    #[arg(long, value_name = "PATCH")]
    pub(crate) metadata: Option<String>,
    /// How long it lives from now on, as in 30s, 2h; or none: until it is deleted. As long as it would if it is not given.
    #[arg(long, value_parser = ttl, value_name = "TIME|none")]
    pub(crate) ttl: Option<NewTtl>,
    /// How the patches are written.
    #[arg(long = "type", value_enum, default_value_t = PatchType::Merge)]
    pub(crate) kind: PatchType,
    /// The version that the patch of its data was made for; the one that the object is stored in if it is not given.
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    #[command(flatten)]
    pub(crate) fence: FenceArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatchType {
    /// The document's own form, null for what goes (RFC 7386).
    Merge,
    /// A list of operations (RFC 6902).
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The collection, as `resource.group`.
    pub(crate) resource: String,
    /// The object.
    pub(crate) name: String,
    /// Its namespace.
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
    /// What becomes of the objects that it owns; what its finalizers say if it is not given, else background. Of an object
    /// that waits for its deletion: what becomes of them from now on.
    #[arg(long, value_enum)]
    pub(crate) cascade: Option<Cascade>,
    #[command(flatten)]
    pub(crate) fence: FenceArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// What becomes of the objects that a deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cascade {
    /// It goes at once, and they after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// The collection, as `resource.group`.
    pub(crate) resource: String,
    /// The object.
    pub(crate) name: String,
    /// Its namespace.
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,
    /// In which form to edit it.
    #[arg(long, value_enum, default_value_t = EditFormat::Yaml)]
    pub(crate) format: EditFormat,
    #[command(flatten)]
    pub(crate) fence: FenceArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// In which form an object is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditFormat {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}
