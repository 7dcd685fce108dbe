//! A disk in memory that loses unsynced writes by seed.
//!
//! It separates what is durable from what was merely written, for file contents and for names, and [`SimDisk::crash`]
//! decides by its seed which unsynced changes survive. Nothing else is random, no thread is started and no clock is
//! read, so that a whole run replays from its seed.
//!
//! Faults are armed by the test: see [`SimDisk::cut_power_after`], [`SimDisk::fail_sync_after`],
//! [`SimDisk::set_capacity`], [`SimDisk::limit_transfers`] and [`SimDisk::corrupt`].

mod contents;
mod locking;
mod names;
mod power;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Disk, DiskFile, DiskLock, Space};
use contents::Contents;
use locking::lock;
use names::{Directory, NameChange, PRIVATE_MODE};
use power::Power;
use random::Random;

/// A simulated disk. Clones share one disk, like the processes of one machine.
#[derive(Clone, Debug, Default)]
pub struct SimDisk {
    state: Arc<Mutex<DiskState>>,
}

/// The numbers of slow operations so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Writes to files.
    pub writes: u64,
    /// Syncs of files.
    pub file_syncs: u64,
    /// Syncs of directories.
    pub directory_syncs: u64,
}

#[derive(Debug, Default)]
struct DiskState {
    directories: BTreeMap<PathBuf, Directory>,
    locks: BTreeSet<PathBuf>,
    power: Power,
    counts: Counts,
    /// The sync that fails, counted from now on; 0 is the next one.
    failing_sync: Option<u64>,
    capacity: Option<u64>,
    transfer_max: Option<usize>,
}

impl SimDisk {
    /// Returns an empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a disk that holds these files, all of them durable.
    #[must_use]
    pub fn with_files(files: &BTreeMap<PathBuf, Vec<u8>>) -> Self {
        let disk = Self::new();
        let mut state = disk.state();
        for (path, content) in files {
            let (parent, name) = split(path);
            state.create_directory(&parent);
            let contents = Arc::new(Mutex::new(Contents::durable(content.clone())));
            state
                .directories
                .entry(parent)
                .or_default()
                .change(NameChange::Set(name, contents));
        }
        for directory in state.directories.values_mut() {
            directory.sync();
            directory.is_durable = true;
        }
        drop(state);
        disk
    }

    /// Returns every file as a reader sees it now, for comparisons.
    #[must_use]
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let state = self.state();
        let mut files = BTreeMap::new();
        for (path, directory) in &state.directories {
            for (name, contents) in directory.current() {
                files.insert(path.join(name), lock(contents).current().to_vec());
            }
        }
        files
    }

    /// Fails the power: keeps what is durable, and a part of the rest that the seed selects.
    ///
    /// Of the unsynced writes to a file, either a prefix is kept, the last of it torn at the border of a sector, or
    /// every sector independently keeps one of its versions. Of the changed names in a directory a prefix is kept.
    /// Every open file and lock is gone, and the power is back on for the next process.
    pub fn crash(&self, seed: u64) {
        let mut random = Random::new(seed);
        let mut state = self.state();
        let mut lost: Vec<PathBuf> = Vec::new();
        for (path, directory) in &mut state.directories {
            let is_lost = !directory.is_durable && random.below(2) == 0;
            // Parents come before their children.
            if is_lost || lost.iter().any(|parent| path.starts_with(parent)) {
                lost.push(path.clone());
            }
            directory.crash(&mut random);
        }
        state.directories.retain(|path, _| !lost.contains(path));
        state.restart();
    }

    /// Ends every process that uses the disk, as SIGKILL does: open files and locks are gone, and written data stays
    /// readable, synced or not.
    pub fn kill(&self) {
        self.state().restart();
    }

    /// Cuts the power after `operations` more operations that change anything.
    ///
    /// The next one fails half-way, and everything fails from there until [`SimDisk::crash`].
    pub fn cut_power_after(&self, operations: u64) {
        self.state().power.cut_after(operations);
    }

    /// Whether an armed power cut has happened.
    #[must_use]
    pub fn power_is_off(&self) -> bool {
        self.state().power.is_off()
    }

    /// Makes a sync of a file fail: the next one for 0, the one after it for 1.
    ///
    /// As on Linux, the data of that sync stays readable but is lost: no later sync makes it durable.
    pub fn fail_sync_after(&self, syncs: u64) {
        self.state().failing_sync = Some(syncs);
    }

    /// Bounds the sum of the lengths of all files, in bytes; beyond it there is no space left.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// Makes every single read and write move at most this many bytes.
    pub fn limit_transfers(&self, bytes: Option<usize>) {
        self.state().transfer_max = bytes;
    }

    /// Changes one byte of a file durably, without any handle.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is no such byte.
    pub fn corrupt(
        &self,
        path: &Path,
        offset: u64,
        change: impl FnOnce(u8) -> u8,
    ) -> io::Result<()> {
        let contents = self.state().find(path)?;
        let changed = lock(&contents).corrupt(offset, change);
        if changed {
            Ok(())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    /// The bytes that are written and not synced, for tests that crash at a moment with some.
    #[must_use]
    pub fn unsynced_bytes(&self) -> u64 {
        let state = self.state();
        let files = state.directories.values().flat_map(Directory::current);
        files
            .map(|(_, contents)| lock(contents).unsynced_bytes())
            .sum()
    }

    /// The numbers of operations so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    fn state(&self) -> MutexGuard<'_, DiskState> {
        lock(&self.state)
    }

    fn handle(&self, state: &DiskState, contents: Arc<Mutex<Contents>>) -> Arc<dyn DiskFile> {
        Arc::new(SimFile {
            disk: self.clone(),
            contents,
            life: state.power.life(),
        })
    }
}

/// The free space of a disk without a set capacity.
const UNLIMITED: u64 = 1 << 50;

impl Disk for SimDisk {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.power.spend()?;
        state.create_directory(path);
        Ok(())
    }

    fn directory_mode(&self, path: &Path) -> io::Result<u32> {
        let mut state = self.state();
        state.power.check()?;
        Ok(state.directory(path)?.mode)
    }

    fn make_private(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.power.spend()?;
        state.directory(path)?.mode = PRIVATE_MODE;
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut state = self.state();
        state.power.check()?;
        let mut names: Vec<_> = state
            .directory(directory)?
            .current()
            .map(|(name, _)| name.clone())
            .collect();
        names.extend(state.children(directory));
        names.sort();
        Ok(names)
    }

    fn create(&self, path: &Path, length: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state();
        state.power.spend()?;
        let (parent, name) = split(path);
        state.directory(&parent)?;
        state.check_capacity(length)?;
        let contents = Arc::new(Mutex::new(Contents::default()));
        lock(&contents).write(
            &vec![0; usize::try_from(length).map_err(io::Error::other)?],
            0,
        );
        let change = NameChange::Set(name, Arc::clone(&contents));
        state.directory(&parent)?.change(change);
        Ok(self.handle(&state, contents))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.state();
        state.power.check()?;
        let contents = state.find(path)?;
        Ok(self.handle(&state, contents))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.power.spend()?;
        state.find(from)?;
        let ((parent, from), (target, to)) = (split(from), split(to));
        if parent != target {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        state
            .directory(&parent)?
            .change(NameChange::Rename(from, to));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.power.spend()?;
        state.find(path)?;
        let (parent, name) = split(path);
        state.directory(&parent)?.change(NameChange::Remove(name));
        Ok(())
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.power.spend()?;
        state.counts.directory_syncs += 1;
        state.directory(path)?.sync();
        // The names in a directory include those of the directories in it.
        let children = state
            .directories
            .iter_mut()
            .filter(|(child, _)| child.parent() == Some(path));
        children.for_each(|(_, child)| child.is_durable = true);
        Ok(())
    }

    fn space(&self, _directory: &Path) -> io::Result<Space> {
        let state = self.state();
        let size = state.capacity.unwrap_or(UNLIMITED);
        let free = size.saturating_sub(state.used());
        Ok(Space { free, size })
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        if matches!(self.open(path), Err(e) if e.kind() == io::ErrorKind::NotFound) {
            self.create(path, 0)?;
        }
        let mut state = self.state();
        state.power.check()?;
        if !state.locks.insert(path.to_owned()) {
            return Ok(None);
        }
        let path = path.to_owned();
        Ok(Some(Box::new(SimLock {
            disk: self.clone(),
            path,
            life: state.power.life(),
        })))
    }
}

impl DiskState {
    fn create_directory(&mut self, path: &Path) {
        for ancestor in path.ancestors() {
            let directory = self.directories.entry(ancestor.to_owned()).or_default();
            // The root has no parent that could be synced.
            directory.is_durable |= ancestor.parent().is_none();
        }
    }

    fn directory(&mut self, path: &Path) -> io::Result<&mut Directory> {
        self.directories
            .get_mut(path)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The names of the directories in a directory.
    fn children(&self, path: &Path) -> Vec<String> {
        let children = self
            .directories
            .keys()
            .filter(|child| child.parent() == Some(path));
        children.map(|child| split(child).1).collect()
    }

    fn find(&self, path: &Path) -> io::Result<Arc<Mutex<Contents>>> {
        let (parent, name) = split(path);
        let found = self
            .directories
            .get(&parent)
            .and_then(|directory| directory.get(&name));
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn used(&self) -> u64 {
        let files = self.directories.values().flat_map(Directory::current);
        files
            .map(|(_, contents)| lock(contents).current().len() as u64)
            .sum()
    }

    fn check_capacity(&self, more: u64) -> io::Result<()> {
        let Some(capacity) = self.capacity else {
            return Ok(());
        };
        if self.used() + more > capacity {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }

    /// Counts down to the sync that is to fail.
    fn sync_fails(&mut self) -> bool {
        let left = self.failing_sync.take();
        self.failing_sync = left.and_then(|left| left.checked_sub(1));
        left == Some(0)
    }

    fn restart(&mut self) {
        self.locks.clear();
        self.power.restart();
    }
}

/// An open file. It works only while the process that opened it lives.
#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    contents: Arc<Mutex<Contents>>,
    life: u64,
}

impl SimFile {
    fn alive(&self) -> io::Result<MutexGuard<'_, DiskState>> {
        let state = self.disk.state();
        state.power.check_life(self.life)?;
        Ok(state)
    }
}

impl DiskFile for SimFile {
    fn length(&self) -> io::Result<u64> {
        drop(self.alive()?);
        Ok(lock(&self.contents).current().len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.alive()?;
        let contents = lock(&self.contents);
        let from = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(contents.current().len());
        let available = &contents.current()[from..];
        let most = state.transfer_max.unwrap_or(usize::MAX);
        let length = buffer.len().min(available.len()).min(most);
        buffer[..length].copy_from_slice(&available[..length]);
        Ok(length)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.alive()?;
        state.counts.writes += 1;
        let data = &data[..data.len().min(state.transfer_max.unwrap_or(usize::MAX))];
        let mut contents = lock(&self.contents);
        let growth = (offset + data.len() as u64).saturating_sub(contents.current().len() as u64);
        if growth > 0 {
            drop(contents);
            state.check_capacity(growth)?;
            contents = lock(&self.contents);
        }
        // Written before the power is spent: a write during which the power fails may survive in part.
        contents.write(data, offset);
        state.power.spend()?;
        Ok(data.len())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.alive()?;
        state.counts.file_syncs += 1;
        state.power.spend()?;
        let mut contents = lock(&self.contents);
        if state.sync_fails() {
            contents.lose();
            return Err(io::Error::other("input/output error (simulated)"));
        }
        contents.sync();
        Ok(())
    }
}

/// A lock. Dropping it after its process has died does nothing.
#[derive(Debug)]
struct SimLock {
    disk: SimDisk,
    path: PathBuf,
    life: u64,
}

impl DiskLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        if state.power.life() == self.life {
            state.locks.remove(&self.path);
        }
    }
}

fn split(path: &Path) -> (PathBuf, String) {
    let parent = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    (parent, name.unwrap_or_default())
}

#[cfg(test)]
mod tests;
