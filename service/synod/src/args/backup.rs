//! The arguments of `synod backup`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ClientArgs, Format};
use crate::settings::{cluster_name, reachable, replica_id};

pub(super) const EXAMPLES: &str = "\
Examples:
  synod backup create /var/backups/synod/today.backup
  synod backup verify /var/backups/synod/today.backup";

const CREATE: &str = "\
Examples:
  synod backup create /var/backups/synod/today.backup
  synod backup create /var/backups/synod/ --keep 336
  synod backup create - | zstd > today.backup.zst
  synod backup create - | age -r age1... > today.backup.age
  synod backup create /var/backups/synod/ --keep 336 --through 'age -r age1...'

A backup holds every object: guard it as you guard the cluster, or encrypt it, here with age. The file can be read by its owner only.";

const VERIFY: &str = "\
Examples:
  synod backup verify /var/backups/synod/today.backup
  zstd -dc today.backup.zst | synod backup verify -
  age -d -i key.txt today.backup.age | synod backup verify -
  synod backup verify today.backup -o json | jq -r .revision";

const RESTORE: &str = "\
Examples:
  synod backup restore today.backup --data-dir /var/lib/synod --replica-id 4 --peer 10.0.0.4:4610
  age -d -i key.txt today.backup.age | synod backup restore - --data-dir ...
  synod serve --data-dir /var/lib/synod --replica-id 4 --replicas 4=10.0.0.4:4610

Stop every replica of the old cluster first, and keep their directories until the new one serves: it is another cluster, which
knows nothing that was written after the backup. API servers join and report again by themselves.";

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    #[command(subcommand)]
    pub(crate) command: BackupCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Write the whole state, as it is at one revision, to a file.
    ///
    /// Any replica can send it, and it holds every change that was acknowledged before. The file appears once it is whole and
    /// on the disk.
    #[command(after_long_help = CREATE)]
    Create(BackupCreateArgs),
    /// Read all of a backup, and say what it is of. Needs no cluster.
    ///
    /// Ends with 0 if it is whole: its SHA-256, every row, the digest of the state, and that the rows make a state.
    #[command(after_long_help = VERIFY)]
    Verify(BackupVerifyArgs),
    /// Found a new cluster of one replica with the state of a backup. Needs no cluster.
    ///
    /// It has an id of its own and continues at a revision 2^40 later, so that no epoch, fencing token, session or
    /// resource version of the old cluster is ever given again; those of the old cluster are refused. Members, leases,
    /// sessions and what replicas have announced are not restored. The data directory must not exist or be empty.
    #[command(after_long_help = RESTORE)]
    Restore(BackupRestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BackupCreateArgs {
    /// The file to write, a folder, in which the backup gets a name, or - for standard output.
    ///
    /// The name in a folder says of which cluster it is, when it was begun and at which revision: synod-CLUSTER-TIME-REVISION.backup.
    /// What --through has written ends with .backup.age if it has the format of age, else with .backup.through.
    pub(crate) file: PathBuf,
    /// Keep this many of the cluster's backups in the folder, with the new one, and remove the oldest.
    ///
    /// Once the new one is in its place, those are removed that this command has named and written in this folder for the same
    /// cluster, and what it has left there if it was killed. Nothing else is touched, and nothing if the backup fails.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) keep: Option<NonZeroU32>,
    /// Run this command by `sh -c`, with the backup as its standard input and the file as its standard output.
    ///
    /// The file gets its name if the command ends with 0 and has read all. Otherwise no file is left, and the error says how the
    /// command ended and what it wrote last to standard error. A command that neither reads on nor ends for 60 seconds is killed, with
    /// all that it has started; a longer --timeout gives it more.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) through: Option<String>,
    /// Replace the file if there is one.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// In which form to print what was written. Nothing is printed if the backup goes to standard output.
    #[arg(short, long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct BackupVerifyArgs {
    /// The backup, or - for standard input.
    pub(crate) file: PathBuf,
    /// In which form to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct BackupRestoreArgs {
    /// The backup, or - for standard input.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) founded: FoundedArgs,
    /// The data directory of the new replica.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: PathBuf,
    /// In which form to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) output: Format,
}

/// The only replica of a cluster that is founded with a state.
#[derive(Clone, Debug, Args)]
pub(crate) struct FoundedArgs {
    /// The id of the new replica.
    #[arg(long, value_name = "NUMBER", value_parser = replica_id)]
    pub(crate) replica_id: u64,
    /// Where other replicas will reach it.
    #[arg(long, value_name = "HOST:PORT", value_parser = reachable)]
    pub(crate) peer: String,
    /// The name of the new cluster [default: that of the old one].
    #[arg(long, value_name = "NAME", value_parser = cluster_name)]
    pub(crate) cluster_name: Option<String>,
}
