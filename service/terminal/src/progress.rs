//! A bar that shows how far something is, on one line of a terminal.

use std::fmt::Write as _;

/// How many letters the bar itself has.
const WIDTH: u64 = 24;

/// Moves to the begin of the line, and clears it.
const CLEARED: &str = "\r\u{1b}[2K";

/// A bar on the last line of a terminal. It writes nothing itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bar {
    is_drawn: bool,
}

impl Bar {
    /// What draws the bar: a name, how much is done of how much, and words behind it. None of them may have control
    /// characters.
    pub fn drawn(&mut self, name: &str, done: u64, all: Option<u64>, words: &str) -> String {
        self.is_drawn = true;
        let mut line = format!("{CLEARED}{name}  ");
        let _ = match all {
            Some(all) => write!(line, "[{}] {done}/{all}", filled(done, all)),
            None => write!(line, "{done} done"),
        };
        format!("{line}  {words}")
    }

    /// What takes the bar away, so that lines can be printed; nothing if there is none.
    pub fn gone(&mut self) -> String {
        match std::mem::take(&mut self.is_drawn) {
            true => CLEARED.to_owned(),
            false => String::new(),
        }
    }
}

fn filled(done: u64, all: u64) -> String {
    let full = match all {
        0 => WIDTH,
        all => done.min(all) * WIDTH / all,
    };
    (0..WIDTH)
        .map(|place| if place < full { '#' } else { '.' })
        .collect()
}

/// A number of bytes as people read it, as in `1.5 MiB`.
#[must_use]
pub fn amount(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    // Sizes are far below 2^52.
    let mut value = bytes as f64 / 1_024.0;
    let mut units = units.into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        if value < 1_024.0 {
            break;
        }
        value /= 1_024.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_at_the_end_and_taken_away_once() {
        let mut bar = Bar::default();
        assert_eq!(bar.gone(), "");
        let half = bar.drawn("a", 1, Some(2), "x");
        assert_eq!(
            half,
            format!("{CLEARED}a  [{}{}] 1/2  x", "#".repeat(12), ".".repeat(12))
        );
        assert!(bar.drawn("a", 0, Some(0), "").contains(&"#".repeat(24)));
        assert_eq!(
            bar.drawn("a", 7, None, "x"),
            format!("{CLEARED}a  7 done  x")
        );
        assert_eq!((bar.gone().as_str(), bar.gone().as_str()), (CLEARED, ""));
    }

    #[test]
    fn an_amount_has_the_unit_that_people_would_choose() {
        for (bytes, words) in [
            (7, "7 B"),
            (1_536, "1.5 KiB"),
            (3 << 20, "3.0 MiB"),
            (5 << 30, "5.0 GiB"),
        ] {
            assert_eq!(amount(bytes), words);
        }
    }
}
