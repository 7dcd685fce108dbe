use super::*;

// Guarantee: MG-07
#[tokio::test(start_paused = true)]
async fn each_release_in_a_row_doubles_the_pause_until_objects_are_done() {
    let id = MigrationId::parse("pods-7").unwrap();
    let mut put_off = PutOff::default();
    assert_eq!(put_off.left(&id), None);
    let mut left = |done| {
        put_off.put_off(id.clone(), done);
        let left = put_off.left(&id).unwrap();
        (left.as_secs(), left)
    };
    let pauses: Vec<u64> = (0..6).map(|_| left(5).0).collect();
    assert_eq!(pauses, [5, 10, 20, 40, 60, 60]);
    assert_eq!(left(10).0, 5, "a page was done meanwhile");
    let (_, left) = left(10);
    tokio::time::advance(left).await;
    assert_eq!(put_off.left(&id), None, "the pause is over");
    put_off.put_off(id.clone(), 10);
    assert_eq!(put_off.left(&id), Some(Duration::from_secs(20)));
    put_off.keep(|_| false);
    put_off.put_off(id.clone(), 10);
    assert_eq!(put_off.left(&id), Some(PAUSE), "it was over meanwhile");
}
