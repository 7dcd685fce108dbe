//! The vote of a replica: its term and the replica it voted for.
//!
//! Raft is safe only if a replica never forgets a vote, so this file is never repaired: damage means that the replica
//! does not start. A torn write cannot be mistaken for damage, because the file is replaced as a whole (temporary file,
//! sync, rename, sync of the directory). An election pays four disk operations for that, which does not delay it
//! noticeably.
//!
//! The file exists from the moment the directory is formatted, so a missing one is damage as well.
//!
//! # Layout of `VOTE`, format 1
//!
//! All numbers are little-endian.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `SYNODVOT` |
//! | 8 | 4 | format version |
//! | 12 | 4 | the oldest format version whose readers understand this file |
//! | 16 | 8 | term |
//! | 24 | 8 | leader |
//! | 32 | 4 | flags: 1 = there is a vote, 2 = it is committed |
//! | 36 | 4 | CRC32C of bytes 0 to 35 |

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::{Buf, BufMut};

use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::replace::replace_file;
use crate::{FORMAT_VERSION, MIN_READER_VERSION};

/// The name of the file in the data directory.
pub(crate) const FILE_NAME: &str = "VOTE";

/// The name of the file while it is being replaced.
pub(crate) const TEMPORARY_NAME: &str = "VOTE.tmp";

const MAGIC: &[u8; 8] = b"SYNODVOT";
const LENGTH: usize = 40;
const FLAG_PRESENT: u32 = 1;
const FLAG_COMMITTED: u32 = 2;

/// A vote: the term, the replica voted for, and whether a quorum is known to have agreed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Vote {
    /// The term.
    pub term: u64,
    /// The id of the replica that was voted for.
    pub leader: u64,
    /// Whether a quorum granted it: the replica voted for leads this term.
    pub committed: bool,
}

/// The reason why a vote could not be read or saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VoteError {
    /// The directory was formatted, but its vote file is gone.
    #[error(
        "the vote file {} is missing: the replica may have voted and must not vote twice. Do not recreate it; \
         remove this replica from the replica set and add it again with an empty data directory and a fresh replica id",
        file.display()
    )]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// The content is not what was written.
    #[error(
        "the vote file {} is damaged at offset {offset}: {what}. The replica must not vote twice in a term, so it \
         does not start; remove it from the replica set and add it again with an empty data directory and a fresh replica id",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The offset of the damage.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// A newer build wrote the file.
    #[error(
        "the vote file {} has format {found}, and this build reads up to {FORMAT_VERSION}: start it with the newer \
         build. The file was left as it is",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// The format found.
        found: u32,
    },
    /// A vote of an earlier term would replace one of a later term.
    #[error("refused to replace the vote of term {saved} by one of the earlier term {offered} in {}", file.display())]
    Backwards {
        /// The file.
        file: PathBuf,
        /// The term on disk.
        saved: u64,
        /// The term offered.
        offered: u64,
    },
    /// An earlier save failed, so the vote on disk is unknown.
    #[error("an earlier save of the vote to {} failed, and what is on disk is unknown: restart the replica", file.display())]
    Poisoned {
        /// The file.
        file: PathBuf,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] IoFailure),
}

impl From<VoteError> for io::Error {
    fn from(error: VoteError) -> Self {
        match error {
            VoteError::Io(failure) => failure.into(),
            VoteError::Missing { .. } => Self::new(io::ErrorKind::NotFound, error),
            VoteError::Damaged { .. } | VoteError::Newer { .. } => {
                Self::new(io::ErrorKind::InvalidData, error)
            }
            VoteError::Backwards { .. } => Self::new(io::ErrorKind::InvalidInput, error),
            VoteError::Poisoned { .. } => Self::other(error),
        }
    }
}

/// The vote file, open for the life of the replica.
#[derive(Debug)]
pub struct VoteFile {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    state: Mutex<VoteState>,
}

#[derive(Debug)]
struct VoteState {
    vote: Option<Vote>,
    poisoned: bool,
}

impl VoteFile {
    /// Opens the vote file of a formatted data directory.
    ///
    /// # Errors
    /// [`VoteError::Missing`], [`VoteError::Damaged`] or [`VoteError::Newer`]; the replica must not
    /// start then, and the file is left as it is.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<Self, VoteError> {
        let file = directory.join(FILE_NAME);
        let content = match disk.read(&file) {
            Ok(content) => content,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(VoteError::Missing { file });
            }
            Err(e) => return Err(IoFailure::while_doing("read", &file)(e).into()),
        };
        let vote = decode(&content, &file)?;
        let state = Mutex::new(VoteState {
            vote,
            poisoned: false,
        });
        Ok(Self {
            disk,
            directory: directory.to_owned(),
            state,
        })
    }

    /// Returns the last saved vote, or `None` if the replica never voted.
    #[must_use]
    pub fn read(&self) -> Option<Vote> {
        self.lock().vote
    }

    /// Saves a vote. It is durable when this returns `Ok`.
    ///
    /// The caller orders this against the log: everything enqueued to the log before must be durable first, which
    /// [`Log::enqueue_append`](crate::Log::enqueue_append) without records reports.
    ///
    /// # Errors
    /// [`VoteError::Io`] when the file system refused: the vote on disk is then unknown, every later
    /// save answers [`VoteError::Poisoned`], and the process must stop. [`VoteError::Backwards`] when
    /// the term would decrease; nothing was written.
    pub fn save(&self, vote: Vote) -> Result<(), VoteError> {
        let mut state = self.lock();
        let file = || self.directory.join(FILE_NAME);
        if state.poisoned {
            return Err(VoteError::Poisoned { file: file() });
        }
        if let Some(saved) = state.vote.filter(|saved| vote.term < saved.term) {
            return Err(VoteError::Backwards {
                file: file(),
                saved: saved.term,
                offered: vote.term,
            });
        }
        let saved = replace_file(&*self.disk, &self.directory, FILE_NAME, &encode(Some(vote)));
        match saved {
            Ok(()) => state.vote = Some(vote),
            Err(_) => state.poisoned = true,
        }
        Ok(saved?)
    }

    fn lock(&self) -> MutexGuard<'_, VoteState> {
        self.state
            .lock()
            .expect("nothing panics while it holds the vote")
    }
}

/// Writes the vote file of a new data directory: a replica that never voted.
pub(crate) fn format(disk: &dyn Disk, directory: &Path) -> Result<(), IoFailure> {
    replace_file(disk, directory, FILE_NAME, &encode(None))
}

/// Whether the file is that of a replica that never voted.
pub(crate) fn is_blank(disk: &dyn Disk, directory: &Path) -> bool {
    disk.read(&directory.join(FILE_NAME))
        .is_ok_and(|content| content == encode(None))
}

fn encode(vote: Option<Vote>) -> Vec<u8> {
    let flags = match vote {
        None => 0,
        Some(Vote {
            committed: false, ..
        }) => FLAG_PRESENT,
        Some(Vote {
            committed: true, ..
        }) => FLAG_PRESENT | FLAG_COMMITTED,
    };
    let mut content = Vec::with_capacity(LENGTH);
    content.put_slice(MAGIC);
    content.put_u32_le(FORMAT_VERSION);
    content.put_u32_le(MIN_READER_VERSION);
    content.put_u64_le(vote.map_or(0, |v| v.term));
    content.put_u64_le(vote.map_or(0, |v| v.leader));
    content.put_u32_le(flags);
    content.put_u32_le(crc32c::crc32c(&content));
    content
}

fn decode(content: &[u8], file: &Path) -> Result<Option<Vote>, VoteError> {
    let damaged = |offset, what| VoteError::Damaged {
        file: file.to_owned(),
        offset,
        what,
    };
    // The version is checked before length and checksum: a newer format may change both.
    if content.get(..8).is_some_and(|magic| magic == MAGIC)
        && let Some(mut versions) = content.get(8..16)
    {
        let found = versions.get_u32_le();
        if versions.get_u32_le() > FORMAT_VERSION {
            return Err(VoteError::Newer {
                file: file.to_owned(),
                found,
            });
        }
    }
    if content.len() != LENGTH {
        return Err(damaged(
            content.len() as u64,
            "it does not have the length of a vote file",
        ));
    }
    let (covered, mut checksum) = content.split_at(LENGTH - 4);
    if crc32c::crc32c(covered) != checksum.get_u32_le() {
        return Err(damaged(0, "the checksum does not match"));
    }
    if &covered[..8] != MAGIC {
        return Err(damaged(0, "it does not begin like a vote file"));
    }
    let mut fields = &covered[16..];
    let (term, leader, flags) = (
        fields.get_u64_le(),
        fields.get_u64_le(),
        fields.get_u32_le(),
    );
    match flags {
        0 => Ok(None),
        FLAG_PRESENT => Ok(Some(Vote {
            term,
            leader,
            committed: false,
        })),
        3 => Ok(Some(Vote {
            term,
            leader,
            committed: true,
        })),
        _ => Err(damaged(32, "unknown flags")),
    }
}

#[cfg(test)]
mod tests;
