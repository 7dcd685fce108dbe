use super::*;

async fn alone(directory: &std::path::Path) -> Running {
    let (address, incoming) = tcp::listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let id = ReplicaId::new(1);
    let config = ConsensusConfig::new(directory.to_owned(), id, "test".to_owned());
    Running::start(
        config,
        BTreeMap::from([(id, address.to_string())]),
        incoming,
    )
    .await
}

async fn leads(consensus: &Consensus) -> Term {
    let mut leadership = consensus.leadership();
    within("leader", leadership.wait_for(|now| now.is_me))
        .await
        .unwrap()
        .term
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

    let index = replica.consensus.read_index().await.unwrap();
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
    let index = replica.consensus.read_index().await.unwrap();
    let after = replica.consensus.wait_applied(index, soon()).await.unwrap();
    assert_eq!(after.state.digest(), before.state.digest());
    assert!(after.state.member_count() == 100);
    replica.stop().await;
}

#[tokio::test]
async fn a_checkpoint_replaces_the_log_that_it_holds() {
    let directory = tempfile::tempdir().unwrap();
    let replica = alone(directory.path()).await;
    replica.formed().await;
    let mut indexes = Vec::new();
    for round in 0..3 {
        let applied = replica.consensus.propose(join(round), None).await.unwrap();
        replica.consensus.checkpoint().await.unwrap();
        indexes.push(applied.position.index);
        let done = async {
            let mut progress = replica.consensus.subscribe();
            while replica
                .consensus
                .status()
                .checkpoint
                .is_none_or(|at| at.index < applied.position.index)
            {
                let _ = tokio::time::timeout(Duration::from_millis(10), progress.changed()).await;
            }
        };
        within("checkpoint", done).await;
    }
    let before = replica.consensus.published();
    replica.stop().await;
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
    let refused = start(config, Seams::real(Arc::new(RealDisk)))
        .await
        .err()
        .unwrap();
    assert!(refused.to_string().contains("in use"), "{refused}");
    replica.stop().await;
}
