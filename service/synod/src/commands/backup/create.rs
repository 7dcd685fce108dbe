//! `synod backup create`.

use std::io;
use std::path::Path;

use clap::ArgMatches;
use synod_client::{BackupOf, ReadOptions};
use synod_store::backup::{BACKUP_FORMAT, BackupError, BackupHeader, BackupWriter};

use super::encryption::Sealed;
use super::file::Target;
use super::kept;
use crate::args::BackupCreateArgs;
use crate::commands::{connect, show};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, views};

pub(super) async fn run(args: &BackupCreateArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = Some(&args.file).filter(|path| path.is_dir());
    if folder.is_none() && args.keep.is_some() {
        return Err(no_folder(&args.file));
    }
    let named = match folder {
        Some(_) => None,
        None => Some((args.file.clone(), Target::open(&args.file, args.force)?)),
    };
    let client = connect(&args.client, matches).await?;
    let mut backup = client.backup(ReadOptions::linearizable()).await?;
    let header = header(backup.of())?;
    let name = kept::name(&header, !args.recipients.is_empty());
    let (path, target) = match named {
        Some(named) => named,
        None => {
            let path = args.file.join(&name);
            let target = Target::open_in_folder(&path, args.force, &header.cluster)?;
            (path, target)
        }
    };
    let is_pipe = target.is_pipe();
    let target = Sealed::new(target, &args.recipients)?;
    let mut writer = BackupWriter::begin(target, &header).map_err(unwritten)?;
    while let Some(rows) = backup.rows().await? {
        writer.write_chunk(&rows).map_err(unwritten)?;
    }
    let (target, sum) = writer.finish().map_err(unwritten)?;
    let target = target.finish().map_err(|error| unwritten(error.into()))?;
    target.finish()?;
    let document = views::backup(&header, BACKUP_FORMAT, &sum, None);
    if is_pipe {
        output::warn(&document.render(output::Format::Table));
        return Ok(Exit::Ok);
    }
    let (removed, failure) = match (folder, args.keep) {
        (Some(folder), Some(keep)) => kept::prune(folder, &header, &name, keep),
        _ => (Vec::new(), None),
    };
    let shown = show(&views::created(document, &path, &removed), args.output)?;
    failure.map_or(Ok(shown), Err)
}

fn no_folder(path: &Path) -> Failure {
    let message = format!(
        "{} is no folder: --keep is for those of a folder",
        path.display()
    );
    let advice = "name the folder that the backups are in, and create it first";
    Failure::local(message, advice).in_usage()
}

/// What the backup says of itself.
fn header(of: &BackupOf) -> Result<BackupHeader, Failure> {
    if of.format != BACKUP_FORMAT {
        let message = format!(
            "the replica sends a backup of format {}, and this program writes {BACKUP_FORMAT}",
            of.format
        );
        return Err(Failure::local(message, "use the program of that release"));
    }
    Ok(BackupHeader {
        cluster: of.header.cluster,
        cluster_name: of.cluster_name.clone(),
        revision: of.header.revision,
        log_time: of.log_time,
        wall: of.wall,
        binary: of.version.clone(),
        machine_version: of.machine_version,
    })
}

fn unwritten(error: BackupError) -> Failure {
    let message = match error {
        BackupError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            "the reader of standard output has gone before the backup was whole".to_owned()
        }
        other => format!("the backup cannot be written: {other}"),
    };
    Failure::local(message, "check where it goes to, and the room there")
}
