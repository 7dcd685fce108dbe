//! `synod cluster force-new`.

use std::sync::Arc;

use synod_server::offline::{Survivor, SurvivorError};
use synod_store::{Disk, RealDisk};

use crate::args::ForceNewArgs;
use crate::commands::backup::{founder, not_founded};
use crate::commands::{now, show};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, views};

pub(super) fn run(args: &ForceNewArgs) -> Result<Exit, Failure> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let survivor = Survivor::read(Arc::clone(&disk), &args.data_dir);
    let survivor = survivor.map_err(|error| unreadable(&error))?;
    let lost = views::may_be_lost(&survivor);
    if !args.yes {
        show(&views::survivor(&survivor, &lost), args.output)?;
        let message = "the cluster was not founded: look at what may be lost";
        let advice = "run the same command with --yes to accept that";
        return Err(Failure::local(message, advice).in_usage());
    }
    // A program that reads the answer gets one document; what may be lost is in it, too.
    output::warn(&views::survivor(&survivor, &lost).render(output::Format::Table));
    let name = survivor.identity.cluster_name.clone();
    let founder = founder(&args.founded, &args.out, &name, now());
    let founded = founder
        .found(&disk, survivor.state)
        .map_err(|error| not_founded(&error))?;
    let mut document = views::founded(&founder, &founded);
    document.value["mayBeLost"] = lost.into();
    show(&document, args.output)
}

fn unreadable(error: &SurvivorError) -> Failure {
    let advice = match error {
        SurvivorError::Directory(_) => {
            "correct the path, and stop the replica that runs on the directory"
        }
        _ => "take the directory of another replica, or restore a backup: synod backup restore",
    };
    Failure::local(error.to_string(), advice)
}
