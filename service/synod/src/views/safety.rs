//! The answers of the safety commands as tables: whether it is safe, every reason why not, and the assumptions.

use synod_client::json;
use synod_client::{Assumed, Assumption, Danger, DangerReason, Safety};

use super::{SHOWN, UNSET, joined_of, span, yes_or_no};
use crate::named::text;
use crate::output::{Document, Table};

/// `synod check-binary` and `synod check-drop`. The names are those of the resources with a danger.
pub(crate) fn safety(safety: &Safety) -> Document {
    let mut table = Table::new(["Safe", "Resource", "Why"]);
    let mut names: Vec<String> = Vec::new();
    for danger in &safety.dangers {
        let name = text(&danger.resource);
        let why = sentence(danger, safety);
        table.row([yes_or_no(false).to_owned(), name.clone(), why]);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    if safety.is_safe() {
        table.row([yes_or_no(true), "-", "-"].map(str::to_owned));
    }
    if safety.omitted > 0 {
        let more = format!("and {} reasons more", safety.omitted);
        table.row([yes_or_no(false).to_owned(), UNSET.to_owned(), more]);
    }
    let (mut tables, mut wide) = (vec![table.clone()], vec![table]);
    if !safety.assumptions.is_empty() {
        tables.push(assumptions(&safety.assumptions, SHOWN, VOUCH));
        wide.push(assumptions(&safety.assumptions, usize::MAX, VOUCH));
    }
    Document {
        value: json::of(safety),
        tables,
        wide,
        names,
    }
}

/// The other remedy for an assumption of these commands.
pub(super) const VOUCH: &str = "; or vouch for it: --assume-complete";

/// The sentence for a danger. For a drain it says how long the drain lasts from the state that was read.
fn sentence(danger: &Danger, safety: &Safety) -> String {
    match &danger.reason {
        DangerReason::Draining(_, until) | DangerReason::DrainingHash(_, until) => {
            let left = span(until.since(safety.log_time));
            format!("{}, for {left} more", danger.message)
        }
        _ => danger.message.clone(),
    }
}

/// The assumptions, with a remedy for each; `or_else` is added to every remedy.
pub(super) fn assumptions(assumptions: &[Assumed], shown: usize, or_else: &str) -> Table {
    let mut table = Table::new(["Assumed of", "What", "What to do"]);
    for assumed in assumptions {
        table.row([
            assumed_of(assumed, shown),
            assumed.message.clone(),
            format!(
                "{}{}",
                to_do(assumed.reason),
                vouch(assumed.reason, or_else)
            ),
        ]);
    }
    table
}

/// The assumptions of a positive answer, one a line, for the format that prints only names.
pub(crate) fn assumption_lines(assumptions: &[Assumed]) -> String {
    let line = |assumed: &Assumed| {
        let (of, what) = (assumed_of(assumed, SHOWN), &assumed.message);
        format!(
            "assumed of {of}: {what}: {}{}\n",
            to_do(assumed.reason),
            vouch(assumed.reason, VOUCH)
        )
    };
    assumptions.iter().map(line).collect()
}

fn assumed_of(assumed: &Assumed, shown: usize) -> String {
    let resources = assumed.resources.iter();
    let names: Vec<String> = resources.map(text).collect();
    joined_of(&names, assumed.omitted, shown)
}

/// How to vouch for the assumption instead, if that is needed.
fn vouch(reason: Assumption, how: &str) -> &str {
    if reason.needs_vouching() { how } else { "" }
}

fn to_do(reason: Assumption) -> &'static str {
    match reason {
        Assumption::NoRoster => {
            "say who must speak: `synod rosters set`; then migrate: `synod migrations start`"
        }
        Assumption::SnapshotVersionUnknown => {
            "have their controllers say it (data_version), or delete them"
        }
        Assumption::LeftToOthers => "check the binaries of the others, too",
        Assumption::ConcludedBefore => "migrate it once more: `synod migrations start`",
        Assumption::SaidStopped => {
            "make sure that its process has stopped; the next migration makes an end of this"
        }
        Assumption::RosterMayMiss => {
            "name every member in the roster, or say that you know of all: `synod rosters set --complete`"
        }
        Assumption::ShortAbsence => "give servers their gate before they write",
        Assumption::UngatedGone => {
            "make sure that its process has stopped, and say so: `synod members evict --stopped`"
        }
        Assumption::Other(_) => "see what a newer `synod` says of it",
    }
}

#[cfg(test)]
mod tests {
    use synod_client::GroupResource;

    use super::*;

    #[test]
    fn what_is_shown_and_what_is_not_add_up_to_what_is_assumed() {
        let named = |count: usize, omitted: u32| Assumed {
            reason: Assumption::NoRoster,
            message: String::new(),
            resources: (0..count)
                .map(|number| GroupResource::new("a", &format!("r{number}s")).unwrap())
                .collect(),
            omitted,
        };
        for (count, omitted, shown, expected) in [
            (1, 0, 3, "r0s.a"),
            (3, 0, 3, "r0s.a,r1s.a,r2s.a"),
            (5, 0, 3, "r0s.a,r1s.a,r2s.a + 2 more..."),
            (5, 7, 3, "r0s.a,r1s.a,r2s.a + 9 more..."),
            (2, 7, 3, "r0s.a,r1s.a + 7 more..."),
            (2, 7, usize::MAX, "r0s.a,r1s.a + 7 more..."),
        ] {
            assert_eq!(assumed_of(&named(count, omitted), shown), expected);
        }
    }
}
