//! Replaces a small file as a whole, so that a crash leaves the old content or the new, never a mixture, and removes
//! files.

use std::io;
use std::path::Path;

use crate::disk::Disk;
use crate::failure::IoFailure;

/// The end of the name of a temporary file.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// Writes `content` to `directory/name`: temporary file, sync, rename, sync of the directory.
///
/// Durable when it returns `Ok`. After an error, a crash may leave either content.
pub(crate) fn replace_file(
    disk: &dyn Disk,
    directory: &Path,
    name: &str,
    content: &[u8],
) -> Result<(), IoFailure> {
    let target = directory.join(name);
    let temporary = directory.join(format!("{name}{TEMPORARY_SUFFIX}"));
    let file = disk
        .create(&temporary, 0)
        .map_err(IoFailure::while_doing("create", &temporary))?;
    file.write_all_at(content, 0)
        .map_err(IoFailure::while_doing("write to", &temporary))?;
    file.sync_data()
        .map_err(IoFailure::while_doing("sync", &temporary))?;
    disk.rename(&temporary, &target)
        .map_err(IoFailure::while_doing("rename into place", &target))?;
    disk.sync_directory(directory)
        .map_err(IoFailure::while_doing("sync directory", directory))
}

/// Removes a file if it exists. The removal is durable after a sync of the directory.
pub(crate) fn remove_if_there(disk: &dyn Disk, path: &Path) -> Result<(), IoFailure> {
    match disk.remove(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(IoFailure::while_doing("remove", path)(e))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
