use super::*;

fn id(name: &str) -> MigrationId {
    MigrationId::parse(name).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_waited_for_is_said_once_in_a_minute_and_at_once_if_it_is_something_else() {
    let (pods, jobs) = (id("pods-7"), id("jobs.batch-8"));
    let mut waits = Waits::default();
    assert!(waits.is_news(&pods, "draining"));
    assert!(!waits.is_news(&pods, "draining"));
    assert!(
        waits.is_news(&jobs, "draining"),
        "each is a wait of its own"
    );
    assert!(waits.is_news(&pods, "another runs"));
    assert!(waits.is_news(&pods, "draining"));
    // However often it asks.
    let mut said = 0;
    for _ in 0..300 {
        tokio::time::advance(Duration::from_secs(2)).await;
        said += u32::from(waits.is_news(&pods, "draining"));
    }
    assert_eq!(said, 10);
}

#[tokio::test(start_paused = true)]
async fn what_was_given_back_is_left_to_others_for_a_while_and_what_is_over_is_forgotten() {
    let pods = id("pods-7");
    let mut waits = Waits::default();
    assert!(!waits.is_left_to_others(&pods));
    waits.leave_to_others(&pods, Duration::from_secs(2));
    assert!(waits.is_left_to_others(&pods));
    assert!(waits.is_news(&pods, "draining"), "it may be said meanwhile");
    waits.keep(&[&pods].into());
    assert!(waits.is_left_to_others(&pods) && !waits.is_news(&pods, "draining"));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert!(!waits.is_left_to_others(&pods));
    waits.keep(&BTreeSet::new());
    assert!(waits.is_news(&pods, "draining"));
}
