//! The page, as commands with what they print.

/// A command of the page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The line of the page.
    pub(super) line: usize,
    pub(super) command: String,
    /// The lines below the command.
    pub(super) expected: Vec<String>,
    /// Whether its block shows what it prints.
    pub(super) is_compared: bool,
}

/// The commands of the page, in their order.
pub(super) fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    // The kind of the block that is open.
    let mut block: Option<&str> = None;
    for (line, text) in (1..).zip(page.lines()) {
        if let Some(fence) = text.strip_prefix("```") {
            block = block.is_none().then_some(fence);
            if fence == "sh" {
                steps.push(step(line, "", false));
            }
            continue;
        }
        match (block, steps.last_mut()) {
            (Some("sh"), Some(last)) => {
                last.command += text;
                last.command.push('\n');
            }
            (Some("console"), last) => match (text.strip_prefix("$ "), last) {
                (Some(command), _) => steps.push(step(line, command, true)),
                (None, Some(last)) => last.expected.push(text.to_owned()),
                (None, None) => panic!("line {line} is printed by no command"),
            },
            _ => {}
        }
    }
    steps
}

fn step(line: usize, command: &str, is_compared: bool) -> Step {
    Step {
        line,
        command: command.to_owned(),
        expected: Vec::new(),
        is_compared,
    }
}

/// Whether the lines are those that were written.
pub(super) fn matches(written: &[String], lines: &[String]) -> bool {
    match written.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| is_alike(first, line) && matches(rest, others)),
    }
}

/// Whether a line is the one that was written, where `...` stands for any text.
fn is_alike(written: &str, line: &str) -> bool {
    let [written, line] =
        [written, line].map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut parts = written.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    let mut is_open = false;
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
        is_open = true;
    }
    rest.is_empty() && !is_open
}

#[test]
fn commands_are_found_with_what_they_print() {
    let page =
        "# A\n```sh\none\ntwo\n```\n```yaml\nno: 1\n```\n```console\n$ three\na\nb\n$ four\n```\n";
    let mut first = step(2, "one\ntwo\n", false);
    let mut second = step(10, "three", true);
    second.expected = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(steps(page), [first, second, step(13, "four", true)]);
    first = step(1, "", false);
    assert_eq!(steps("```sh\n```\n"), [first]);
}

#[test]
fn three_dots_stand_for_any_text() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let is_so = |written: &str, printed: &str| matches(&lines(written), &lines(printed));
    assert!(is_so("a  b", "a b"));
    assert!(is_so("a ... c ...", "a 1 2 c 3"));
    assert!(is_so("a\n...\nd", "a\nb\nc\nd"));
    assert!(is_so("...", ""));
    assert!(!is_so("a ... c", "a 1 2"));
    assert!(!is_so("a", "a\nb"));
    assert!(!is_so("a", "ab"));
}
