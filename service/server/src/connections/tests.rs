//! Tests of the register, of counted answers and of frame rates, without a network.

use std::pin::Pin;
use std::sync::Weak;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use synod_model::ErrorKind;
use tokio::io::AsyncWrite;
use tokio::time::Instant;

use super::answers::WAITING_MAX;
use super::line::{Line, Why};
use super::register::{Entered, Register};
use super::*;
use crate::limits::{
    ANSWER_BYTES_HELD_MAX, ANSWER_BYTES_PER_CONNECTION_MAX, ANSWER_PATIENCE, ANSWER_PIECE_BYTES,
    CONNECTIONS_MAX, CONNECTIONS_PER_SOURCE_MAX, HTTP1_SILENCE_MAX, PEER_INTRODUCTION_MAX,
    PEER_STRANGERS_MAX,
};
use crate::metrics::Metrics;
use crate::stop::stop;

fn register(door: Door) -> Arc<Register> {
    Arc::new(Register::new(door, &Metrics::new(|| 0).doors))
}

/// Enters this many introduced connections from an address.
fn enter(register: &Arc<Register>, source: &str, count: usize) -> Vec<Entered> {
    let entered = (0..count).map(|port| {
        let entered = register.enter(&format!("{source}:{port}"));
        let entered = entered.expect("there is a place");
        entered.line().introduce();
        entered
    });
    entered.collect()
}

fn cut(entered: &[Entered]) -> Vec<usize> {
    let all = entered.iter().enumerate();
    let cut = all.filter(|(_, entered)| entered.line().is_cut());
    cut.map(|(place, _)| place).collect()
}

#[tokio::test]
async fn the_one_of_an_address_that_is_idle_for_longest_gives_way_to_another_one() {
    let register = register(Door::Client);
    let here = enter(&register, "10.0.0.1", CONNECTIONS_PER_SOURCE_MAX);
    let there = enter(&register, "10.0.0.2", 1);
    let busy: Vec<_> = here[..2].iter().map(|one| one.line().call()).collect();
    let newest = enter(&register, "10.0.0.1", 1);
    assert_eq!(cut(&here), [2], "the first two have calls under way");
    assert!(cut(&there).is_empty() && cut(&newest).is_empty());
    drop(busy);
}

#[tokio::test]
async fn nobody_gives_way_who_is_at_work() {
    let register = register(Door::Client);
    let here = enter(&register, "10.0.0.1", CONNECTIONS_PER_SOURCE_MAX);
    let calls: Vec<_> = here.iter().map(|one| one.line().call()).collect();
    assert!(register.enter("10.0.0.1:1").is_none());
    assert!(register.enter("10.0.0.2:1").is_some(), "another address");
    drop(calls);
    assert!(register.enter("10.0.0.1:1").is_some());
}

// Guarantee: P-03
#[tokio::test]
async fn when_all_places_are_taken_whoever_has_most_gives_one_up() {
    let register = register(Door::Client);
    let many = enter(&register, "10.0.0.1", CONNECTIONS_PER_SOURCE_MAX);
    let others: Vec<Entered> = (0..CONNECTIONS_MAX - CONNECTIONS_PER_SOURCE_MAX)
        .flat_map(|number| enter(&register, &format!("10.1.{number}"), 1))
        .collect();
    let _newest = enter(&register, "10.2.0.1", 1);
    assert_eq!(cut(&many), [0]);
    assert!(cut(&others).is_empty());
}

#[tokio::test]
async fn strangers_take_no_place_of_a_known_replica() {
    let register = register(Door::Peer);
    let known = enter(&register, "10.0.0.1", 2);
    let strangers: Vec<Entered> = (0..2 * PEER_STRANGERS_MAX)
        .map(|port| register.enter(&format!("10.0.0.9:{port}")).unwrap())
        .collect();
    let gone: Vec<usize> = (0..PEER_STRANGERS_MAX).collect();
    assert_eq!(cut(&strangers), gone, "the oldest");
    assert!(cut(&known).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_cut_that_does_not_say_in_time_what_it_is() {
    let register = register(Door::Peer);
    let (_stopper, stop) = stop();
    let known = enter(&register, "10.0.0.1", 1);
    let stranger = register.enter("10.0.0.2:1").unwrap();
    tokio::spawn({
        let register = Arc::clone(&register);
        async move { register.watch_over(stop).await }
    });
    tokio::time::sleep(PEER_INTRODUCTION_MAX / 2).await;
    assert!(!stranger.line().is_cut());
    tokio::time::sleep(PEER_INTRODUCTION_MAX).await;
    assert!(stranger.line().is_cut());
    assert!(cut(&known).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_closed_unless_pings_find_out_that_it_is_dead() {
    let register = register(Door::Kube);
    let (_stopper, stop) = stop();
    let entered = enter(&register, "10.0.0.1", 3);
    entered[1].line().ping();
    let _call = entered[2].line().call();
    tokio::spawn({
        let register = Arc::clone(&register);
        async move { register.watch_over(stop).await }
    });
    tokio::time::sleep(HTTP1_SILENCE_MAX + Duration::from_secs(1)).await;
    assert_eq!(cut(&entered), [0]);
}

/// An answer of this many bytes.
fn answer(line: &Arc<Line>, bytes: usize) -> Held {
    Held::own(line, Bytes::from(vec![0; bytes]))
}

#[tokio::test(start_paused = true)]
async fn an_answer_waits_until_those_before_it_are_taken() {
    let register = register(Door::Client);
    let entered = enter(&register, "10.0.0.1", 1).pop().unwrap();
    let line = entered.line();
    let soon = || Instant::now() + Duration::from_secs(1);
    line.unsent().room(soon()).await.unwrap();
    let mut pieces = answer(line, ANSWER_BYTES_PER_CONNECTION_MAX).pieces();
    let refused = line.unsent().room(soon()).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Overloaded);
    let piece = pieces.next().unwrap();
    assert_eq!(piece.len(), ANSWER_PIECE_BYTES);
    let waiting = tokio::spawn({
        let line = Arc::clone(line);
        async move {
            line.unsent()
                .room(Instant::now() + Duration::from_secs(60))
                .await
        }
    });
    tokio::task::yield_now().await;
    drop(piece);
    assert!(
        !waiting.is_finished(),
        "all of it counts until all is taken"
    );
    assert_eq!(
        pieces.map(|piece| piece.len()).sum::<usize>() % ANSWER_PIECE_BYTES,
        0
    );
    waiting.await.unwrap().unwrap();
    assert!(line.unsent().is_empty());
}

/// A waker that shows by its weak references whether the connection still keeps it.
struct Waits;

impl Wake for Waits {
    fn wake(self: Arc<Self>) {}
}

#[tokio::test(start_paused = true)]
async fn whoever_gave_up_waiting_is_not_remembered_for_ever() {
    let register = register(Door::Client);
    let entered = enter(&register, "10.0.0.1", 1).pop().unwrap();
    let line = entered.line();
    let _untaken = answer(line, ANSWER_BYTES_PER_CONNECTION_MAX);
    let gone: Vec<Weak<Waits>> = (0..10 * WAITING_MAX)
        .map(|_| {
            let one = Arc::new(Waits);
            let waker = Waker::from(Arc::clone(&one));
            let polled = line.unsent().poll_room(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            Arc::downgrade(&one)
        })
        .collect();
    let known = gone.iter().filter(|one| one.strong_count() > 0).count();
    assert!(known <= WAITING_MAX, "{known} are remembered");
}

// Guarantee: P-02
#[tokio::test(start_paused = true)]
async fn a_connection_is_cut_that_takes_nothing_and_one_that_takes_some_is_not() {
    let register = register(Door::Client);
    let (_stopper, stop) = stop();
    tokio::spawn({
        let register = Arc::clone(&register);
        async move { register.watch_over(stop).await }
    });
    let entered = enter(&register, "10.0.0.1", 3);
    let [stuck, moving, shared] = [0, 1, 2].map(|place| entered[place].line());
    let _kept = answer(stuck, 10);
    let _also_kept = Held::shared(shared, Bytes::from_static(b"event"));
    let mut pieces = answer(moving, 10 * ANSWER_PIECE_BYTES).pieces();
    for _ in 0..5 {
        tokio::time::sleep(ANSWER_PATIENCE / 4).await;
        drop(pieces.next());
    }
    assert_eq!(cut(&entered), [0, 2]);
}

// Guarantee: P-02
#[tokio::test]
async fn when_all_hold_too_much_the_one_that_holds_most_is_cut() {
    let register = register(Door::Client);
    let (stopper, stop) = stop();
    let entered = enter(&register, "10.0.0.1", 3);
    let _held: Vec<Held> = [1, 3, 2]
        .into_iter()
        .zip(&entered)
        .map(|(share, entered)| answer(entered.line(), share * ANSWER_BYTES_HELD_MAX / 5))
        .collect();
    let watching = tokio::spawn(async move { register.watch_over(stop).await });
    tokio::task::yield_now().await;
    stopper.stop();
    watching.await.unwrap();
    assert_eq!(cut(&entered), [1]);
    let mut context = Context::from_waker(Waker::noop());
    let why = entered[1].line().poll_cut(&mut context);
    assert_eq!(why, std::task::Poll::Ready(Why::Untaken));
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn an_answer_leaves_with_those_that_come_at_the_same_time() {
    let entered = enter(&register(Door::Client), "10.0.0.1", 1).pop().unwrap();
    let line = Arc::clone(entered.line());
    let (here, _there) = tokio::io::duplex(1 << 10);
    let mut guarded = Guarded::new(Connection::new(here, "10.0.0.1:1"), entered, None);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let mut write = || {
        let written = Pin::new(&mut guarded).poll_write(&mut context, b"answer");
        (written.is_ready(), woken.0.load(Ordering::Relaxed))
    };
    assert_eq!(write(), (true, 0), "nobody else waits");
    let waits = line.wait();
    assert_eq!(write(), (true, 0), "what is begun is written to its end");

    let mut flushed = || {
        let flushed = Pin::new(&mut guarded).poll_flush(&mut context);
        assert!(flushed.is_ready());
        let written = Pin::new(&mut guarded).poll_write(&mut context, b"answer");
        (written.is_ready(), woken.0.load(Ordering::Relaxed))
    };
    assert_eq!(flushed(), (false, 1), "another may be answered too");
    assert_eq!(flushed(), (true, 1), "all that were have had their turn");
    assert_eq!(flushed(), (false, 2));
    drop(waits);
    assert_eq!(flushed(), (true, 2));
    assert_eq!(flushed(), (true, 2));
}
