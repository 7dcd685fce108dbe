//! A backup of the whole state, read part by part.

use std::time::Duration;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use synod_model::{ErrorKind, LogTime, WallTime};
use synod_proto::v1::cluster_backup_response::Part;
use synod_proto::{messages, v1};
use tokio::time::timeout;
use tonic::{Response, Streaming};

use super::{Client, stubs};
use crate::transport::Headed;
use crate::values::read;
use crate::{Error, Header, ReadOptions};

/// How long the replica may send nothing: it first reads the whole state once.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// What a backup is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupOf {
    /// The cluster, the replica that answers, and the revision that the state is at.
    pub header: Header,
    /// The name that the replicas were started with.
    pub cluster_name: String,
    /// The log time of the state.
    pub log_time: LogTime,
    /// The wall-clock time of the replica when the backup began.
    pub wall: WallTime,
    /// The version of the replica's program.
    pub version: String,
    /// The version of the rules of apply that is in force.
    pub machine_version: u32,
    /// The version of the form of the rows.
    pub format: u32,
}

messages! {
    v1::ClusterBackupBegin = BackupOf: "it comes first" {
        header = header,
        cluster_name = cluster_name,
        log_time = log_time_ms,
        wall = wall_time_ms,
        version = version,
        machine_version = machine_version,
        format = format,
    }
}

/// A backup that is being read: the whole state of the cluster at one revision, which took every change that was acknowledged
/// before it was asked for. One replica sends it; if that is lost, the backup begins again from the start.
#[derive(Debug)]
pub struct Backup {
    of: BackupOf,
    stream: Streaming<v1::ClusterBackupResponse>,
    rows_bytes: u64,
    sha256: Sha256,
    ended: bool,
}

/// A stream of which the first message has arrived.
struct Opened {
    begin: v1::ClusterBackupBegin,
    stream: Streaming<v1::ClusterBackupResponse>,
}

impl Headed for Opened {
    fn header(&self) -> Option<&v1::ResponseHeader> {
        self.begin.header.as_ref()
    }
}

impl Client {
    /// Begins a backup at any one replica. The client's timeout is for its begin; it may take an hour in all.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: the options name a past revision. `PERMISSION_DENIED`: the caller may not back up.
    /// Else no replica could answer in time, or each is sending as many backups as it may.
    pub async fn backup(&self, options: ReadOptions) -> Result<Backup, Error> {
        let message = v1::ClusterBackupRequest {
            read: options.to_wire(),
        };
        let opening = self.read(|attempt| {
            let request = attempt.request(message);
            async move {
                let opened = stubs::cluster(attempt.channel).backup(request).await?;
                let mut stream = opened.into_inner();
                match stream.message().await?.and_then(|message| message.part) {
                    Some(Part::Begin(begin)) => Ok(Response::new(Opened { begin, stream })),
                    Some(Part::Rows(_) | Part::End(_)) | None => {
                        Err(tonic::Status::internal("the backup has no begin"))
                    }
                }
            }
        });
        let Opened { begin, stream } = opening.await?;
        Ok(Backup {
            of: read(begin)?,
            stream,
            rows_bytes: 0,
            sha256: Sha256::new(),
            ended: false,
        })
    }
}

impl Backup {
    /// What the backup is of.
    #[must_use]
    pub fn of(&self) -> &BackupOf {
        &self.of
    }

    /// The next rows, in the form in which Synod stores them; `None` once all have come, and their length and SHA-256 are what
    /// the replica says. Before that, the backup is not whole.
    ///
    /// # Errors
    ///
    /// The replica was lost or has refused to go on, or what came is not what it has sent (`DATA_LOSS`): begin again.
    pub async fn rows(&mut self) -> Result<Option<Bytes>, Error> {
        if self.ended {
            return Ok(None);
        }
        let message = match timeout(SILENCE_MAX, self.stream.message()).await {
            Ok(Ok(message)) => message,
            Ok(Err(status)) => return Err(Error::of_read(&status)),
            Err(_) => return Err(Error::unanswered_read(SILENCE_MAX)),
        };
        match message.and_then(|message| message.part) {
            Some(Part::Rows(rows)) => {
                self.rows_bytes += rows.len() as u64;
                self.sha256.update(&rows);
                Ok(Some(rows))
            }
            Some(Part::End(end)) => self.end(&end).map(|()| None),
            Some(Part::Begin(_)) => Err(torn("it began twice")),
            None => {
                let message = "the replica ended the backup before it was whole";
                Err(Error::new(ErrorKind::Unavailable, message))
            }
        }
    }

    fn end(&mut self, end: &v1::ClusterBackupEnd) -> Result<(), Error> {
        if end.rows_bytes != self.rows_bytes {
            return Err(torn(&format!(
                "{} bytes have come of {}",
                self.rows_bytes, end.rows_bytes
            )));
        }
        if end.sha256[..] != self.sha256.finalize_reset()[..] {
            return Err(torn("it has another SHA-256"));
        }
        self.ended = true;
        Ok(())
    }
}

fn torn(what: &str) -> Error {
    let message = format!("the backup is not what the replica has sent: {what}; begin it again");
    Error::new(ErrorKind::DataLoss, message)
}
