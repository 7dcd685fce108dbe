//! `synod backup restore`.

use std::sync::Arc;

use synod_store::backup::load;
use synod_store::{Disk, RealDisk};

use super::{file, founder, not_founded, unreadable};
use crate::args::BackupRestoreArgs;
use crate::commands::{now, show};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::views;

pub(super) fn run(args: &BackupRestoreArgs) -> Result<Exit, Failure> {
    let (source, place) = file::source(&args.file, "synod backup restore - ...")?;
    let loaded = load(source).map_err(|error| unreadable(&place, &error))?;
    let name = &loaded.header.cluster_name;
    let founder = founder(&args.founded, &args.data_dir, name, now());
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let founded = founder
        .found(&disk, loaded.state)
        .map_err(|error| not_founded(&error))?;
    show(&views::founded(&founder, &founded), args.output)
}
