//! `synod cluster`: what is done to a cluster as a whole.

mod force_new;

use crate::args::ClusterCommand;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn run(command: &ClusterCommand) -> Result<Exit, Failure> {
    match command {
        ClusterCommand::ForceNew(args) => force_new::run(args),
    }
}
