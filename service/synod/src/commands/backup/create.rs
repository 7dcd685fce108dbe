//! `synod backup create`.

use std::io::Write as _;
use std::mem::take;
use std::path::Path;

use clap::ArgMatches;
use synod_client::{Backup, BackupOf, ReadOptions};
use synod_store::backup::{BACKUP_FORMAT, BackupError, BackupHeader, BackupSum, BackupWriter};

use super::file::{Target, is_pipe};
use super::form::Form;
use super::kept;
use super::sink::{Sink, unwritten};
use super::through::SILENCE_MAX;
use crate::args::BackupCreateArgs;
use crate::commands::show;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::ClientSettings;
use crate::signals::Signals;
use crate::{output, views};

pub(super) async fn run(args: &BackupCreateArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    if args.through.is_none() {
        return create(args, matches).await;
    }
    // Otherwise a signal would leave the command running, which is in a process group of its own.
    let mut signals = Signals::listen()?;
    tokio::select! {
        biased;
        signal = signals.next() => Err(interrupted(signal)),
        created = create(args, matches) => created,
    }
}

async fn create(args: &BackupCreateArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = Some(&*args.file).filter(|path| path.is_dir());
    check_target(args, folder)?;
    let named = match folder {
        Some(_) => None,
        None => Some(Target::open(&args.file, args.force)?),
    };
    let settings = ClientSettings::load(&args.client, matches)?;
    let silence_max = SILENCE_MAX.max(settings.timeout);
    let client = settings.connect().await?;
    let mut backup = client.backup(ReadOptions::linearizable()).await?;
    let header = header(backup.of())?;
    let target = match named {
        Some(named) => named,
        None => Target::open_in_folder(&args.file, &header.cluster)?,
    };
    let mut sink = Sink::open(target, args.through.as_deref(), silence_max)?;
    let sum = copy(&mut backup, &header, &mut sink).await?;
    let document = views::backup(&header, BACKUP_FORMAT, &sum, None);
    let file = match sink.finish().await? {
        Target::File(file) => file,
        Target::Pipe(mut output) => {
            output.flush().map_err(|error| unwritten(&error))?;
            output::warn(&document.render(output::Format::Table));
            return Ok(Exit::Ok);
        }
    };
    let form = match args.through {
        Some(_) => file.form()?,
        None => Form::Plain,
    };
    let name = kept::name(&header, form);
    let path = folder.map_or_else(|| args.file.clone(), |folder| folder.join(&name));
    file.finish(&path, args.force)?;
    let (removed, failure) = match (folder, args.keep) {
        (Some(folder), Some(keep)) => kept::prune(folder, &header, &name, keep),
        _ => (Vec::new(), None),
    };
    let shown = show(&views::created(document, &path, &removed), args.output)?;
    failure.map_or(Ok(shown), Err)
}

/// Writes all of a backup.
async fn copy(
    backup: &mut Backup,
    header: &BackupHeader,
    sink: &mut Sink,
) -> Result<BackupSum, Failure> {
    let mut writer = BackupWriter::begin(Vec::new(), header).map_err(unformed)?;
    while let Some(rows) = backup.rows().await? {
        writer.write_chunk(&rows).map_err(unformed)?;
        sink.write(&take(writer.stream())).await?;
    }
    let (rest, sum) = writer.finish().map_err(unformed)?;
    sink.write(&rest).await?;
    Ok(sum)
}

/// Refuses flags that do not go with the target.
fn check_target(args: &BackupCreateArgs, folder: Option<&Path>) -> Result<(), Failure> {
    if folder.is_none() && args.keep.is_some() {
        return Err(no_folder(&args.file));
    }
    if args.through.is_some() && is_pipe(&args.file) {
        let message = "--through is for a file or a folder, and the backup goes to standard output";
        let advice = "pipe it yourself: synod backup create - | COMMAND";
        return Err(Failure::local(message, advice).in_usage());
    }
    Ok(())
}

fn interrupted(signal: &str) -> Failure {
    let message = format!("interrupted by {signal} before the backup was whole");
    Failure::local(
        message,
        "no file was written, and the command of --through was killed",
    )
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

fn unformed(error: BackupError) -> Failure {
    let message = format!("the backup cannot be written: {error}");
    Failure::local(
        message,
        "use the program of the release that the replica has",
    )
}
