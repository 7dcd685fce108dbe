//! Prints the result of the check.

use std::fmt::Write as _;

use super::check::{CHECKS, Finding, Judgement};
use crate::args::Violation;
use synod_terminal::failure::Failure;
use synod_terminal::output;

/// The number of findings of one check that are printed; the others are counted.
const SHOWN: usize = 3;

/// Prints the verdict; true if a check failed.
///
/// # Errors
///
/// The text cannot be printed.
pub(crate) fn print(verdict: &Judgement, planted: Option<Violation>) -> Result<bool, Failure> {
    let text = text(verdict, planted);
    output::print(&text)?;
    Ok(!verdict.findings.is_empty())
}

fn text(verdict: &Judgement, planted: Option<Violation>) -> String {
    let mut text = format!(
        "\nWhat happened, counted from the recordings:\n{}",
        verdict.summary
    );
    text.push_str("\nThe check:\n");
    for check in CHECKS {
        let findings: Vec<&Finding> = verdict
            .findings
            .iter()
            .filter(|finding| finding.check == check)
            .collect();
        let outcome = if findings.is_empty() {
            "ok    "
        } else {
            "FAILED"
        };
        let _ = writeln!(
            text,
            "  {outcome} {:>2}. {}",
            check.number(),
            check.promise()
        );
        for finding in findings.iter().take(SHOWN) {
            let _ = writeln!(text, "    - {finding}");
        }
        if findings.len() > SHOWN {
            let _ = writeln!(text, "    - and {} more", findings.len() - SHOWN);
        }
    }
    let Some(first) = verdict.findings.first() else {
        text.push_str("\nEvery promise was kept.\n");
        return text;
    };
    let _ = writeln!(
        text,
        "\nThe demo FAILED, first at check {}: {}",
        first.check.number(),
        first.check.promise()
    );
    match planted {
        Some(Violation::EncodeEarly) => {
            text.push_str("That was to be so: --break encode-early let an API server write v2 before it was selected.\n");
        }
        None => {}
    }
    text
}
