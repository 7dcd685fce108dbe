//! The command line: every command, flag and environment variable.

mod api_server;
mod at;
mod backup;
mod certs;
mod cluster;
mod config;
mod examples;
mod global;
mod history;
mod leases;
mod migrate;
mod migrations;
mod objects;
mod observe;
mod offline;
mod policy;
mod rosters;
mod seeing;
mod serve;
mod storage_versions;
mod topics;
mod upgrade;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use synod_client::{ObjectKind, WallTime};

pub(crate) use api_server::KubeArgs;
pub(crate) use backup::{
    BackupArgs, BackupCommand, BackupCreateArgs, BackupRestoreArgs, BackupVerifyArgs, FoundedArgs,
};
pub(crate) use certs::{CertsArgs, CertsCommand, CertsDevArgs};
pub(crate) use cluster::{ClusterArgs, ClusterCommand, ForceNewArgs};
pub(crate) use config::{
    ConfigArgs, ConfigCommand, ConfigFileArgs, ConfigQueryArgs, SetContextArgs,
};
pub(crate) use global::in_order;
pub(crate) use history::{HistoryArgs, HistoryCommand, OwnerArgs};
pub(crate) use leases::{ElectArgs, HoldArgs, LeaseArgs, LeaseCommand, LockArgs};
pub(crate) use migrate::{MigrateArgs, MigrateFormat};
pub(crate) use migrations::{CheckBinaryArgs, CheckDropArgs, MigrationsArgs, MigrationsCommand};
pub(crate) use objects::{
    Cascade, ChangeArgs, CollectionsArgs, CollectionsCommand, CreateArgs, DeleteArgs,
    DocumentsArgs, EditArgs, EditFormat, FenceArgs, GetArgs, NewTtl, PatchArgs, PatchType,
    WriteArgs,
};
pub(crate) use observe::{ObserveArgs, ObserveFormat};
pub(crate) use offline::{CompletionsArgs, HashArgs, ManArgs};
pub(crate) use policy::{PolicyArgs, PolicyCommand, PolicyTestArgs};
pub(crate) use rosters::{RostersArgs, RostersCommand, SetRosterArgs};
pub(crate) use seeing::{BundleArgs, DebugArgs, DebugCommand, DoctorArgs, LogLevelArgs, TopArgs};
pub(crate) use serve::{DevArgs, ServeArgs};
pub(crate) use storage_versions::{
    CheckArgs, EquivalentsCommand, StorageVersionsArgs, StorageVersionsCommand,
};
pub(crate) use topics::{TopicsArgs, TopicsCommand};
pub(crate) use upgrade::{UpgradeArgs, UpgradeCommand};

use crate::output::Format;
use synod_demo::{ApiServerArgs, DemoArgs, LeashArgs, MigratorArgs, StoreArgs};

/// Synod keeps HA API servers in agreement: who takes part, what each one encodes, and what they have agreed on.
#[derive(Debug, Parser)]
#[command(
    name = "synod",
    version,
    disable_help_subcommand = true,
    max_term_width = 110,
    after_long_help = examples::SYNOD
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one replica of a cluster.
    ///
    /// SIGTERM and SIGINT end it gracefully: leadership is handed over, requests under way are answered. A second one
    /// ends it at once, which loses nothing that was acknowledged.
    #[command(after_long_help = examples::SERVE)]
    Serve(Box<ServeArgs>),
    /// Run three replicas in this process, to try things out.
    #[command(after_long_help = examples::DEV)]
    Dev(DevArgs),
    /// Run the whole path and check it: three replicas, three API servers, a rolling upgrade.
    #[command(after_long_help = examples::DEMO)]
    Demo(DemoArgs),
    /// One of the demo's API servers.
    #[command(hide = true)]
    DemoApiserver(ApiServerArgs),
    /// The demo's store.
    #[command(hide = true)]
    DemoStore(StoreArgs),
    /// A migration worker of the demo.
    #[command(hide = true)]
    DemoMigrator(MigratorArgs),
    /// Any process of the demo, before it is what it will be.
    #[command(hide = true)]
    DemoLeash(LeashArgs),
    /// Show how the cluster does: its replicas, its leader, what is wrong.
    ///
    /// Asks every endpoint, and every replica that the first answer names. Ends with 0 once one of them has answered.
    #[command(after_long_help = examples::STATUS)]
    Status(QueryArgs),
    /// Change the replica set, and who leads.
    ///
    /// One replica is added, promoted or removed at a time, while the others serve. Only replicas of the set vote.
    #[command(after_long_help = examples::CLUSTER)]
    Cluster(ClusterArgs),
    /// Find out what is wrong: with the way to the replicas, their certificates, their agreement, their hosts.
    ///
    /// Looks at every endpoint, and at every replica that an answer names. Each finding is ok, a warning, or a fault, with what
    /// to do about it. It ends with 8 if there is a fault, whatever else works or does not.
    #[command(after_long_help = seeing::DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Watch the replicas: who leads, who lags, how much changes. Quits on q or Ctrl-C.
    #[command(after_long_help = seeing::TOP_EXAMPLES)]
    Top(TopArgs),
    /// Show which events replicas log, or have them log others for a while.
    ///
    /// It is about each replica at --endpoints by itself: no other one is asked, and each that was changed is named. The filter
    /// that a replica was configured with returns by itself. A process has one filter: the replicas of `synod dev` are one process,
    /// and share it.
    #[command(after_long_help = seeing::LOG_LEVEL_EXAMPLES)]
    LogLevel(LogLevelArgs),
    /// Collect what is needed to find out what is wrong.
    #[command(after_long_help = seeing::DEBUG_EXAMPLES)]
    Debug(DebugArgs),
    /// Say whether an upgrade may go on, and who stands in the way.
    #[command(after_long_help = upgrade::EXAMPLES)]
    Upgrade(UpgradeArgs),
    /// Show the members: the API servers that take part.
    #[command(after_long_help = examples::MEMBERS)]
    Members(MembersArgs),
    /// Show what members encode, decode and vote for, and what they agree on.
    #[command(visible_alias = "sv", after_long_help = examples::STORAGE_VERSIONS)]
    StorageVersions(StorageVersionsArgs),
    /// Show what else members agree on: keys of encryption, served versions and levels of features.
    ///
    /// A topic is written `keys/<resource>`: with which key its objects are encrypted; `served/<version>.<resource>[.<group>]`:
    /// whether a version is served; `features/<name>`: which level of a feature is used; or `encoding/<resource>`. Every command
    /// that takes a resource takes a topic in its place, as `synod migrations start keys/secrets`.
    #[command(after_long_help = topics::EXAMPLES)]
    Topics(TopicsArgs),
    /// Say who must speak for a resource before anything that is said of it counts, or show it.
    ///
    /// Agreement is among those who take part. Who else writes a resource, only you can say: a roster says it. Of the
    /// rosters that cover a resource the narrowest alone counts.
    #[command(after_long_help = examples::ROSTERS)]
    Rosters(RostersArgs),
    /// Declare what kinds of objects the cluster keeps, or show it.
    #[command(after_long_help = examples::COLLECTIONS)]
    Collections(CollectionsArgs),
    /// Show the objects of a collection, or one of them.
    #[command(after_long_help = examples::OBJECT_GET)]
    Get(GetArgs),
    /// Store new objects from a file.
    #[command(after_long_help = examples::OBJECT_CREATE)]
    Create(CreateArgs),
    /// Replace objects by what is in a file.
    ///
    /// A document with `metadata.resourceVersion`, as `synod get` prints it, replaces only the object as it was then.
    #[command(after_long_help = examples::OBJECT_REPLACE)]
    Replace(DocumentsArgs),
    /// Change a part of an object where it is stored.
    #[command(after_long_help = examples::OBJECT_PATCH)]
    Patch(PatchArgs),
    /// Delete an object, or have it deleted once its finalizers are gone.
    #[command(after_long_help = examples::OBJECT_DELETE)]
    Delete(DeleteArgs),
    /// Change an object in an editor: SYNOD_EDITOR, else VISUAL, else EDITOR, else vi.
    #[command(after_long_help = examples::OBJECT_EDIT)]
    Edit(EditArgs),
    /// Make objects what a file says, and leave alone what it never said.
    ///
    /// What is in the file is set; what was in it at the last apply and is no longer goes; what others have set stays.
    /// The last applied document is kept in the annotation `synod.io/last-applied`.
    #[command(after_long_help = examples::OBJECT_APPLY)]
    Apply(DocumentsArgs),
    /// Print every change as it happens, one JSON document a line, until stopped.
    ///
    /// A line holds all that one revision changed: `{"events":{"revision":"7","events":[...]}}`. The command reconnects
    /// by itself, to any replica, without a gap or a repetition. Where the history that it needs is gone, it prints
    /// what has changed since as `{"resync":{...}}`, removed objects first.
    #[command(after_long_help = examples::WATCH)]
    Watch(WatchArgs),
    /// Show or change the replicated settings.
    #[command(after_long_help = examples::SETTINGS)]
    Settings(SettingsArgs),
    /// Show what controllers wanted over time, go back to it, or forget it.
    #[command(after_long_help = examples::HISTORIES)]
    History(HistoryArgs),
    /// Show migrations, follow one, or start, abort and retry one.
    #[command(after_long_help = examples::MIGRATIONS)]
    Migrations(MigrationsArgs),
    /// Rewrite the objects behind an API server: work at the migrations that wait for it.
    ///
    /// Claims one migration after the other, lists the objects of its resource page by page, and writes each back as it is: so
    /// the API server stores it in its present encoding, and with its present key. Several workers share the migrations, and
    /// where one ends, another goes on. What others write or delete meanwhile is left alone. It works until SIGTERM or SIGINT,
    /// or with --once until nothing waits.
    #[command(after_long_help = migrate::EXAMPLES)]
    Migrate(Box<MigrateArgs>),
    /// Look at API servers, and post what they show that they store their resources in.
    ///
    /// Each round reads what discovery shows on every server, and posts for each resource the hashes that all of them show:
    /// one is an agreement, several are none. What a server shows that cannot be read is not known, so nothing that it may
    /// serve is posted as an agreement; but a hash that is new ends one, whoever shows it. What is shown of a resource that
    /// members report stands beside what they say: if none of them says so, it ends their agreement. Groups that a server only
    /// passes on to another are passed by: name the URLs of those, too.
    #[command(after_long_help = examples::OBSERVE)]
    Observe(ObserveArgs),
    /// Say whether a binary may join: with 0 if it may, with 8 if not, naming why.
    ///
    /// It may not if it cannot read what may be stored, or what is written now, nor if it writes what a member cannot
    /// read. What is not known is not safe. What a safe answer assumes is printed, and it ends with 8 for that, too, unless
    /// you vouch for it by --assume-complete: where no roster says who must speak, where snapshots of a kind do not say
    /// their version, and where something is stored of what is left to others.
    #[command(after_long_help = examples::CHECK_BINARY)]
    CheckBinary(CheckBinaryArgs),
    /// Say whether a version of a resource may be dropped: with 0 if it may, with 8 if not, naming why.
    ///
    /// It may not while objects may be stored in it, while a member writes or votes for it, and while such writes may
    /// still land. What is not known is not safe. What a safe answer assumes is printed, and it ends with 8 for that, too,
    /// unless you vouch for it by --assume-complete: where no roster says who must speak, and where snapshots of the kind
    /// do not say their version.
    #[command(after_long_help = examples::CHECK_DROP)]
    CheckDrop(CheckDropArgs),
    /// Show leases, or take, renew and release one.
    #[command(after_long_help = examples::LEASE)]
    Lease(LeaseArgs),
    /// Run a command while holding a lease.
    ///
    /// Waits for its turn. The command finds SYNOD_LEASE, SYNOD_LEASE_HOLDER and SYNOD_FENCING_TOKEN in its environment:
    /// a store that compares the token is safe even against a process that was suspended. The command is killed when the
    /// lease may be lost, and the lease is released when the command ends.
    #[command(after_long_help = examples::LOCK)]
    Lock(LockArgs),
    /// Run a command while leading an election.
    ///
    /// Who asks first leads, and the others wait in their order. With --candidate the candidate of the lowest release
    /// leads, as Kubernetes' coordinated election has it: a leader is asked to end by SIGTERM when another should lead.
    #[command(after_long_help = examples::ELECT)]
    Elect(ElectArgs),
    /// Show, change and choose the contexts of the settings file: how to reach which cluster. Needs no cluster.
    #[command(after_long_help = config::EXAMPLES)]
    Config(ConfigArgs),
    /// Write a backup, check one, or found a cluster from one.
    #[command(after_long_help = backup::EXAMPLES)]
    Backup(BackupArgs),
    /// Make certificates to try transport security out with. Needs no cluster.
    #[command(after_long_help = examples::CERTS)]
    Certs(CertsArgs),
    /// Look at a policy, and try what it grants to whom. Needs no cluster.
    #[command(after_long_help = policy::EXAMPLES)]
    Policy(PolicyArgs),
    /// Print the script by which a shell completes these commands. Needs no cluster.
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write a page for `man` for each command. Needs no cluster.
    #[command(after_long_help = examples::MAN)]
    Man(ManArgs),
    /// Print the storage version hash of a kind, as Kubernetes computes it. Needs no cluster.
    #[command(after_long_help = examples::HASH)]
    Hash(HashArgs),
}

/// How to reach the cluster.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClientArgs {
    /// Where replicas serve clients, separated by commas [default: 127.0.0.1:4600].
    #[arg(
        long,
        env = "SYNOD_ENDPOINTS",
        hide_env_values = true,
        value_name = "LIST"
    )]
    pub(crate) endpoints: Option<String>,
    /// The CA bundle that the replicas' certificates must be signed by: connections are encrypted if it is given.
    #[arg(
        long,
        env = "SYNOD_CACERT",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) cacert: Option<String>,
    /// The certificate that is shown to the replicas.
    #[arg(long, env = "SYNOD_CERT", hide_env_values = true, value_name = "FILE")]
    pub(crate) cert: Option<String>,
    /// The private key of the certificate.
    #[arg(long, env = "SYNOD_KEY", hide_env_values = true, value_name = "FILE")]
    pub(crate) key: Option<String>,
    /// The token of a Kubernetes service account, which proves who calls in place of a certificate.
    #[arg(
        long,
        env = "SYNOD_TOKEN_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) token_file: Option<String>,
    /// The name that the replicas' certificates must be for [default: the host of each endpoint].
    #[arg(
        long,
        env = "SYNOD_TLS_SERVER_NAME",
        hide_env_values = true,
        value_name = "NAME"
    )]
    pub(crate) tls_server_name: Option<String>,
    /// How long a request may take, over all tries; as in 500ms, 10s, 2m [default: 10s].
    #[arg(
        long,
        env = "SYNOD_TIMEOUT",
        hide_env_values = true,
        value_name = "TIME"
    )]
    pub(crate) timeout: Option<String>,
    /// The context of the settings file that says how to reach the cluster [default: the one that `synod config` chose].
    #[arg(
        long,
        env = "SYNOD_CONTEXT",
        hide_env_values = true,
        value_name = "NAME"
    )]
    pub(crate) context: Option<String>,
    /// A TOML file with settings for what is given neither as a flag nor in the environment [default: synod/config.toml
    /// below XDG_CONFIG_HOME, else below ~/.config, if it is there].
    #[arg(
        long,
        env = "SYNOD_CONFIG",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) config: Option<PathBuf>,
}

/// How to read, and in which form to print.
#[derive(Clone, Debug, Args)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// In which form to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) output: Format,
}

/// The flag by which names of resources need not be known.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct NewArg {
    /// Take names of resources as they are typed, as `resource.group`, whether or not anything knows them: for one that is yet to
    /// be reported. Else a name that nothing knows is refused.
    #[arg(long)]
    pub(crate) new: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct MembersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MembersCommand>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MembersCommand {
    /// Show all members. The same as `synod members` alone.
    #[command(after_long_help = examples::MEMBERS_LIST)]
    List(QueryArgs),
    /// Show one member.
    #[command(after_long_help = examples::MEMBERS_GET)]
    Get {
        /// The member's id.
        id: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Put a member out whose process is gone, or that must not count any more.
    ///
    /// Its process may not know of it: what it may still write drains until its proof of membership has run out, and for
    /// `write_grace` more. Who does this must be allowed to take part under the member's id.
    #[command(after_long_help = examples::MEMBERS_EVICT)]
    Evict {
        /// The member's id.
        id: String,
        /// You have made sure that its process has stopped: what it has sent drains for `write_grace` alone. Until the next
        /// migration answers name this as an assumption.
        #[arg(long)]
        stopped: bool,
        #[command(flatten)]
        client: ClientArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// The first revision to print. From now on if it is not given.
    #[arg(long, value_name = "REVISION", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) from: Option<u64>,
    /// Print what happened after this time by the wall clocks of the leaders, as 2026-11-28T02:14:00Z, or 02:14 for the last
    /// such time in UTC. It ends with an error if that is no longer kept. Of members, storage versions, storage states, settings,
    /// migrations and rosters more is kept: name them by --kinds.
    #[arg(long, value_name = "TIME", value_parser = at::parse, conflicts_with = "from")]
    pub(crate) at: Option<WallTime>,
    /// Only objects of these kinds, separated by commas.
    #[arg(long, value_parser = object_kinds(), value_delimiter = ',', value_name = "KINDS")]
    pub(crate) kinds: Vec<ObjectKind>,
    /// Only the objects of these names, separated by commas. Where --kinds has storage versions or rosters, theirs are written as
    /// `resource.group`.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) names: Vec<String>,
    /// Only the objects of these collections, as `resource.group`, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "RESOURCES")]
    pub(crate) resources: Vec<String>,
    #[command(flatten)]
    pub(crate) new: NewArg,
    /// Only what is in these namespaces, separated by commas.
    #[arg(short, long, value_delimiter = ',', value_name = "NAMESPACES")]
    pub(crate) namespaces: Vec<String>,
    /// Only what has labels that match, as in app=web,tier in (a,b),!old.
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,
    /// Only objects of collections whose fields match, as in metadata.name=web.
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) field_selector: Option<String>,
    /// Also print the bookmarks, which say up to which revision everything has been printed.
    #[arg(long)]
    pub(crate) bookmarks: bool,
}

/// The kinds of objects, by words such as `storage-version`.
fn object_kinds() -> impl TypedValueParser<Value = ObjectKind> {
    let kinds = ObjectKind::ALL.iter();
    let values = kinds.map(|kind| PossibleValue::new(kind.word()).help(kind.about()));
    PossibleValuesParser::new(values).try_map(|word| {
        let mut kinds = ObjectKind::ALL.iter().copied();
        let known = kinds.find(|kind| kind.word() == word);
        known.ok_or("no kind of object")
    })
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SettingsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SettingsCommand>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SettingsCommand {
    /// Show them. The same as `synod settings` alone.
    #[command(after_long_help = examples::SETTINGS_GET)]
    Get(QueryArgs),
    /// Change some of them, all at one revision.
    #[command(after_long_help = examples::SETTINGS_SET)]
    Set {
        /// What to change, as `name=value`; `synod settings` lists the names.
        #[arg(required = true, value_name = "NAME=VALUE")]
        assignments: Vec<String>,
        #[command(flatten)]
        new: NewArg,
        #[command(flatten)]
        write: WriteArgs,
    },
}
