use proptest::prelude::*;

use super::*;

#[test]
fn a_deadline_is_a_log_time_after_another() {
    let start = LogTime::from_millis(1_000);
    let deadline = start.after(Ttl::DEFAULT.duration());
    assert_eq!(deadline, LogTime::from_millis(16_000));
    assert_eq!(deadline.since(start), Duration::from_secs(15));
    assert_eq!(deadline.to_string(), "16000 ms");
}

#[test]
fn log_time_ends_where_its_numbers_end() {
    let last = LogTime::from_millis(u64::MAX);
    assert_eq!(last.after(Duration::from_secs(1)), last);
    assert_eq!(LogTime::ZERO.after(Duration::MAX), last);
    assert_eq!(LogTime::ZERO.since(last), Duration::ZERO);
}

#[test]
fn a_ttl_lies_between_a_second_and_a_day() {
    for (millis, legal) in [
        (0, false),
        (999, false),
        (1_000, true),
        (1_001, true),
        (86_399_999, true),
        (86_400_000, true),
        (86_400_001, false),
        (u64::MAX, false),
    ] {
        assert_eq!(Ttl::from_millis(millis).is_ok(), legal, "{millis}");
    }
    assert_eq!(
        Ttl::from_millis(999).unwrap_err().rule,
        "Invalid value: 999: must be between 1000 and 86400000 milliseconds"
    );
    assert_eq!(Ttl::default().as_millis(), 15_000);
    assert_eq!(Ttl::MIN.to_string(), "1000 ms");
}

#[test]
fn wall_time_is_shown_as_utc() {
    for (millis, shown) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_164_799_999, "2024-02-28T23:59:59.999Z"),
        (1_709_251_199_001, "2024-02-29T23:59:59.001Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ] {
        assert_eq!(WallTime::from_millis(millis).to_string(), shown);
    }
    assert!(WallTime::from_millis(u64::MAX).to_string().ends_with("Z"));
}

#[test]
fn every_day_of_five_centuries_follows_the_one_before() {
    let (mut year, mut month, mut day) = (1970, 1, 1);
    for days in 0..182_622 {
        assert_eq!(civil_date(days), (year, month, day));
        day += 1;
        if day > days_in(year, month) {
            (month, day) = (month + 1, 1);
        }
        if month > 12 {
            (year, month) = (year + 1, 1);
        }
    }
    assert_eq!(year, 2470);
}

fn days_in(year: u64, month: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

proptest! {
    #[test]
    fn what_passes_between_two_log_times_leads_from_one_to_the_other(a: u64, b: u64) {
        let (earlier, later) = (LogTime::from_millis(a.min(b)), LogTime::from_millis(a.max(b)));
        prop_assert_eq!(earlier.after(later.since(earlier)), later);
        prop_assert_eq!(earlier.since(later), Duration::ZERO);
    }
}
