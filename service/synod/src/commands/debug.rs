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
use collect::Collected;

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
    output::print(&told(&out, &collected))?;
    Ok(Exit::Ok)
}

/// What is in the file, and what is not.
fn told(out: &Path, collected: &Collected) -> String {
    let mut told = format!("{} has {} files\n", out.display(), collected.files.len());
    for missing in &collected.missing {
        told += &format!(
            "not in it: {} of {}: {}\n",
            missing.what, missing.place, missing.why
        );
    }
    told
}

fn unwritten(out: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be written: {error}", out.display());
    Failure::local(
        message,
        "name another file with --out: one that is there is not replaced",
    )
}

#[cfg(test)]
mod tests {
    use super::collect::Missing;
    use super::*;

    #[test]
    fn what_is_in_a_bundle_is_counted_and_what_is_not_is_named() {
        let missing = |what, place: &str, why: &str| Missing {
            what,
            place: place.to_owned(),
            why: why.to_owned(),
        };
        let collected = Collected {
            files: vec![("client.json".to_owned(), "{}".to_owned())],
            missing: vec![missing("metrics", "10.0.0.2:4600", "it did not answer")],
        };
        assert_eq!(
            told(Path::new("incident.tar.gz"), &collected),
            "incident.tar.gz has 1 files\nnot in it: metrics of 10.0.0.2:4600: it did not answer\n"
        );
    }
}
