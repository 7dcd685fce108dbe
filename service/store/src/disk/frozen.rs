//! [`Disk`] that leaves another one as it is: what is written stays in memory.
//!
//! A log repairs its end while it is opened, and a directory of checkpoints is tidied. On a frozen disk both can be opened
//! by the same code, and see what they have done, while every file below stays as it is, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Disk, DiskFile, DiskLock, Space};

/// What is written is kept in units of this length.
const PAGE_BYTES: usize = 4 << 10;

/// A view of another disk that nothing is written to. Only locks are taken there.
#[derive(Debug)]
pub struct FrozenDisk {
    below: Arc<dyn Disk>,
    names: Mutex<Names>,
}

/// What was done to names.
#[derive(Debug, Default)]
struct Names {
    files: BTreeMap<PathBuf, Arc<FrozenFile>>,
    removed: BTreeSet<PathBuf>,
    directories: BTreeSet<PathBuf>,
}

/// An open file. All handles of a name share it.
#[derive(Debug)]
struct FrozenFile {
    /// `None` for a file that was created here.
    below: Option<Arc<dyn DiskFile>>,
    content: Mutex<Content>,
}

/// What is different from the file below.
#[derive(Debug)]
struct Content {
    length: u64,
    /// The pages that were written to, by their numbers.
    pages: BTreeMap<u64, Vec<u8>>,
}

impl FrozenDisk {
    /// A view of this disk.
    #[must_use]
    pub fn new(below: Arc<dyn Disk>) -> Self {
        Self {
            below,
            names: Mutex::default(),
        }
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names
            .lock()
            .expect("nothing panics while it holds the names")
    }

    fn opened(&self, path: &Path) -> io::Result<Arc<FrozenFile>> {
        let mut names = self.names();
        if let Some(file) = names.files.get(path) {
            return Ok(Arc::clone(file));
        }
        if names.removed.contains(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let below = self.below.open(path)?;
        let length = below.length()?;
        let file = Arc::new(FrozenFile::new(Some(below), length));
        names.files.insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }
}

impl Disk for FrozenDisk {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        if self.below.directory_mode(path).is_err() {
            self.names().directories.insert(path.to_owned());
        }
        Ok(())
    }

    fn directory_mode(&self, path: &Path) -> io::Result<u32> {
        if self.names().directories.contains(path) {
            return Ok(0o700);
        }
        self.below.directory_mode(path)
    }

    fn make_private(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let names = self.names();
        let mut listed: BTreeSet<String> = match self.below.list(directory) {
            Err(_) if names.directories.contains(directory) => BTreeSet::new(),
            listed => listed?.into_iter().collect(),
        };
        let name = |path: &Path| {
            let is_here = path.parent() == Some(directory);
            let name = path.file_name().filter(|_| is_here)?;
            Some(name.to_string_lossy().into_owned())
        };
        for removed in names.removed.iter().filter_map(|path| name(path)) {
            listed.remove(&removed);
        }
        listed.extend(names.files.keys().filter_map(|path| name(path)));
        Ok(listed.into_iter().collect())
    }

    fn create(&self, path: &Path, length: u64) -> io::Result<Arc<dyn DiskFile>> {
        let file = Arc::new(FrozenFile::new(None, length));
        let mut names = self.names();
        names.removed.remove(path);
        names.files.insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.opened(path)?)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.opened(from)?;
        let mut names = self.names();
        names.files.remove(from);
        names.removed.insert(from.to_owned());
        names.removed.remove(to);
        names.files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.opened(path)?;
        let mut names = self.names();
        names.files.remove(path);
        names.removed.insert(path.to_owned());
        Ok(())
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn space(&self, directory: &Path) -> io::Result<Space> {
        self.below.space(directory)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        self.below.lock(path)
    }
}

impl FrozenFile {
    fn new(below: Option<Arc<dyn DiskFile>>, length: u64) -> Self {
        let pages = BTreeMap::new();
        Self {
            below,
            content: Mutex::new(Content { length, pages }),
        }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content
            .lock()
            .expect("nothing panics while it holds the content")
    }

    /// A page as it is below, with zeros beyond the end.
    fn page(&self, number: u64) -> io::Result<Vec<u8>> {
        let mut page = vec![0; PAGE_BYTES];
        let Some(below) = &self.below else {
            return Ok(page);
        };
        let begin = number * PAGE_BYTES as u64;
        let length = below.length()?.saturating_sub(begin);
        let length = usize::try_from(length).map_or(PAGE_BYTES, |length| length.min(PAGE_BYTES));
        below.read_exact_at(&mut page[..length], begin)?;
        Ok(page)
    }
}

/// The page of an offset, and the place in it.
fn place(offset: u64) -> (u64, usize) {
    let within = offset % PAGE_BYTES as u64;
    let within = usize::try_from(within).expect("it is less than a page");
    (offset / PAGE_BYTES as u64, within)
}

impl DiskFile for FrozenFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.content().length)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let content = self.content();
        let (number, within) = place(offset);
        let left = usize::try_from(content.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = buffer.len().min(left).min(PAGE_BYTES - within);
        let buffer = &mut buffer[..count];
        match (content.pages.get(&number), &self.below) {
            (Some(page), _) => buffer.copy_from_slice(&page[within..within + count]),
            (None, Some(_)) => {
                let page = self.page(number)?;
                buffer.copy_from_slice(&page[within..within + count]);
            }
            (None, None) => buffer.fill(0),
        }
        Ok(count)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        let mut content = self.content();
        let (number, within) = place(offset);
        let count = data.len().min(PAGE_BYTES - within);
        let mut page = match content.pages.remove(&number) {
            Some(page) => page,
            None => self.page(number)?,
        };
        page[within..within + count].copy_from_slice(&data[..count]);
        content.pages.insert(number, page);
        content.length = content.length.max(offset + count as u64);
        Ok(count)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;

    fn frozen() -> (SimDisk, FrozenDisk) {
        let disk = SimDisk::new();
        let directory = Path::new("/data");
        disk.create_directory(directory).unwrap();
        let file = disk.create(&directory.join("a"), 10_000).unwrap();
        file.write_all_at(b"first", 4_094).unwrap();
        (disk.clone(), FrozenDisk::new(Arc::new(disk)))
    }

    #[test]
    fn what_is_written_is_read_back_and_nothing_below_changes() {
        let (disk, frozen) = frozen();
        let before = disk.files();
        let path = Path::new("/data/a");
        frozen
            .open(path)
            .unwrap()
            .write_all_at(b"XY", 4_095)
            .unwrap();
        let file = frozen.open(path).unwrap();
        file.write_all_at(b"end", 9_999).unwrap();
        file.sync_data().unwrap();
        let read = frozen.read(path).unwrap();
        assert_eq!(&read[4_094..4_099], b"fXYst");
        assert_eq!((&read[9_999..], read.len()), (&b"end"[..], 10_002));
        frozen.rename(path, Path::new("/data/b")).unwrap();
        assert_eq!(frozen.list(Path::new("/data")).unwrap(), ["b"]);
        let created = frozen.create(Path::new("/data/c"), 3).unwrap();
        created.write_all_at(b"zz", 1).unwrap();
        assert_eq!(frozen.read(Path::new("/data/c")).unwrap(), b"\0zz");
        frozen.remove(Path::new("/data/b")).unwrap();
        assert!(frozen.open(Path::new("/data/b")).is_err() && frozen.open(path).is_err());
        frozen.create_directory(Path::new("/data/new")).unwrap();
        assert!(frozen.list(Path::new("/data/new")).unwrap().is_empty());
        assert_eq!(disk.files(), before);
        assert_eq!(disk.list(Path::new("/data")).unwrap(), ["a"]);
    }

    #[test]
    fn a_lock_is_that_of_the_disk_below() {
        let (disk, frozen) = frozen();
        let path = Path::new("/data/LOCK");
        let lock = frozen.lock(path).unwrap();
        assert!(lock.is_some() && disk.lock(path).unwrap().is_none());
    }
}
