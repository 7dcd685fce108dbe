//! The line-by-line difference of two texts, in the unified format.

use std::fmt::Write as _;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

/// The number of unchanged lines shown around each change.
const CONTEXT: u32 = 3;

/// The unified difference; empty if the texts are the same. Texts that differ in nearly all lines are compared in about
/// linear time, so their difference may not be the shortest.
pub(super) fn unified_diff(from_name: &str, to_name: &str, from: &str, to: &str) -> String {
    if from == to {
        return String::new();
    }
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(from.lines());
    input.update_after(to.lines());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut out = format!("--- {from_name}\n+++ {to_name}\n");
    let hunks: Vec<Hunk> = diff.hunks().collect();
    let near = |one: &Hunk, next: &Hunk| next.before.start - one.before.end <= 2 * CONTEXT;
    for shown in hunks.chunk_by(near) {
        write_together(&input, shown, &mut out);
    }
    out
}

/// Writes one hunk: changes so near to each other that the lines around them overlap.
fn write_together(input: &InternedInput<&str>, hunks: &[Hunk], out: &mut String) {
    let [first, ..] = hunks else { return };
    let [.., last] = hunks else { return };
    let (before_len, after_len) = (input.before.len() as u32, input.after.len() as u32);
    let lead = first.before.start.min(CONTEXT);
    let tail = (before_len - last.before.end).min(after_len - last.after.end);
    let tail = tail.min(CONTEXT);
    let range = |start: u32, end: u32| {
        let (start, len) = (start - lead, end + tail - (start - lead));
        // Lines are counted from 1; an empty range names the line before it.
        format!("{},{len}", start + u32::from(len > 0))
    };
    let before = range(first.before.start, last.before.end);
    let after = range(first.after.start, last.after.end);
    let _ = writeln!(out, "@@ -{before} +{after} @@");
    let mut write = |mark: char, tokens: &[Token]| {
        for token in tokens {
            let _ = writeln!(out, "{mark}{}", input.interner[*token]);
        }
    };
    let mut shown = first.before.start - lead;
    for hunk in hunks {
        write(
            ' ',
            &input.before[shown as usize..hunk.before.start as usize],
        );
        write(
            '-',
            &input.before[hunk.before.start as usize..hunk.before.end as usize],
        );
        write(
            '+',
            &input.after[hunk.after.start as usize..hunk.after.end as usize],
        );
        shown = hunk.before.end;
    }
    write(' ', &input.before[shown as usize..(shown + tail) as usize]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_change_is_shown_with_three_lines_around_it() {
        let from = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
        let to = "a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nk\nl\nm\n";
        assert_eq!(
            unified_diff("old", "new", from, to),
            "--- old\n+++ new\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n@@ -10,3 +10,4 @@\n j\n k\n l\n+m\n"
        );
        assert_eq!(unified_diff("old", "new", from, from), "");
        assert_eq!(
            unified_diff("nil", "new", "", "a\n"),
            "--- nil\n+++ new\n@@ -0,0 +1,1 @@\n+a\n"
        );
    }

    #[test]
    fn what_has_nothing_in_common_is_replaced_as_a_whole() {
        let from: Vec<String> = (0..90_000).map(|i| format!("a{i}")).collect();
        let to: Vec<String> = (0..90_000).map(|i| format!("b{i}")).collect();
        let diff = unified_diff("a", "b", &from.join("\n"), &to.join("\n"));
        assert_eq!(diff.lines().count(), 3 + 180_000);
    }

    /// Applies a difference to the text that it starts from.
    fn patched(from: &[&str], diff: &str) -> Vec<String> {
        let mut rest = from.iter();
        let mut to = Vec::new();
        let mut taken = 0;
        for line in diff.lines().skip(2) {
            let (mark, text) = line.split_at(1);
            match mark {
                "@" => {
                    let range = line.split([' ', ',']).collect::<Vec<_>>();
                    let (at, len): (usize, usize) =
                        (range[1][1..].parse().unwrap(), range[2].parse().unwrap());
                    let before = at - usize::from(len > 0);
                    to.extend(rest.by_ref().take(before - taken).map(ToString::to_string));
                    taken = before;
                }
                "+" => to.push(text.to_owned()),
                _ => {
                    assert_eq!(rest.next(), Some(&text), "{diff}");
                    taken += 1;
                    to.extend((mark == " ").then(|| text.to_owned()));
                }
            }
        }
        to.extend(rest.map(ToString::to_string));
        to
    }

    proptest! {
        #[test]
        fn one_text_is_made_of_the_other_by_what_differs(
            from in prop::collection::vec("[a-c]", 0..40),
            to in prop::collection::vec("[a-c]", 0..40),
        ) {
            let (a, b) = (from.join("\n"), to.join("\n"));
            let diff = unified_diff("a", "b", &a, &b);
            let lines: Vec<&str> = a.lines().collect();
            prop_assert_eq!(patched(&lines, &diff), b.lines().collect::<Vec<_>>());
        }
    }
}
