//! `Initialize`: the first command of a log, which creates the cluster.

use synod_model::{ErrorKind, Refusal};

use crate::turn::Turn;
use crate::{Answer, Initialize};

pub(crate) fn apply(turn: &mut Turn<'_>, initialize: &Initialize) -> Result<Answer, Refusal> {
    if let Some(cluster) = turn.state().cluster() {
        // Two replicas may both have proposed it after a change of leader: the first command created the cluster.
        return Err(Refusal::new(
            ErrorKind::AlreadyExists,
            format!("cluster {cluster} is formed already"),
        ));
    }
    turn.initialize(initialize.cluster, initialize.settings.clone());
    Ok(Answer::Done)
}
