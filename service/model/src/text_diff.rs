//! What changed from one text to another, line by line, in the unified format.

/// Differences beyond which the lines between are not matched any more but replaced as a whole: matching costs their
/// number squared.
const EDITS_MAX: usize = 1_000;

/// Lines around each change.
const CONTEXT: usize = 3;

/// One line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The unified difference; empty if the texts are the same.
#[must_use]
pub fn unified_diff(from_name: &str, to_name: &str, from: &str, to: &str) -> String {
    if from == to {
        return String::new();
    }
    let (from, to): (Vec<&str>, Vec<&str>) = (from.lines().collect(), to.lines().collect());
    let lines = compared(&from, &to);
    let mut out = format!("--- {from_name}\n+++ {to_name}\n");
    for hunk in hunks(&lines) {
        write_hunk(&lines, hunk, &mut out);
    }
    out
}

/// All lines of both texts, in an order in which each can be read out of it.
fn compared<'a>(from: &[&'a str], to: &[&'a str]) -> Vec<Line<'a>> {
    let shorter = from.len().min(to.len());
    let head = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let tails = from.iter().rev().zip(to.iter().rev());
    let tail = tails
        .take_while(|(a, b)| a == b)
        .count()
        .min(shorter - head);
    let (before, after) = (&from[head..from.len() - tail], &to[head..to.len() - tail]);
    let same = |lines: &[&'a str]| {
        lines
            .iter()
            .map(|line| Line::Same(line))
            .collect::<Vec<_>>()
    };
    let mut lines = same(&from[..head]);
    match matched(before, after) {
        Some(between) => lines.extend(between),
        None => {
            lines.extend(before.iter().map(|line| Line::Gone(line)));
            lines.extend(after.iter().map(|line| Line::New(line)));
        }
    }
    lines.extend(same(&from[from.len() - tail..]));
    lines
}

/// The shortest way from one to the other, by Myers; `None` if it is longer than is worth it.
fn matched<'a>(from: &[&'a str], to: &[&'a str]) -> Option<Vec<Line<'a>>> {
    let most = (from.len() + to.len()).min(EDITS_MAX);
    // By diagonal, shifted so that none is negative: how far into `from` so many edits lead.
    let mut reached = vec![0_usize; 2 * most + 3];
    let mut trace = Vec::new();
    for edits in 0..=most {
        trace.push(reached.clone());
        for step in 0..=edits {
            let diagonal = most + 1 + 2 * step - edits;
            let down =
                step == 0 || (step != edits && reached[diagonal - 1] < reached[diagonal + 1]);
            let mut x = if down {
                reached[diagonal + 1]
            } else {
                reached[diagonal - 1] + 1
            };
            // y = x - (diagonal - middle), and no way leads above the first line.
            let Some(mut y) = (x + most + 1).checked_sub(diagonal) else {
                continue;
            };
            while x < from.len() && y < to.len() && from[x] == to[y] {
                (x, y) = (x + 1, y + 1);
            }
            reached[diagonal] = x;
            if x >= from.len() && y >= to.len() {
                return Some(walked_back(from, to, &trace, most));
            }
        }
    }
    None
}

/// The lines along the way that the trace found.
fn walked_back<'a>(
    from: &[&'a str],
    to: &[&'a str],
    trace: &[Vec<usize>],
    most: usize,
) -> Vec<Line<'a>> {
    let (mut x, mut y) = (from.len(), to.len());
    let mut lines = Vec::new();
    for (edits, reached) in trace.iter().enumerate().rev() {
        let diagonal = most + 1 + x - y;
        let step = (diagonal + edits - (most + 1)) / 2;
        let down = step == 0 || (step != edits && reached[diagonal - 1] < reached[diagonal + 1]);
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let start_x = reached[before];
        let start_y = (start_x + most + 1).saturating_sub(before);
        let (edge_x, edge_y) = match (edits, down) {
            (0, _) => (0, 0),
            (_, true) => (start_x, start_y + 1),
            (_, false) => (start_x + 1, start_y),
        };
        while x > edge_x && y > edge_y {
            (x, y) = (x - 1, y - 1);
            lines.push(Line::Same(from[x]));
        }
        if edits == 0 {
            break;
        }
        if down {
            y -= 1;
            lines.push(Line::New(to[y]));
        } else {
            x -= 1;
            lines.push(Line::Gone(from[x]));
        }
    }
    lines.reverse();
    lines
}

/// The ranges of lines to show: each change with what stands around it.
fn hunks(lines: &[Line<'_>]) -> Vec<std::ops::Range<usize>> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Line::Same(_) = line {
            continue;
        }
        let (begin, end) = (
            at.saturating_sub(CONTEXT),
            (at + CONTEXT + 1).min(lines.len()),
        );
        match hunks.last_mut() {
            Some(last) if begin <= last.end => last.end = end,
            Some(_) | None => hunks.push(begin..end),
        }
    }
    hunks
}

fn write_hunk(lines: &[Line<'_>], hunk: std::ops::Range<usize>, out: &mut String) {
    let count = |lines: &[Line<'_>]| {
        let old = lines
            .iter()
            .filter(|line| !matches!(line, Line::New(_)))
            .count();
        let new = lines
            .iter()
            .filter(|line| !matches!(line, Line::Gone(_)))
            .count();
        (old, new)
    };
    let (old_before, new_before) = count(&lines[..hunk.start]);
    let (old, new) = count(&lines[hunk.clone()]);
    // The first line is 1, and what has no lines begins before it.
    let place = |before: usize, count: usize| before + usize::from(count > 0);
    let (old_at, new_at) = (place(old_before, old), place(new_before, new));
    out.push_str(&format!("@@ -{old_at},{old} +{new_at},{new} @@\n"));
    for line in &lines[hunk] {
        let (mark, text) = match line {
            Line::Same(text) => (' ', text),
            Line::Gone(text) => ('-', text),
            Line::New(text) => ('+', text),
        };
        out.push(mark);
        out.push_str(text);
        out.push('\n');
    }
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
    fn what_differs_too_much_is_replaced_as_a_whole() {
        let from: Vec<String> = (0..900).map(|i| format!("a{i}")).collect();
        let to: Vec<String> = (0..900).map(|i| format!("b{i}")).collect();
        let diff = unified_diff("a", "b", &from.join("\n"), &to.join("\n"));
        assert_eq!(diff.lines().count(), 3 + 1_800);
    }

    /// What a difference says both texts are.
    fn read(lines: &[Line<'_>]) -> (Vec<String>, Vec<String>) {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for line in lines {
            match line {
                Line::Same(text) => {
                    from.push((*text).to_owned());
                    to.push((*text).to_owned());
                }
                Line::Gone(text) => from.push((*text).to_owned()),
                Line::New(text) => to.push((*text).to_owned()),
            }
        }
        (from, to)
    }

    /// The length of the longest common subsequence, by the book.
    fn common(from: &[String], to: &[String]) -> usize {
        let mut row = vec![0; to.len() + 1];
        for a in from {
            let mut diagonal = 0;
            for (j, b) in to.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if a == b {
                    diagonal + 1
                } else {
                    above.max(row[j])
                };
                diagonal = above;
            }
        }
        row[to.len()]
    }

    proptest! {
        #[test]
        fn any_two_texts_are_read_back_and_as_much_as_possible_stays(
            from in prop::collection::vec("[a-c]", 0..20),
            to in prop::collection::vec("[a-c]", 0..20),
        ) {
            let borrowed = |texts: &'_ [String]| texts.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
            let (a, b) = (borrowed(&from), borrowed(&to));
            let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
            let lines = compared(&a, &b);
            let same = lines.iter().filter(|line| matches!(line, Line::Same(_))).count();
            prop_assert_eq!(read(&lines), (from.clone(), to.clone()));
            prop_assert_eq!(same, common(&from, &to));
        }
    }
}
