//! Which errors are retried, which count as done, and which end a migration.

use serde_json::Value;

use super::*;

#[path = "../../../../tests/vectors/suite.rs"]
mod suite;

const BUSY: StoreError = StoreError::Busy { retry_after: None };

fn gives_up(next: &Next) -> bool {
    matches!(next, Next::GiveUp(..))
}

#[test]
fn the_table_of_the_upstream_migrator() {
    suite::run("migrator_retry_table.json", 7, &[], |_, case| {
        let says = case["error"].as_str().ok_or("no error")?;
        let long = Duration::from_secs(7);
        let waits = case["honourRetryAfter"] == true;
        let (next, expects_pause) = match says {
            "MethodNotSupported" => (after_rewrite(StoreError::NotSupported, 1), None),
            "Timeout/ServerTimeout" => (after_rewrite(BUSY, 1), None),
            "NotFound on PUT" => (after_rewrite(StoreError::NotFound, 1), None),
            "Conflict" => (after_rewrite(StoreError::Conflict, 1), None),
            "TooManyRequests" => {
                let retry_after = Some(long);
                let next = after_rewrite(StoreError::Busy { retry_after }, 1);
                // Otherwise the retry needs no pause.
                (next, waits.then_some(long).or(Some(Duration::ZERO)))
            }
            "LIST NotFound" => (after_list(StoreError::NotFound, 1), None),
            "LIST 410 Expired" => {
                let token = ContinueToken::parse("inconsistent").ok();
                let next = after_list(StoreError::Expired(token.clone()), 1);
                let done = match next {
                    Next::GoOn(found) if found == token => {
                        "continue with the inconsistent continue token in the error"
                    }
                    _ => "something else",
                };
                return match case["action"].as_str() {
                    Some(action) if action == done => Ok(()),
                    expected => Err(format!("{done}, and not {expected:?}")),
                };
            }
            other => return Err(format!("{other} is not known")),
        };
        let expected = |key: &str, found: bool| match case[key].as_bool() {
            Some(expected) if expected != found => Err(format!("{key} is {found}: {next:?}")),
            _ => Ok(()),
        };
        expected("retry", matches!(next, Next::Again(_)))?;
        expected("migrationFails", gives_up(&next))?;
        match expects_pause {
            Some(pause) if next != Next::Again(pause) => Err(format!("{next:?}")),
            _ => Ok(()),
        }
    });
}

#[test]
fn the_pauses_and_their_number_are_those_of_the_upstream_migrator() {
    let document: Value = suite::document("migrator_retry_table.json");
    let backoff = &document["backoff"];
    assert_eq!(backoff["steps"].as_u64(), Some(u64::from(TRIES)));
    let first = backoff["firstMs"].as_u64().map(Duration::from_millis);
    let mut pause = first.unwrap();
    for tries in 1..TRIES {
        assert_eq!(after_rewrite(BUSY, tries), Next::Again(pause));
        pause = pause.mul_f64(backoff["factor"].as_f64().unwrap());
    }
    assert!(gives_up(&after_rewrite(BUSY, TRIES)));
    assert!(gives_up(&after_list(BUSY, TRIES)));
}

#[test]
fn what_only_somebody_can_mend_is_permanent() {
    for next in [
        after_list(StoreError::NotSupported, 1),
        after_list(StoreError::Forbidden, 1),
        after_list(StoreError::NotFound, 1),
        after_rewrite(StoreError::Forbidden, 1),
        after_rewrite(StoreError::NotSupported, 1),
    ] {
        match next {
            Next::GiveUp(class, _) => assert!(class.is_permanent(), "{class:?}"),
            other => panic!("it goes on: {other:?}"),
        }
    }
}

#[test]
fn a_store_is_not_waited_for_longer_than_a_minute() {
    let retry_after = Some(Duration::from_secs(86_400));
    let next = after_list(StoreError::Busy { retry_after }, 1);
    assert_eq!(next, Next::Again(PAUSE_MAX));
}

#[test]
fn an_answer_over_http_is_told_by_its_status() {
    use http::header::RETRY_AFTER;
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, "3".parse().unwrap());
    let of = |status: u16| StoreError::of_http(StatusCode::from_u16(status).unwrap(), &headers);
    let waits = Some(Duration::from_secs(3));
    let busy = StoreError::Busy { retry_after: waits };
    assert_eq!(of(200), None);
    assert_eq!(of(404), Some(StoreError::NotFound));
    assert_eq!(of(405), Some(StoreError::NotSupported));
    assert_eq!(of(403), Some(StoreError::Forbidden));
    assert_eq!(of(409), Some(StoreError::Conflict));
    assert_eq!(of(410), Some(StoreError::Expired(None)));
    assert_eq!(of(429), Some(busy.clone()));
    assert_eq!(of(503), Some(busy));
    assert!(matches!(of(422), Some(StoreError::Refused(_))));
}
