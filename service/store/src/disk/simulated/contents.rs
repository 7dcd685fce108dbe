//! The contents of one simulated file: durable, readable, and the writes between the two.

use std::collections::BTreeMap;

use super::random::Random;
use crate::disk::SECTOR_BYTES;

#[derive(Debug, Default)]
pub(super) struct Contents {
    durable: Vec<u8>,
    current: Vec<u8>,
    /// Writes since the last sync, oldest first.
    unsynced: Vec<Write>,
}

#[derive(Clone, Debug)]
struct Write {
    offset: u64,
    data: Vec<u8>,
}

impl Contents {
    pub(super) fn durable(content: Vec<u8>) -> Self {
        Self {
            durable: content.clone(),
            current: content,
            unsynced: Vec::new(),
        }
    }

    pub(super) fn current(&self) -> &[u8] {
        &self.current
    }

    pub(super) fn unsynced_bytes(&self) -> u64 {
        self.unsynced
            .iter()
            .map(|write| write.data.len() as u64)
            .sum()
    }

    pub(super) fn write(&mut self, data: &[u8], offset: u64) {
        apply(&mut self.current, offset, data);
        self.unsynced.push(Write {
            offset,
            data: data.to_vec(),
        });
    }

    pub(super) fn sync(&mut self) {
        for write in self.unsynced.drain(..) {
            apply(&mut self.durable, write.offset, &write.data);
        }
    }

    /// Drops the unsynced writes without making them durable, as a kernel does after a failed sync.
    pub(super) fn lose(&mut self) {
        self.unsynced.clear();
    }

    /// Changes one byte on the device and in memory. Returns whether there is such a byte.
    pub(super) fn corrupt(&mut self, offset: u64, change: impl FnOnce(u8) -> u8) -> bool {
        let Some(position) = usize::try_from(offset)
            .ok()
            .filter(|at| *at < self.current.len())
        else {
            return false;
        };
        let changed = change(self.current[position]);
        self.current[position] = changed;
        if let Some(byte) = self.durable.get_mut(position) {
            *byte = changed;
        }
        true
    }

    /// Makes a part of the unsynced writes durable and drops the rest.
    pub(super) fn crash(&mut self, random: &mut Random) {
        let unsynced = std::mem::take(&mut self.unsynced);
        if random.below(2) == 0 {
            self.keep_prefix(&unsynced, random);
        } else {
            self.keep_sectors(&unsynced, random);
        }
        // The new length of a file can become durable before its data, which then reads as zeros.
        if !unsynced.is_empty() && self.durable.len() < self.current.len() && random.below(4) == 0 {
            self.durable.resize(self.current.len(), 0);
        }
        self.current.clone_from(&self.durable);
    }

    fn keep_prefix(&mut self, unsynced: &[Write], random: &mut Random) {
        let kept = usize::try_from(random.below(unsynced.len() as u64 + 1)).unwrap_or_default();
        for write in &unsynced[..kept] {
            apply(&mut self.durable, write.offset, &write.data);
        }
        let Some(torn) = unsynced.get(kept) else {
            return;
        };
        let pieces = pieces(torn);
        let kept = usize::try_from(random.below(pieces.len() as u64 + 1)).unwrap_or_default();
        for (offset, data) in &pieces[..kept] {
            apply(&mut self.durable, *offset, data);
        }
    }

    fn keep_sectors(&mut self, unsynced: &[Write], random: &mut Random) {
        let mut versions: BTreeMap<u64, Vec<(u64, &[u8])>> = BTreeMap::new();
        for piece in unsynced.iter().flat_map(pieces) {
            versions
                .entry(piece.0 / SECTOR_BYTES)
                .or_default()
                .push(piece);
        }
        for versions in versions.into_values() {
            let kept = usize::try_from(random.below(versions.len() as u64 + 1)).unwrap_or_default();
            for (offset, data) in &versions[..kept] {
                apply(&mut self.durable, *offset, data);
            }
        }
    }
}

/// Splits a write at the borders of sectors.
fn pieces(write: &Write) -> Vec<(u64, &[u8])> {
    let mut pieces = Vec::new();
    let (mut offset, mut rest) = (write.offset, write.data.as_slice());
    while !rest.is_empty() {
        let length = (SECTOR_BYTES - offset % SECTOR_BYTES).min(rest.len() as u64);
        let (piece, next) = rest.split_at(usize::try_from(length).unwrap_or(rest.len()));
        pieces.push((offset, piece));
        (offset, rest) = (offset + length, next);
    }
    pieces
}

fn apply(content: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let start = usize::try_from(offset).expect("a simulated file fits in memory");
    let end = start + data.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[start..end].copy_from_slice(data);
}
