//! The backups in a folder: what `create` calls them, which of them it has made of a cluster, and which are too many.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::num::NonZeroU32;
use std::path::Path;

use synod_model::ClusterId;
use synod_store::backup::{BackupHeader, BackupReader};

use super::encryption;
use super::form::Form;
use crate::failure::Failure;
use crate::output;

/// What the names of files end with that are not whole yet.
pub(super) const PARTIAL: &str = ".partial";

/// The name of a backup in a folder. It sorts by time, and says what an encrypted one does not show.
pub(super) fn name(header: &BackupHeader, form: Form) -> String {
    let time = header.wall.to_string().replace(['-', ':'], "");
    let begin = begin(&header.cluster);
    format!("{begin}{time}-{}{}", header.revision, form.suffix())
}

/// What the name of a file begins with that is to become a backup in a folder.
pub(super) fn partial(cluster: &ClusterId) -> String {
    format!(".{}", begin(cluster))
}

fn begin(cluster: &ClusterId) -> String {
    format!("synod-{cluster}-")
}

/// What the name of a backup of a cluster says, in the order of age.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Named {
    revision: u64,
    time: String,
    name: String,
    form: Form,
}

impl Named {
    fn parse(name: &str, cluster: &ClusterId) -> Option<Self> {
        let rest = name.strip_prefix(&begin(cluster))?;
        let (form, rest) = Form::ALL
            .iter()
            .find_map(|form| Some((*form, rest.strip_suffix(form.suffix())?)))?;
        let (time, number) = rest.split_once('-')?;
        let revision: u64 = number.parse().ok()?;
        let is_written_so = is_time(time) && revision.to_string() == number;
        is_written_so.then(|| Self {
            revision,
            time: time.to_owned(),
            name: name.to_owned(),
            form,
        })
    }

    /// Whether the file begins as this command writes it. A plain one says itself what it is of; of the output of an unknown
    /// command only the name is known.
    fn is_in(&self, file: &Path, cluster: &ClusterId) -> bool {
        let Ok(content) = File::open(file).map(BufReader::new) else {
            return false;
        };
        if self.form != Form::Plain {
            return encryption::read_begin(content)
                .is_ok_and(|begin| !begin.is_empty() && Form::of_begin(&begin) == self.form);
        }
        BackupReader::open(content).is_ok_and(|reader| {
            let header = reader.header();
            header.cluster == *cluster && name(header, Form::Plain) == self.name
        })
    }
}

/// Whether this is a time as in `20261126T113645.123Z`.
fn is_time(text: &str) -> bool {
    const FORM: &[u8] = b"00000000T000000.000Z";
    let fits = |(found, form): (u8, &u8)| match form {
        b'0' => found.is_ascii_digit(),
        _ => found == *form,
    };
    text.len() == FORM.len() && text.bytes().zip(FORM).all(fits)
}

/// Removes the oldest backups of the cluster that were made in this folder, until this many are left. The new one is never
/// removed, nor is what only looks like one by its name. Returns the names of what was removed, also if not all could be.
pub(super) fn prune(
    folder: &Path,
    header: &BackupHeader,
    new: &str,
    keep: NonZeroU32,
) -> (Vec<String>, Option<Failure>) {
    let mut removed = Vec::new();
    let result = too_many(folder, &header.cluster, keep).and_then(|names| {
        // The new one is among the oldest if another run has made one of a later revision meanwhile.
        for name in names.into_iter().filter(|name| name != new) {
            match fs::remove_file(folder.join(&name)) {
                Ok(()) => removed.push(name),
                // Another run has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    });
    let failure = result.err().map(|error| {
        let folder = folder.display();
        let message = format!(
            "the backup {new} is whole and in its place, but old ones were left in {folder}: {error}"
        );
        Failure::local(message, "check who may read the folder and remove files there")
    });
    (removed, failure)
}

/// What is in the folder beside the newest backups, the oldest first, and what was left behind.
fn too_many(folder: &Path, cluster: &ClusterId, keep: NonZeroU32) -> io::Result<Vec<String>> {
    let mut made = made(folder, cluster)?;
    made.sort();
    let keep = usize::try_from(keep.get()).unwrap_or(usize::MAX);
    made.truncate(made.len().saturating_sub(keep));
    let old = made.into_iter().map(|named| named.name);
    Ok(old.chain(left_behind(folder, cluster)?).collect())
}

/// The backups of the cluster that this command has made in a folder.
fn made(folder: &Path, cluster: &ClusterId) -> io::Result<Vec<Named>> {
    let mut made = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str();
        let Some(named) = name.and_then(|name| Named::parse(name, cluster)) else {
            continue;
        };
        let path = entry.path();
        // The type of a link is that of a link.
        if entry.file_type()?.is_file() && named.is_in(&path, cluster) {
            made.push(named);
        } else {
            let path = path.display();
            output::warn(&format!(
                "warning: {path} has the name of a backup, and is none that can be read: it is left\n"
            ));
        }
    }
    Ok(made)
}

/// What runs have left behind that were killed while they wrote a backup of the cluster into this folder.
fn left_behind(folder: &Path, cluster: &ClusterId) -> io::Result<Vec<String>> {
    let (begin, mut left) = (partial(cluster), Vec::new());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap_or_default();
        let is_one = name.starts_with(&begin) && name.ends_with(PARTIAL);
        if !is_one || !entry.file_type()?.is_file() {
            continue;
        }
        // Who writes one holds its lock. Where a file system has no locks, nothing is known to be left behind.
        if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            left.push(name);
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use synod_model::{LogTime, Revision, WallTime};
    use synod_store::backup::BackupWriter;
    use tempfile::TempDir;

    use super::*;

    /// A backup at a revision, which is taken a day later than that of the revision before.
    fn header(cluster: &str, revision: u64) -> BackupHeader {
        const DAY_MS: u64 = 24 * 60 * 60 * 1000;
        BackupHeader {
            cluster: cluster.parse().unwrap(),
            cluster_name: "test".to_owned(),
            revision: Revision::new(revision),
            log_time: LogTime::from_millis(7),
            wall: WallTime::from_millis(revision * DAY_MS),
            binary: "0.1.0".to_owned(),
            machine_version: 2,
        }
    }

    const OURS: &str = "11111111-1111-4111-8111-111111111111";
    const THEIRS: &str = "22222222-2222-4222-8222-222222222222";

    fn written(header: &BackupHeader) -> Vec<u8> {
        let writer = BackupWriter::begin(Vec::new(), header).unwrap();
        writer.finish().unwrap().0
    }

    fn make(folder: &TempDir, header: &BackupHeader) -> String {
        let name = name(header, Form::Plain);
        fs::write(folder.path().join(&name), written(header)).unwrap();
        name
    }

    fn names(folder: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn pruned(folder: &TempDir, revision: u64, keep: u32) -> Vec<String> {
        let new = header(OURS, revision);
        let keep = NonZeroU32::new(keep).unwrap();
        let (removed, failure) = prune(folder.path(), &new, &name(&new, Form::Plain), keep);
        assert_eq!(failure, None);
        removed
    }

    #[test]
    fn the_name_of_a_backup_says_cluster_time_and_revision() {
        let header = header(OURS, 20_000);
        let plain = name(&header, Form::Plain);
        assert_eq!(
            plain,
            format!("synod-{OURS}-20241004T000000.000Z-20000.backup")
        );
        assert_eq!(name(&header, Form::Age), format!("{plain}.age"));
    }

    #[test]
    fn the_oldest_go_until_as_many_are_left_as_are_to_be_kept() {
        let folder = TempDir::new().unwrap();
        // As numbers they sort otherwise than as texts.
        let made = [8, 9, 10, 11].map(|revision| make(&folder, &header(OURS, revision)));
        assert_eq!(pruned(&folder, 11, 9), [""; 0]);
        assert_eq!(pruned(&folder, 11, 4), [""; 0]);
        assert_eq!(pruned(&folder, 11, 2), &made[..2]);
        assert_eq!(names(&folder), &made[2..]);
        // The new one stays, though another run was faster with a later revision.
        assert_eq!(pruned(&folder, 10, 1), [""; 0]);
        assert_eq!(pruned(&folder, 11, 1), &made[2..3]);
        assert_eq!(names(&folder), &made[3..]);
    }

    #[test]
    fn what_a_killed_run_has_left_goes_and_what_is_being_written_stays() {
        let folder = TempDir::new().unwrap();
        let new = make(&folder, &header(OURS, 1));
        let file = |cluster: &str, end: &str| {
            let name = format!("{}{end}", partial(&cluster.parse().unwrap()));
            let file = File::create(folder.path().join(&name)).unwrap();
            (name, file)
        };
        let (written, lock) = file(OURS, "a.partial");
        lock.lock().unwrap();
        let (left, _) = file(OURS, "b.partial");
        let (other, _) = file(OURS, "c");
        let (theirs, _) = file(THEIRS, "a.partial");
        assert_eq!(pruned(&folder, 1, 9), [left]);
        assert_eq!(names(&folder), [written, other, theirs, new]);
    }

    #[test]
    fn what_a_command_has_written_is_known_by_its_name_and_its_first_bytes() {
        let folder = TempDir::new().unwrap();
        let put = |revision, form, content: &[u8]| {
            let name = name(&header(OURS, revision), form);
            fs::write(folder.path().join(&name), content).unwrap();
            name
        };
        let encrypted = put(1, Form::Age, b"age-encryption.org/v1\n");
        let compressed = put(2, Form::Other, b"\x28\xb5\x2f\xfd");
        let stay = [
            put(3, Form::Age, b"not encrypted"),
            put(4, Form::Age, b"age-encry"),
            put(5, Form::Other, b""),
            put(6, Form::Other, b"age-encryption.org/v1\n"),
            put(7, Form::Other, b"SYNODBKP"),
        ];
        let new = make(&folder, &header(OURS, 8));
        assert_eq!(pruned(&folder, 8, 1), [encrypted, compressed]);
        assert_eq!(names(&folder), [&stay[..], &[new]].concat());
    }

    // Guarantee: B-02
    #[test]
    fn what_is_no_backup_of_the_cluster_stays() {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        make(&folder, &header(THEIRS, 1));
        // Names of ours, with something else behind them.
        fs::write(
            at(&name(&header(OURS, 1), Form::Plain)),
            written(&header(THEIRS, 1)),
        )
        .unwrap();
        fs::write(
            at(&name(&header(OURS, 2), Form::Plain)),
            written(&header(OURS, 1)),
        )
        .unwrap();
        fs::write(at(&name(&header(OURS, 3), Form::Plain)), "SYNODBKP").unwrap();
        fs::create_dir(at(&name(&header(OURS, 4), Form::Plain))).unwrap();
        fs::write(at("elsewhere"), written(&header(OURS, 5))).unwrap();
        symlink(at("elsewhere"), at(&name(&header(OURS, 5), Form::Plain))).unwrap();
        // Other names, with a backup of ours behind them.
        let ours = written(&header(OURS, 6));
        let begin = begin(&OURS.parse().unwrap());
        for name in [
            "today.backup".to_owned(),
            "synod-20241004T000000Z.backup".to_owned(),
            format!("{begin}20241004T000000.000Z-06.backup"),
            format!("{begin}20241004T000000.000Z-+6.backup"),
            format!("{begin}20241004T0000000000Z-6.backup"),
            format!("{begin}20241004T000000.000Z-6.backup.zst"),
            format!("copy-{}", name(&header(OURS, 6), Form::Plain)),
        ] {
            fs::write(at(&name), &ours).unwrap();
        }
        let stays = names(&folder);
        let old = make(&folder, &header(OURS, 6));
        let new = make(&folder, &header(OURS, 7));
        assert_eq!(pruned(&folder, 7, 1), [old]);
        let mut left = names(&folder);
        left.retain(|name| *name != new);
        assert_eq!(left, stays);
    }
}
