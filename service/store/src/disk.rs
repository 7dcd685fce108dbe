//! The interface to the file system: everything this crate does to a disk goes through [`Disk`].
//!
//! The trait promises little, because real disks promise little:
//!
//! * What was written to a file is durable once [`DiskFile::sync_data`] has returned `Ok`, not before.
//! * A name (of a created, renamed or removed file) is durable once [`Disk::sync_directory`] of its
//!   directory has returned `Ok`.
//! * A crash keeps any part of what was not synced, in units of [`SECTOR_BYTES`]: each sector has   either its old or
//!   its new content. Bytes outside a written range never change.
//! * After a failed sync nothing is known about what was written since the last successful one, and   syncing again
//!   proves nothing: Linux forgets dirty pages that it could not write. Hence this crate   never retries a sync.

mod frozen;
mod real;
mod simulated;

pub use frozen::FrozenDisk;
pub use real::RealDisk;
pub use simulated::{Counts, SimDisk};

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The unit that a crash keeps or loses as a whole, in bytes.
///
/// Devices with larger sectors exist; a crash then loses larger units.
pub const SECTOR_BYTES: u64 = 512;

/// The room of a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// The bytes that may still be written.
    pub free: u64,
    /// The size of the file system.
    pub size: u64,
}

/// A file system, real or simulated.
pub trait Disk: fmt::Debug + Send + Sync + 'static {
    /// Creates a directory and its missing parents, accessible to the owner only (mode 0700).
    ///
    /// An existing directory is left as it is.
    ///
    /// # Errors
    /// When the file system refuses, or the path names something that is not a directory.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns the permission bits of a directory.
    ///
    /// # Errors
    /// When it does not exist or cannot be examined.
    fn directory_mode(&self, path: &Path) -> io::Result<u32>;

    /// Makes a directory accessible to the owner only (mode 0700).
    ///
    /// # Errors
    /// When the file system refuses, for example because another user owns the directory.
    fn make_private(&self, path: &Path) -> io::Result<()>;

    /// Returns the names in a directory, sorted. A name that is not UTF-8 appears in its lossy form.
    ///
    /// # Errors
    /// When the directory does not exist or cannot be read.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;

    /// Creates a file of `length` zero bytes, readable by the owner only, and opens it.
    ///
    /// The zeros are really written, not left as a hole: a later write into them then changes data only, and its sync
    /// need not commit an allocation. An existing file of the name is replaced by a new file; open handles still refer
    /// to the old one. Nothing is durable yet.
    ///
    /// # Errors
    /// When the file system refuses, in particular for lack of space.
    fn create(&self, path: &Path, length: u64) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens an existing file for reading and writing.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none, or another error of the file system.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Renames a file within one directory, replacing the target in one step.
    ///
    /// # Errors
    /// When the file system refuses.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. Open handles stay usable.
    ///
    /// # Errors
    /// When the file does not exist or the file system refuses.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// When the file system refuses; it is then unknown which names are durable.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns the room of the file system that contains a directory.
    ///
    /// # Errors
    /// When the file system does not tell.
    fn space(&self, directory: &Path) -> io::Result<Space>;

    /// Takes the exclusive advisory lock of a file, creating the file if need be.
    ///
    /// Returns `None` when the lock is held already. The lock is released when the guard is dropped,
    /// and by the operating system when the process ends.
    ///
    /// # Errors
    /// When the file cannot be opened or locking is not supported.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>>;

    /// Reads a whole file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none, or another error of the file system.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.open(path)?;
        let length = usize::try_from(file.length()?).map_err(io::Error::other)?;
        let mut content = vec![0; length];
        file.read_exact_at(&mut content, 0)?;
        Ok(content)
    }
}

/// An open file. Handles are shared between threads; operations carry their offset.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Returns the length in bytes.
    ///
    /// # Errors
    /// When the file system refuses.
    fn length(&self) -> io::Result<u64>;

    /// Reads at most `buffer.len()` bytes. It may read fewer anywhere; zero means the end of the file.
    ///
    /// # Errors
    /// When the file system refuses.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at most `data.len()` bytes and returns the number written; the file grows as needed.
    ///
    /// # Errors
    /// When the file system refuses.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize>;

    /// Makes the content durable, with the metadata that reading it back needs.
    ///
    /// # Errors
    /// When the device failed. The call must not be repeated for the same file.
    fn sync_data(&self) -> io::Result<()>;

    /// Reads until `buffer` is full.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] when the file ends first, or another error of the file system.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Writes all of `data`.
    ///
    /// # Errors
    /// When the file system refuses; any part of the data may have been written.
    fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < data.len() {
            match self.write_at(&data[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// An advisory lock. Dropping it releases the lock.
pub trait DiskLock: fmt::Debug + Send + Sync {}
