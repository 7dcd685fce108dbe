//! What this replica remembers of the logs of the other replicas.
//!
//! A disk that loses acknowledged entries, for instance when it is restored from a copy, cannot notice that itself. A
//! replica that remembers them can. The file is written from time to time and lags behind by that; it may be lost, and
//! then nothing is remembered. What it says of a replica was committed and on that replica's disk.
//!
//! # Layout of `PEERS`, format 1
//!
//! All numbers are little-endian.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `SYNODPRS` |
//! | 8 | 4 | format version |
//! | 12 | 4 | the oldest format version whose readers understand this file |
//! | 16 | 4 | number of data directories |
//! | 20 | 52 each | replica id (8), directory id (16), log id (24: term, leader, index), flags (4): 1 = it went back |
//! | | 4 | CRC32C of all before it |

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Buf, BufMut};

use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::log_id::LogId;
use crate::replace::replace_file;
use crate::{FORMAT_VERSION, MIN_READER_VERSION};

const FILE_NAME: &str = "PEERS";
const MAGIC: &[u8; 8] = b"SYNODPRS";
const HEADER_LENGTH: usize = 20;
const RECORD_LENGTH: usize = 52;
const CHECKSUM_LENGTH: usize = 4;
const FLAG_WENT_BACK: u32 = 1;

/// What is remembered of one data directory of another replica.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remembered {
    /// The replica whose directory it is.
    pub replica: u64,
    /// A committed entry that was on the disk of that directory.
    pub held: LogId,
    /// Whether the log of that directory later ended before the entry.
    pub went_back: bool,
}

/// What is remembered, by directory id.
pub type Peers = BTreeMap<[u8; 16], Remembered>;

/// The reason why the file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeersError {
    /// The content is not what was written.
    #[error(
        "the file {} with the log positions of the other replicas is damaged; this replica starts it anew. Check the \
         disk",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
    },
    /// A newer build wrote the file.
    #[error(
        "{} has format {found}, and this build reads up to {FORMAT_VERSION}: start it with the newer build. The file \
         was left as it is",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// The format found.
        found: u32,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] IoFailure),
}

impl From<PeersError> for io::Error {
    fn from(error: PeersError) -> Self {
        match error {
            PeersError::Io(failure) => failure.into(),
            PeersError::Damaged { .. } | PeersError::Newer { .. } => {
                Self::new(io::ErrorKind::InvalidData, error)
            }
        }
    }
}

/// The `PEERS` file. One thread writes it at a time.
#[derive(Clone, Debug)]
pub struct PeersFile {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
}

impl PeersFile {
    /// The file of this data directory. It need not exist yet.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, directory: &Path) -> Self {
        Self {
            disk,
            directory: directory.to_owned(),
        }
    }

    /// Reads what is remembered; nothing if there is no file.
    ///
    /// # Errors
    /// See [`PeersError`]. After [`PeersError::Damaged`] a replica may continue and remember anew.
    pub fn read(&self) -> Result<Peers, PeersError> {
        let file = self.directory.join(FILE_NAME);
        match self.disk.read(&file) {
            Ok(content) => decode(&content, &file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Peers::new()),
            Err(e) => Err(IoFailure::while_doing("read", &file)(e).into()),
        }
    }

    /// Replaces what is remembered, durably.
    ///
    /// # Errors
    /// An error of the file system; the file then has the old content or the new.
    pub fn save(&self, peers: &Peers) -> Result<(), IoFailure> {
        replace_file(&*self.disk, &self.directory, FILE_NAME, &encode(peers))
    }
}

fn encode(peers: &Peers) -> Vec<u8> {
    let mut content =
        Vec::with_capacity(HEADER_LENGTH + peers.len() * RECORD_LENGTH + CHECKSUM_LENGTH);
    content.put_slice(MAGIC);
    content.put_u32_le(FORMAT_VERSION);
    content.put_u32_le(MIN_READER_VERSION);
    content.put_u32_le(u32::try_from(peers.len()).expect("a replica set is small"));
    for (directory, remembered) in peers {
        content.put_u64_le(remembered.replica);
        content.put_slice(directory);
        remembered.held.encode(&mut content);
        content.put_u32_le(if remembered.went_back {
            FLAG_WENT_BACK
        } else {
            0
        });
    }
    content.put_u32_le(crc32c::crc32c(&content));
    content
}

fn decode(content: &[u8], file: &Path) -> Result<Peers, PeersError> {
    // The version is checked before length and checksum: a newer format may change both.
    if content.get(..8).is_some_and(|magic| magic == MAGIC)
        && let Some(mut versions) = content.get(8..16)
    {
        let found = versions.get_u32_le();
        if versions.get_u32_le() > FORMAT_VERSION {
            let file = file.to_owned();
            return Err(PeersError::Newer { file, found });
        }
    }
    decode_known(content).ok_or_else(|| PeersError::Damaged {
        file: file.to_owned(),
    })
}

fn decode_known(content: &[u8]) -> Option<Peers> {
    let (covered, mut checksum) =
        content.split_at_checked(content.len().checked_sub(CHECKSUM_LENGTH)?)?;
    if crc32c::crc32c(covered) != checksum.get_u32_le() {
        return None;
    }
    let (header, mut records) = covered.split_at_checked(HEADER_LENGTH)?;
    let count = (&header[16..]).try_get_u32_le().ok()?;
    if &header[..8] != MAGIC || records.len() != usize::try_from(count).ok()? * RECORD_LENGTH {
        return None;
    }
    let mut peers = Peers::new();
    while records.has_remaining() {
        let replica = records.try_get_u64_le().ok()?;
        let mut directory = [0; 16];
        records.try_copy_to_slice(&mut directory).ok()?;
        let held = LogId::decode(&mut records)?;
        let went_back = records.try_get_u32_le().ok()? & FLAG_WENT_BACK != 0;
        let remembered = Remembered {
            replica,
            held,
            went_back,
        };
        peers.insert(directory, remembered);
    }
    Some(peers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;

    fn file() -> (SimDisk, PeersFile) {
        let disk = SimDisk::new();
        let directory = Path::new("/data");
        disk.create_directory(directory).unwrap();
        disk.sync_directory(Path::new("/")).unwrap();
        (disk.clone(), PeersFile::new(Arc::new(disk), directory))
    }

    fn some() -> Peers {
        let remembered = |replica, index, went_back| Remembered {
            replica,
            held: LogId {
                term: 3,
                leader: 1,
                index,
            },
            went_back,
        };
        Peers::from([
            ([7; 16], remembered(2, 17, false)),
            ([8; 16], remembered(3, 15, true)),
        ])
    }

    // Guarantee: D-11
    #[test]
    fn what_was_saved_is_remembered_after_a_power_cut() {
        let (disk, file) = file();
        assert_eq!(file.read().unwrap(), Peers::new());
        file.save(&some()).unwrap();
        disk.crash(1);
        assert_eq!(file.read().unwrap(), some());
    }

    #[test]
    fn any_damaged_byte_and_any_shortened_file_is_noticed() {
        let (disk, file) = file();
        file.save(&some()).unwrap();
        let path = Path::new("/data/PEERS");
        let whole = disk.read(path).unwrap();
        for offset in 0..whole.len() {
            disk.corrupt(path, offset as u64, |byte| byte ^ 0x10)
                .unwrap();
            assert!(file.read().is_err(), "offset {offset}");
            disk.corrupt(path, offset as u64, |byte| byte ^ 0x10)
                .unwrap();
            assert!(decode(&whole[..offset], path).is_err(), "{offset} bytes");
        }
        assert_eq!(file.read().unwrap(), some());
    }

    #[test]
    fn a_newer_format_is_refused() {
        let (_, file) = file();
        let mut newer = encode(&some());
        newer[12] = 2;
        assert!(matches!(
            decode(&newer, &file.directory),
            Err(PeersError::Newer { .. })
        ));
    }
}
