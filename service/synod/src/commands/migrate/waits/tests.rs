use super::*;

fn id(name: &str) -> MigrationId {
    MigrationId::parse(name).unwrap()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

// Guarantee: MG-08
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
    // Two reasons in turn, however often it asks.
    let mut said = 0;
    for _ in 0..150 {
        for why in ["draining", "another runs"] {
            tokio::time::advance(seconds(2)).await;
            said += u32::from(waits.is_news(&pods, why));
        }
    }
    // In ten minutes one of them ten times, and the other one, which is asked for two seconds later, nine times.
    assert_eq!(said, 19);
}

#[tokio::test(start_paused = true)]
async fn reasons_without_end_are_not_kept_in_mind() {
    let pods = id("pods-7");
    let mut waits = Waits::default();
    for number in 0..1_000 {
        assert!(waits.is_news(&pods, &format!("reason {number}")));
    }
    assert_eq!(waits.0[&pods].said.len(), REASONS);
    assert!(!waits.is_news(&pods, "reason 999"));
}

#[tokio::test(start_paused = true)]
async fn what_was_given_back_is_left_to_others_until_the_pause_is_over_or_the_migration() {
    let pods = id("pods-7");
    let mut waits = Waits::default();
    assert!(!waits.is_left_to_others(&pods) && !waits.leaves_any());
    waits.leave_to_others(&pods, 0);
    assert!(waits.is_left_to_others(&pods) && waits.leaves_any());
    assert!(waits.is_news(&pods, "draining"), "it may be said meanwhile");
    // Another worker has it meanwhile, so it is open still.
    waits.keep(&[pods.clone()].into());
    assert!(waits.is_left_to_others(&pods) && !waits.is_news(&pods, "draining"));
    tokio::time::advance(PAUSE).await;
    assert!(!waits.is_left_to_others(&pods) && !waits.leaves_any());
    waits.leave_to_others(&pods, 0);
    waits.keep(&BTreeSet::new());
    assert!(!waits.leaves_any(), "it is over");
    assert!(waits.is_news(&pods, "draining"));
}

// Guarantee: MG-07
#[tokio::test(start_paused = true)]
async fn each_time_it_is_given_back_in_a_row_doubles_the_pause_until_objects_are_done() {
    let pods = id("pods-7");
    let mut waits = Waits::default();
    let mut left = |done| {
        waits.leave_to_others(&pods, done);
        waits.0[&pods].left.unwrap().until - Instant::now()
    };
    let pauses: Vec<u64> = (0..7).map(|_| left(5).as_secs()).collect();
    assert_eq!(pauses, [2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(left(10), seconds(2));
    assert_eq!(left(10), seconds(4));
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_unserved_since_it_was_first_not_found() {
    let pods = id("pods-7");
    let mut waits = Waits::default();
    assert_eq!(waits.unserved_for(&pods), seconds(0));
    tokio::time::advance(seconds(30)).await;
    assert_eq!(waits.unserved_for(&pods), seconds(30));
    waits.forget_unserved(&pods);
    assert_eq!(waits.unserved_for(&pods), seconds(0));
}
