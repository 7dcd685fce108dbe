use std::path::Path;
use std::sync::{Arc, Mutex};

use synod_store::SimDisk;

use super::*;

pub(super) async fn alone(directory: &Path) -> Running {
    alone_with(directory, on_real_disk()).await
}

async fn alone_with(directory: &Path, seams: Seams) -> Running {
    let (address, incoming) = tcp::listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let id = ReplicaId::new(1);
    let config = ConsensusConfig::new(directory.to_owned(), id, "test".to_owned());
    Running::start(
        config,
        seams,
        BTreeMap::from([(id, address.to_string())]),
        incoming,
    )
    .await
}

pub(super) async fn leads(consensus: &Consensus) -> Term {
    let mut leadership = consensus.leadership();
    within("leader", leadership.wait_for(|now| now.is_me))
        .await
        .unwrap()
        .term
}

/// Writes a checkpoint that covers the entry at this index.
pub(super) async fn checkpoint(consensus: &Consensus, index: u64) {
    consensus.checkpoint().await.unwrap();
    let done = async {
        let mut progress = consensus.subscribe();
        while consensus
            .status()
            .checkpoint
            .is_none_or(|at| at.index < index)
        {
            let _ = tokio::time::timeout(Duration::from_millis(10), progress.changed()).await;
        }
    };
    within("checkpoint", done).await;
}

#[tokio::test]
async fn a_single_replica_forms_its_set_and_takes_proposals() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    let term = leads(&replica.consensus).await;
    replica.formed().await;

    let applied = replica
        .consensus
        .propose(join(1), Some(term))
        .await
        .unwrap();
    assert!(applied.applied.outcomes[0].result.is_ok(), "{applied:?}");
    let published = replica.consensus.published();
    assert!(published.applied_index() >= applied.position.index);
    assert!(published.state.member_count() == 1);

    let index = replica.consensus.read_index().await.unwrap().index;
    assert!(index >= applied.position.index);
    replica.stop().await;
}

#[tokio::test]
async fn a_replica_that_starts_again_has_everything_that_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    replica.formed().await;
    for number in 0..100 {
        replica.consensus.propose(join(number), None).await.unwrap();
    }
    let before = replica.consensus.published();
    replica.stop().await;

    let replica = alone(directory.path()).await;
    leads(&replica.consensus).await;
    let index = replica.consensus.read_index().await.unwrap().index;
    let after = replica.consensus.wait_applied(index, soon()).await.unwrap();
    assert_eq!(after.state.digest(), before.state.digest());
    assert!(after.state.member_count() == 100);
    replica.stop().await;
}

#[tokio::test]
async fn a_checkpoint_replaces_the_log_that_it_holds() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    let timed = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&timed);
    replica
        .consensus
        .when_timed(move |what, _| told.lock().unwrap().push(what));
    replica.formed().await;
    let mut indexes = Vec::new();
    for round in 0..3 {
        let applied = replica.consensus.propose(join(round), None).await.unwrap();
        checkpoint(&replica.consensus, applied.position.index).await;
        indexes.push(applied.position.index);
    }
    let before = replica.consensus.published();
    replica.stop().await;
    assert_eq!(*timed.lock().unwrap(), [Timed::CheckpointWritten; 3]);
    let names = std::fs::read_dir(directory.path().join("checkpoints"))
        .unwrap()
        .count();
    assert_eq!(names, 2, "the two newest checkpoints are kept");

    let replica = alone(directory.path()).await;
    leads(&replica.consensus).await;
    assert_eq!(
        replica.consensus.published().state.revision(),
        before.state.revision()
    );
    replica.stop().await;
}

#[tokio::test]
async fn a_proposal_for_another_term_is_not_executed() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    let term = leads(&replica.consensus).await;
    let refused = replica
        .consensus
        .propose(join(1), Some(Term::new(term.get() + 1)))
        .await
        .unwrap_err();
    assert!(
        matches!(refused, ProposeError::NotLeader { .. }),
        "{refused:?}"
    );
    replica.stop().await;
}

#[tokio::test]
async fn a_second_process_on_the_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    let config = ConsensusConfig::new(
        directory.path().to_owned(),
        ReplicaId::new(1),
        "test".to_owned(),
    );
    let refused = start(config, on_real_disk()).await.err().unwrap();
    assert!(refused.to_string().contains("in use"), "{refused}");
    replica.stop().await;
}

// Guarantee: D-03
#[tokio::test]
async fn a_disk_that_fails_ends_the_replica_and_nothing_is_acknowledged() {
    let disk = SimDisk::new();
    let seams = Seams::real(Arc::new(disk.clone()));
    let replica = alone_with(Path::new("/data"), seams).await;
    replica.formed().await;
    disk.fail_sync_after(0);

    let answered = replica.consensus.propose(join(1), None).await;
    assert!(
        matches!(answered, Err(ProposeError::Unknown)),
        "{answered:?}"
    );
    let fatal = within("end", replica.consensus.fatal()).await;
    assert!(matches!(fatal, Fatal::Storage(_)), "{fatal}");
    // Even if the disk works again, what the log holds on it stays in doubt.
    let answered = replica.consensus.propose(join(2), None).await;
    assert!(
        matches!(answered, Err(ProposeError::Stopped)),
        "{answered:?}"
    );
    assert_eq!(replica.consensus.published().state.member_count(), 0);
    replica.stop().await;
}

// Guarantee: D-03
#[tokio::test]
async fn a_committed_entry_that_cannot_be_read_ends_the_replica_each_time_and_is_never_skipped() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    replica.formed().await;
    // As if a newer release had written it: one envelope, whose command is field 999.
    let unknown = Bytes::from_static(&[0x22, 0x03, 0xBA, 0x3E, 0x00]);
    let answered = replica.consensus.propose(unknown, None).await;
    assert!(
        matches!(answered, Err(ProposeError::Unknown)),
        "{answered:?}"
    );
    let fatal = within("end", replica.consensus.fatal()).await;
    assert!(fatal.to_string().contains("cannot be applied"), "{fatal}");
    let before = replica.consensus.published().applied_index();
    replica.stop().await;

    // After a restart the replica ends either while it starts or right after: both orders are possible.
    let id = ReplicaId::new(1);
    let config = ConsensusConfig::new(directory.path().to_owned(), id, "test".to_owned());
    match start(config, on_real_disk()).await {
        Err(refused) => assert!(
            refused.to_string().contains("cannot be applied"),
            "{refused}"
        ),
        Ok(consensus) => {
            let fatal = within("end", consensus.fatal()).await;
            assert!(fatal.to_string().contains("cannot be applied"), "{fatal}");
            assert_eq!(consensus.published().applied_index(), before);
            consensus.shutdown().await;
        }
    }
}
