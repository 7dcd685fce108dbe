//! `synod backup`: writes the whole state to a file, reads one, and founds a cluster from it.

mod create;
mod encryption;
mod file;
mod form;
mod kept;
mod restore;
mod sink;
mod through;
mod verify;

use clap::ArgMatches;
use synod_model::WallTime;
use synod_server::consensus::ReplicaId;
use synod_server::offline::{FoundError, Founder};
use synod_store::backup::BackupError;

use crate::args::{BackupCommand, FoundedArgs};
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) async fn run(command: &BackupCommand, matches: &ArgMatches) -> Result<Exit, Failure> {
    match command {
        BackupCommand::Create(args) => create::run(args, matches).await,
        BackupCommand::Verify(args) => verify::run(args),
        BackupCommand::Restore(args) => restore::run(args),
    }
}

/// What founds the cluster that the arguments describe.
pub(super) fn founder(
    args: &FoundedArgs,
    data_dir: &std::path::Path,
    old_name: &str,
    wall: WallTime,
) -> Founder {
    let name = args.cluster_name.as_deref().unwrap_or(old_name);
    Founder {
        data_dir: data_dir.to_owned(),
        cluster_name: name.to_owned(),
        replica: ReplicaId::new(args.replica_id),
        peer: args.peer.clone(),
        wall,
    }
}

/// The failure of a founding.
pub(super) fn not_founded(error: &FoundError) -> Failure {
    let advice = match error {
        FoundError::Refused(_) => "found the cluster from another backup or another directory",
        FoundError::Directory(_) => "give a directory that does not exist or is empty",
        _ => "check the disk, and run the same command again: it begins anew",
    };
    Failure::local(error.to_string(), advice)
}

/// The failure to read a backup from this place.
fn unreadable(place: &str, error: &BackupError) -> Failure {
    let advice = match error {
        BackupError::Damaged { .. } | BackupError::Unusable { .. } => {
            "use another backup, or another copy of this one; check where it was kept"
        }
        BackupError::Newer { .. } => "use the release that wrote it, or a later one",
        _ => "check the path and who may read it",
    };
    Failure::local(format!("{place}: {error}"), advice)
}
