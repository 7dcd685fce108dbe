//! Ages, as Kubernetes prints them.

/// The time since a moment, as Kubernetes prints ages: two units at most.
pub(crate) fn age(since_ms: u64, now_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(since_ms) / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (seconds, minutes, hours, days) {
        (..=119, ..) => format!("{seconds}s"),
        (_, ..=9, ..) => pair(minutes, "m", seconds % 60, "s"),
        (_, ..=179, ..) => format!("{minutes}m"),
        (_, _, ..=7, _) => pair(hours, "h", minutes % 60, "m"),
        (_, _, ..=47, _) => format!("{hours}h"),
        (_, _, _, ..=7) => pair(days, "d", hours % 24, "h"),
        (_, _, _, ..=729) => format!("{days}d"),
        (_, _, _, ..=2_919) => pair(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

fn pair(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large}{large_unit}")
    } else {
        format!("{large}{large_unit}{small}{small_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_kubernetes_prints_them() {
        let cases = [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_740, "179m"),
            (10_800, "3h"),
            (11_100, "3h5m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (70_000_000, "2y80d"),
            (315_360_000, "10y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(age(0, seconds * 1_000), text, "{seconds} seconds");
        }
        assert_eq!(age(5_000, 0), "0s", "a clock that went back is no error");
    }
}
