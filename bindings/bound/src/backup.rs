//! Backups, written to files in the form that the command line verifies and restores.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde_json::json;
use synod_client::{BackupOf, ReadOptions, Violation};
use synod_store::backup::{BACKUP_FORMAT, BackupHeader, BackupSum, BackupWriter};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

use crate::Failure;
use crate::bound::Bound;
use crate::options::{Options, flag, text};

type Writer = BackupWriter<BufWriter<NamedTempFile>>;

impl Bound {
    /// Writes the whole state of the cluster, as it is at one revision, to a file, which `synod backup verify` and `restore`
    /// read. It appears under its name once it is whole and on the disk, for its owner alone. One part of it, 1 MiB at
    /// most, is in memory at a time; what a dropped future has written is removed.
    ///
    /// Options: `path` (required), and `replace` (false): whether a file of this name is replaced.
    ///
    /// Returns what the backup is of, as `synod backup create -o json` prints it: `clusterId`, `clusterName`, `revision`,
    /// `bytes` and `sha256`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: the file is there already or cannot be written. `PERMISSION_DENIED`: the caller may not back
    /// up. `DATA_LOSS`: what came is not what the replica has sent.
    pub async fn back_up(&self, options: &str) -> Result<String, Failure> {
        let mut options = Options::parse(options)?;
        let path = options.need("path", text(|path| Ok::<_, Violation>(PathBuf::from(path))));
        let replace = options.take("replace", flag).unwrap_or(false);
        let target = Target {
            path: options.end(path)?,
            replace,
        };
        // What cannot be written is told before anything is asked.
        let (target, temporary) = target.on_disk(Target::open).await?;
        let mut backup = self.client().backup(ReadOptions::linearizable()).await?;
        let header = header(backup.of())?;
        let begun = header.clone();
        let begin = move |_: &Target| {
            BackupWriter::begin(BufWriter::new(temporary), &begun).map_err(io::Error::other)
        };
        let (mut target, mut writer) = target.on_disk(begin).await?;
        while let Some(rows) = backup.rows().await? {
            let write = move |_: &Target| {
                writer.write_chunk(&rows).map_err(io::Error::other)?;
                Ok(writer)
            };
            (target, writer) = target.on_disk(write).await?;
        }
        let (_, sum) = target.on_disk(|target| target.finish(writer)).await?;
        Ok(json!({
            "clusterId": header.cluster.to_string(),
            "clusterName": header.cluster_name,
            "revision": header.revision.to_string(),
            "bytes": sum.bytes.to_string(),
            "sha256": HEXLOWER.encode(&sum.sha256),
        })
        .to_string())
    }
}

/// Where a backup is written to.
#[derive(Debug)]
struct Target {
    path: PathBuf,
    replace: bool,
}

impl Target {
    /// Does what waits for the disk where it holds up no other call. Returns the target, too.
    #[expect(
        clippy::disallowed_methods,
        reason = "no simulation runs the clients of other languages"
    )]
    async fn on_disk<T: Send + 'static>(
        self,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<(Self, T), Failure> {
        let done = spawn_blocking(move || {
            let done = work(&self).map_err(|error| self.unwritten(&error));
            done.map(|done| (self, done))
        });
        done.await.expect("writing a file does not panic")
    }

    /// A file that has no name yet, beside the one that it takes the place of. Its rights are its owner's alone.
    fn open(&self) -> io::Result<NamedTempFile> {
        if !self.replace && self.path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        tempfile::Builder::new()
            .prefix(".synod-backup-")
            .tempfile_in(self.folder())
    }

    /// Makes what was written durable, and gives the file its name.
    fn finish(&self, writer: Writer) -> io::Result<BackupSum> {
        let (written, sum) = writer.finish().map_err(io::Error::other)?;
        let temporary = written
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        temporary.as_file().sync_all()?;
        let named = match self.replace {
            true => temporary.persist(&self.path),
            false => temporary.persist_noclobber(&self.path),
        };
        named.map_err(|refused| refused.error)?;
        File::open(self.folder())?.sync_all()?;
        Ok(sum)
    }

    fn folder(&self) -> &Path {
        let parent = self.path.parent();
        let named = parent.filter(|parent| !parent.as_os_str().is_empty());
        named.unwrap_or(Path::new("."))
    }

    fn unwritten(&self, error: &io::Error) -> Failure {
        let rule = match error.kind() {
            io::ErrorKind::AlreadyExists => "there is such a file already".to_owned(),
            _ => format!("it cannot be written: {error}"),
        };
        Failure::invalid(Violation::invalid(&self.path.display().to_string(), rule).at("path"))
    }
}

/// What the backup says of itself.
fn header(of: &BackupOf) -> Result<BackupHeader, Failure> {
    if of.format != BACKUP_FORMAT {
        let rule = format!(
            "a replica sends this format of backups, and this client writes {BACKUP_FORMAT}"
        );
        return Err(Failure::invalid(Violation::invalid_number(
            of.format.into(),
            rule,
        )));
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
