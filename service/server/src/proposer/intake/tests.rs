use std::time::Duration;

use super::*;
use crate::proposer::request::tests::sample;

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A queue of requests of these sizes, with their waiters: dropping a waiter would withdraw its request.
fn filled(sizes: &[usize]) -> (Intake, Vec<crate::proposer::request::Waiter>) {
    let (queue, intake) = queue();
    let waiters = sizes.iter().map(|bytes| {
        let (request, waiter) = sample(*bytes, deadline());
        queue.push(Unit::Own(request)).unwrap();
        waiter
    });
    (intake, waiters.collect())
}

fn forwarded(commands: usize, bytes: usize) -> (Forwarded, oneshot::Receiver<BatchVerdict>) {
    let (answer, answered) = oneshot::channel();
    let commands = vec![Bytes::from(vec![1; bytes]); commands];
    let bytes = commands.iter().map(Bytes::len).sum();
    (
        Forwarded {
            commands,
            stages: Vec::new(),
            bytes,
            deadline: deadline(),
            answer,
            place: None,
        },
        answered,
    )
}

fn sizes(batch: &Batch) -> Vec<usize> {
    batch.envelopes().map(Bytes::len).collect()
}

#[tokio::test]
async fn everything_that_has_gathered_is_taken_at_once_and_in_order() {
    let (mut intake, _waiters) = filled(&[3, 1, 2]);
    assert!(intake.ready().await);
    let batch = intake.take(Instant::now());
    assert_eq!(
        (sizes(&batch), batch.commands, batch.bytes),
        (vec![3, 1, 2], 3, 6)
    );
    assert!(intake.take(Instant::now()).units.is_empty());
}

#[tokio::test]
async fn what_does_not_fit_an_entry_goes_into_the_next_one() {
    let half = BATCH_BYTES_MAX / 2;
    let (mut intake, _waiters) = filled(&[half, half, 1]);
    assert_eq!(sizes(&intake.take(Instant::now())), [half, half]);
    assert!(intake.ready().await);
    assert_eq!(sizes(&intake.take(Instant::now())), [1]);
}

#[tokio::test]
async fn a_command_that_is_larger_than_an_entry_should_be_has_one_to_itself() {
    let (mut intake, _waiters) = filled(&[1, BATCH_BYTES_MAX + 1, 2]);
    assert_eq!(sizes(&intake.take(Instant::now())), [1]);
    assert_eq!(sizes(&intake.take(Instant::now())), [BATCH_BYTES_MAX + 1]);
    assert_eq!(sizes(&intake.take(Instant::now())), [2]);
}

#[tokio::test]
async fn an_entry_takes_so_many_commands_and_no_more() {
    let (mut intake, _waiters) = filled(&vec![1; BATCH_COMMANDS_MAX + 1]);
    assert_eq!(intake.take(Instant::now()).commands, BATCH_COMMANDS_MAX);
    assert_eq!(intake.take(Instant::now()).commands, 1);
}

#[tokio::test]
async fn a_forwarded_batch_goes_into_one_entry_as_a_whole() {
    let (queue, mut intake) = queue();
    let (own, _waiter) = sample(1, deadline());
    let (batch, _answered) = forwarded(3, BATCH_BYTES_MAX / 3);
    queue.push(Unit::Own(own)).unwrap();
    queue.push(Unit::Forwarded(batch)).unwrap();
    assert_eq!(
        intake.take(Instant::now()).commands,
        1 + 3,
        "it fits to the byte"
    );
    let (own, _waiter) = sample(2, deadline());
    let (batch, _answered) = forwarded(3, BATCH_BYTES_MAX / 3);
    queue.push(Unit::Own(own)).unwrap();
    queue.push(Unit::Forwarded(batch)).unwrap();
    assert_eq!(intake.take(Instant::now()).commands, 1);
    assert_eq!(intake.take(Instant::now()).commands, 3);
}

#[tokio::test(start_paused = true)]
async fn a_forwarded_batch_whose_deadline_passed_goes_back_and_was_not_executed() {
    let (queue, mut intake) = queue();
    let (batch, answered) = forwarded(1, 1);
    let late = batch.deadline;
    queue.push(Unit::Forwarded(batch)).unwrap();
    assert!(intake.take(late).units.is_empty());
    let BatchVerdict::NotExecuted { reason, .. } = answered.await.unwrap() else {
        panic!("it was not executed")
    };
    assert_eq!(reason, NotExecutedReason::Deadline);
}

#[tokio::test]
async fn what_a_leader_refused_is_taken_first_again_in_its_order() {
    let (mut intake, _waiters) = filled(&[1, 2, 3]);
    let batch = intake.take(Instant::now());
    let requests = batch.units.into_iter().map(|unit| match unit {
        Unit::Own(request) => request,
        Unit::Forwarded(_) => panic!("nobody forwarded anything"),
    });
    intake.put_back(requests.collect());
    assert_eq!(sizes(&intake.take(Instant::now())), [1, 2, 3]);
}

#[tokio::test]
async fn a_full_lane_refuses_by_requests_and_by_bytes_and_room_comes_back() {
    let (queue, mut intake) = queue();
    let place = queue.place(LANE_BYTES_MAX).unwrap();
    assert_eq!(
        queue.place(1).unwrap_err().kind,
        synod_model::ErrorKind::Overloaded
    );
    assert_eq!(queue.bytes(), LANE_BYTES_MAX);
    drop(place);
    assert!(queue.place(1).is_ok());

    let mut answers = Vec::new();
    for _ in 0..LANE_REQUESTS_MAX {
        let (batch, answered) = forwarded(1, 1);
        queue.push(Unit::Forwarded(batch)).unwrap();
        answers.push(answered);
    }
    let (one_more, _answered) = forwarded(1, 1);
    assert_eq!(queue.push(Unit::Forwarded(one_more)), Err(NotQueued::Full));
    assert_eq!(queue.len(), LANE_REQUESTS_MAX);
    intake.take(Instant::now());
    assert!(queue.len() < LANE_REQUESTS_MAX);
}

#[tokio::test]
async fn a_lane_that_is_closed_lets_nothing_in_and_everything_out() {
    let (queue, mut intake) = queue();
    let (request, _waiter) = sample(1, deadline());
    queue.push(Unit::Own(request)).unwrap();
    intake.close();
    let (late, _late) = sample(1, deadline());
    assert_eq!(queue.push(Unit::Own(late)), Err(NotQueued::Stopping));
    assert!(intake.ready().await);
    assert_eq!(intake.take(Instant::now()).commands, 1);
    assert!(!intake.ready().await);
}

#[tokio::test]
async fn a_batch_of_another_replica_takes_its_bytes_of_the_queue_until_it_is_taken() {
    let (queue, mut intake) = queue();
    let (batch, _answered) = forwarded(2, 50);
    let place = queue.place(batch.bytes).ok();
    let batch = Forwarded { place, ..batch };
    queue.push(Unit::Forwarded(batch)).unwrap();
    assert_eq!(queue.bytes(), 100);
    assert!(intake.ready().await);
    assert_eq!(intake.take(Instant::now()).bytes, 100);
    assert_eq!(queue.bytes(), 0);
}
