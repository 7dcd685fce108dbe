//! `synod debug`: collects what is needed to find out what is wrong.

mod archive;
mod collect;

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::now;
use crate::args::{BundleArgs, DebugCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::settings::ClientSettings;
use archive::Archive;

pub(crate) async fn run(command: &DebugCommand, matches: &ArgMatches) -> Result<Exit, Failure> {
    match command {
        DebugCommand::Bundle(args) => bundle(args, matches).await,
    }
}

/// Writes the file even if nobody answers: that is when it is needed. What it lacks is told, and is in it.
async fn bundle(args: &BundleArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let settings = ClientSettings::load(&args.client, matches)?;
    let now = now();
    let name = format!("synod-debug-{}", now.as_millis() / 1_000);
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
    // What cannot be written is told before anything is asked.
    let mut archive = Archive::create(&out, &name, now).map_err(|error| unwritten(&out, &error))?;
    let collected = collect::collect(&settings, args.client.config.as_deref(), now).await;
    for (path, text) in &collected.files {
        archive
            .add(path, text)
            .map_err(|error| unwritten(&out, &error))?;
    }
    archive.finish().map_err(|error| unwritten(&out, &error))?;
    let mut told = format!("{} has {} files\n", out.display(), collected.files.len());
    for missing in &collected.missing {
        told += &format!(
            "not in it: {} of {}: {}\n",
            missing.what, missing.place, missing.why
        );
    }
    output::print(&told)?;
    Ok(Exit::Ok)
}

fn unwritten(out: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be written: {error}", out.display());
    Failure::local(
        message,
        "name another file with --out: one that is there is not replaced",
    )
}
