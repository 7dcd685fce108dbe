//! The runbook, as blocks of commands.

/// Where the runbook is.
pub(super) const RUNBOOK: &str = "docs/OPERATIONS.md";

/// A block of code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The heading above it.
    pub(super) section: String,
    /// One for each line; one that goes on over several lines is one.
    pub(super) commands: Vec<String>,
}

/// The blocks of code whose fence says `kind`, in their order.
pub(super) fn blocks(document: &str, kind: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut section = String::new();
    // The lines of the block that is open, and whether it is of this kind.
    let mut open: Option<(bool, String)> = None;
    for line in document.lines().map(str::trim_start) {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => {
                let (_, text) = open.take().unwrap_or_default();
                let commands = commands(&text);
                if !commands.is_empty() {
                    let section = section.clone();
                    blocks.push(Block { section, commands });
                }
            }
            (Some(fence), None) => open = Some((fence == kind, String::new())),
            (None, Some((is_of_kind, text))) if *is_of_kind => {
                *text += line;
                text.push('\n');
            }
            (None, None) if line.starts_with('#') => {
                line.trim_start_matches('#').trim().clone_into(&mut section);
            }
            (None, _) => {}
        }
    }
    blocks
}

fn commands(block: &str) -> Vec<String> {
    let whole = block.replace("\\\n", "");
    let lines = whole.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[test]
fn commands_are_found_below_their_headings() {
    let document = "# A\n```sh\none \\\n  two\nthree\n```\n```yaml\nno: 1\n```\n## B\n1. x\n   ```sh\n   # four\n   ```\n";
    let block = |section: &str, commands: &[&str]| Block {
        section: section.to_owned(),
        commands: commands.iter().map(|it| (*it).to_owned()).collect(),
    };
    assert_eq!(
        blocks(document, "sh"),
        [block("A", &["one two", "three"]), block("B", &["# four"])]
    );
}
