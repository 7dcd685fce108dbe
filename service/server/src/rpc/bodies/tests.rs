use std::time::Duration;

use futures::StreamExt;
use http_body_util::{BodyExt, Full, StreamBody};
use synod_model::Verdict;
use synod_proto::status::{from_status, verdict};

use super::*;
use crate::limits::STREAMED_REQUEST_BYTES_MAX;
use crate::metrics::Metrics;

fn bodies() -> Bodies {
    Bodies::new(&Metrics::new(|| 0).rpc)
}

fn whole(bytes: usize) -> Body {
    let body = Full::new(Bytes::from(vec![0; bytes]));
    Body::new(body.map_err(|never| match never {}))
}

/// A body that sends this many bytes, and then neither more nor an end.
fn stalled(bytes: usize) -> Body {
    let first = Frame::data(Bytes::from(vec![0; bytes]));
    let first = futures::stream::once(std::future::ready(Ok::<_, Status>(first)));
    Body::new(StreamBody::new(first.chain(futures::stream::pending())))
}

/// Reads a body as a service does, and returns the number of bytes read.
async fn read(bodies: &Bodies, class: Class, body: Body) -> (Option<Held>, Result<usize, Status>) {
    let method = Method {
        service: "some",
        name: "Some",
        class,
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    let (guarded, held) = bodies.guarded(method, deadline, body);
    let read = guarded.collect().await;
    (held, read.map(|body| body.to_bytes().len()))
}

fn taken(share: &Share) -> usize {
    share.taken.load(Ordering::Acquire)
}

#[tokio::test]
async fn a_request_holds_its_bytes_until_it_is_answered() {
    let bodies = bodies();
    let (held, bytes) = read(&bodies, Class::Ordinary, whole(1_000)).await;
    assert_eq!(bytes.unwrap(), 1_000);
    assert_eq!(taken(&bodies.ordinary), 1_000);
    assert_eq!(bodies.ordinary.shown.get(), 1_000);
    drop(held);
    assert_eq!(taken(&bodies.ordinary), 0);
    assert_eq!(bodies.ordinary.shown.get(), 0);
}

// Guarantee: W-14
#[tokio::test]
async fn beyond_the_bound_a_request_is_refused_and_what_keeps_members_alive_is_not() {
    let bodies = bodies();
    let others = REQUEST_BYTES_HELD_MAX - 1_000;
    bodies.ordinary.taken.store(others, Ordering::Release);
    let (first, bytes) = read(&bodies, Class::Ordinary, whole(1_000)).await;
    assert!(bytes.is_ok(), "as many as are allowed");
    let (second, refused) = read(&bodies, Class::Ordinary, whole(1)).await;
    let refusal = from_status(&refused.unwrap_err());
    assert_eq!(refusal.kind, ErrorKind::Overloaded);
    assert_eq!(verdict(&refusal), Verdict::NotExecuted);
    drop(second);
    assert!(read(&bodies, Class::Watch, whole(1)).await.1.is_err());
    assert!(read(&bodies, Class::Renewal, whole(1)).await.1.is_ok());
    assert!(read(&bodies, Class::Side, whole(1)).await.1.is_ok());
    drop(first);
    assert!(read(&bodies, Class::Ordinary, whole(1)).await.1.is_ok());
    assert_eq!(taken(&bodies.ordinary), others);
    for share in [&bodies.renewal, &bodies.side] {
        assert_eq!(taken(share), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_does_not_come_in_whole_is_given_up_at_its_deadline_and_was_not_executed() {
    let (bodies, began) = (bodies(), Instant::now());
    let (held, refused) = read(&bodies, Class::Renewal, stalled(700)).await;
    assert_eq!(began.elapsed().as_secs(), 10);
    let refusal = from_status(&refused.unwrap_err());
    assert_eq!(refusal.kind, ErrorKind::DeadlineExceeded);
    assert_eq!(verdict(&refusal), Verdict::NotExecuted);
    drop(held);
    assert_eq!(taken(&bodies.renewal), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_requests_may_be_silent_and_must_not_send_long_messages() {
    let bodies = bodies();
    let message = |length: usize| {
        let head = u32::try_from(length).unwrap().to_be_bytes();
        Body::new(
            Full::new(Bytes::from([&[0][..], &head, &vec![0; length]].concat()))
                .map_err(|never| match never {}),
        )
    };
    let most = STREAMED_REQUEST_BYTES_MAX;
    let (held, passed) = read(&bodies, Class::RenewalStream, message(most)).await;
    assert!(held.is_none());
    assert_eq!(passed.unwrap(), most + 5);
    let (_, refused) = read(&bodies, Class::RenewalStream, message(most + 1)).await;
    assert_eq!(from_status(&refused.unwrap_err()).kind, ErrorKind::TooLarge);
    let silent = read(&bodies, Class::SideStream, stalled(0));
    let waited = tokio::time::timeout(Duration::from_secs(3_600), silent).await;
    assert!(waited.is_err(), "nobody gives it up");
}

#[tokio::test(start_paused = true)]
async fn a_pipeline_holds_what_it_has_not_read_and_its_calls_hold_the_rest() {
    let bodies = bodies();
    let (held, bytes) = read(&bodies, Class::Pipeline, whole(1_000)).await;
    let held = held.unwrap();
    assert_eq!((bytes.unwrap(), taken(&bodies.ordinary)), (1_000, 1_000));
    let call = bodies.hold(Class::Renewal, 600, 600).unwrap();
    held.release(1_000);
    assert_eq!((taken(&bodies.ordinary), taken(&bodies.renewal)), (0, 600));
    drop(call);
    assert_eq!(taken(&bodies.renewal), 0);
    let long = bodies.hold(Class::Renewal, 600, 601).unwrap_err();
    assert_eq!(long.kind, ErrorKind::TooLarge);
    let others = REQUEST_BYTES_HELD_MAX - 1_000;
    bodies.ordinary.taken.store(others, Ordering::Release);
    let full = bodies.hold(Class::Ordinary, 2_000, 1_001).unwrap_err();
    assert_eq!(full.kind, ErrorKind::Overloaded);
    assert_eq!(taken(&bodies.ordinary), others);
}
