//! `synod backup verify`.

use synod_store::backup::load;

use super::{file, unreadable};
use crate::args::BackupVerifyArgs;
use crate::commands::show;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::views;

pub(super) fn run(args: &BackupVerifyArgs) -> Result<Exit, Failure> {
    let (source, place) = file::source(&args.file, "synod backup verify -")?;
    let loaded = load(source).map_err(|error| unreadable(&place, &error))?;
    let rows = Some(loaded.counts());
    let document = views::backup(&loaded.header, loaded.format, &loaded.sum, rows);
    show(&document, args.output)
}
