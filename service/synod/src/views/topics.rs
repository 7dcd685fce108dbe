//! Topics as tables: in the words of what members read and write, whatever the topic is about.

use std::time::Duration;

use serde_json::Value;
use synod_client::{
    ApiVersion, Drain, Drained, LogTime, Obstacle, SERVED, StorageState, StorageVersion,
    StorageVersionEntry, StorageVersionPage, StorageVersionView, Topic, TopicKind, WITHDRAWN,
    WallTime, json,
};

use super::storage_versions::{conditions, drains};
use super::{SHOWN, all, joined, or_unset, span, yes_or_no};
use crate::output::{Document, Table, age};

const COLUMNS: [&str; 6] = ["Topic", "Selected", "Agreed", "Writes", "Persisted", "Age"];
const MORE_COLUMNS: [&str; 4] = [
    "SelectedRevision",
    "AgreementRevision",
    "ReadByAll",
    "ServedByAll",
];
const MEMBER_COLUMNS: [&str; 5] = ["Member", "Reads", "Prefers", "Writes", "Adopted"];

/// `synod topics list`.
pub(crate) fn topics(page: &StorageVersionPage, now: WallTime) -> Document {
    let topics = page.items.iter().filter_map(|item| {
        let version = item.storage_version.as_ref();
        Seen::of(version, item.storage_state.as_ref(), &item.reasons)
    });
    summary(json::of(page), &topics.collect::<Vec<_>>(), now)
}

/// `synod topics get`.
pub(crate) fn topic(view: &StorageVersionView, now: WallTime) -> Document {
    let version = view.storage_version.as_ref();
    let seen = Seen::of(version, view.storage_state.as_ref(), &view.reasons);
    let seen: Vec<Seen<'_>> = seen.into_iter().collect();
    let mut document = summary(json::of(view), &seen, now);
    if let Some(version) = &view.storage_version {
        document.tables.push(members(version));
        document.wide.push(members(version));
        document.wide.push(conditions(&version.status.conditions));
    }
    let promised = promised(view);
    document.wide.extend(promised.clone());
    document.tables.extend(promised);
    if let Some(state) = &view.storage_state {
        document.tables.push(drains(state, view.log_time));
        document.wide.push(drains(state, view.log_time));
    }
    document
}

/// A topic that members report, or of which only the state has stayed.
struct Seen<'a> {
    topic: Topic,
    version: Option<&'a StorageVersion>,
    state: Option<&'a StorageState>,
    reasons: &'a [Obstacle],
}

impl<'a> Seen<'a> {
    fn of(
        version: Option<&'a StorageVersion>,
        state: Option<&'a StorageState>,
        reasons: &'a [Obstacle],
    ) -> Option<Self> {
        let reported = version.map(|version| &version.resource);
        let resource = reported.or_else(|| Some(&state?.resource))?;
        Some(Self {
            topic: Topic::of(resource),
            version,
            state,
            reasons,
        })
    }

    fn cells(&self, shown: usize, now: WallTime) -> Vec<String> {
        let selected = self.state.and_then(|state| state.selected.as_ref());
        let agreed = self
            .version
            .and_then(|version| version.status.agreed.as_ref());
        let entries = self.version.map_or(&[][..], |version| &version.entries);
        let writes: Vec<String> = entries
            .iter()
            .map(|entry| format!("{}={}", entry.member, or_unset(entry.encoding.as_ref())))
            .collect();
        let reported = self.version.map(|version| version.metadata.created);
        let created = reported.or_else(|| Some(self.state?.metadata.created));
        vec![
            self.topic.to_string(),
            or_unset(selected),
            or_unset(agreed),
            joined(&writes, shown),
            all(self.state.into_iter().flat_map(|state| &state.persisted)),
            created.map_or_else(String::new, |at| age(at.as_millis(), now.as_millis())),
        ]
    }

    fn more_cells(&self) -> [String; 4] {
        let revision = |of: fn(&StorageState) -> synod_client::Revision| {
            or_unset(self.state.map(of).filter(|revision| revision.get() > 0))
        };
        let status = self.version.map(|version| &version.status);
        [
            revision(|state| state.selected_revision),
            revision(|state| state.agreement_revision),
            all(status
                .into_iter()
                .flat_map(|status| &status.decodable_by_all)),
            all(status.into_iter().flat_map(|status| &status.served_by_all)),
        ]
    }
}

fn summary(value: Value, topics: &[Seen<'_>], now: WallTime) -> Document {
    let mut table = Table::new(COLUMNS);
    let mut wide = Table::new(COLUMNS.into_iter().chain(MORE_COLUMNS));
    for seen in topics {
        table.row(seen.cells(SHOWN, now));
        let cells = seen.cells(usize::MAX, now).into_iter();
        wide.row(cells.chain(seen.more_cells()));
    }
    let names = topics.iter().map(|seen| seen.topic.to_string()).collect();
    let (mut tables, mut wide) = (vec![table], vec![wide]);
    let standing = Some(standing(topics)).filter(|table| !table.is_empty());
    tables.extend(standing.clone());
    wide.extend(standing);
    Document {
        value,
        tables,
        wide,
        names,
    }
}

/// Why there is no agreement, in the words of the service.
fn standing(topics: &[Seen<'_>]) -> Table {
    let mut table = Table::new(["Topic", "AgainstAgreement"]);
    for seen in topics {
        for reason in seen.reasons {
            table.row([seen.topic.to_string(), reason.message.clone()]);
        }
    }
    table
}

/// Of a served version, until when it is promised and what its withdrawal waits for.
fn promised(view: &StorageVersionView) -> Option<Table> {
    let state = view.storage_state.as_ref()?;
    if TopicKind::of(&state.resource) != TopicKind::Served {
        return None;
    }
    let version = view.storage_version.as_ref();
    let entries = version.map_or(&[][..], |version| &version.entries);
    let mut table = Table::new(["ServedUntil", "Withdrawal"]);
    let waits = withdrawal(entries, state, view.log_time);
    table.row([or_unset(state.serve_until.as_ref()), waits]);
    Some(table)
}

fn withdrawal(entries: &[StorageVersionEntry], state: &StorageState, now: LogTime) -> String {
    let is = |value: Option<&ApiVersion>, text: &str| value.is_some_and(|it| it.as_str() == text);
    let named = |said: &dyn Fn(&StorageVersionEntry) -> bool| {
        let entries = entries.iter().filter(|entry| said(entry));
        let members: Vec<String> = entries.map(|entry| entry.member.to_string()).collect();
        (!members.is_empty()).then(|| joined(&members, SHOWN))
    };
    if state.selected.is_none() {
        return "nothing is selected yet".to_owned();
    }
    if !is(state.selected.as_ref(), SERVED) {
        let behind = named(&|entry| !is(entry.encoding.as_ref(), WITHDRAWN));
        return match (behind, drain_of_served(state, now)) {
            (Some(members), _) => format!("selected; still served by {members}"),
            (None, Some(left)) => format!("selected; who is gone may serve it for {}", span(left)),
            (None, None) => "done".to_owned(),
        };
    }
    let left = state.serve_until_log_time.map(|until| until.since(now));
    let left = left.filter(|left| !left.is_zero());
    let date = left.map(|left| format!("for its date, {} of log time away", span(left)));
    let others = named(&|entry| !is(entry.preferred.as_ref(), WITHDRAWN));
    let others = others.map(|members| format!("for {members} to prefer it"));
    let nobody = entries
        .is_empty()
        .then(|| "for a server to report it".to_owned());
    let reasons: Vec<String> = date.into_iter().chain(others).chain(nobody).collect();
    match reasons.is_empty() {
        true => "waits for the leader, or for votes to be switched on".to_owned(),
        false => format!("waits {}", reasons.join(" and ")),
    }
}

/// How long a server that is gone may still show the version.
fn drain_of_served(state: &StorageState, now: LogTime) -> Option<Duration> {
    let is_of = |drain: &&Drain| match &drain.encoding {
        Drained::Version(version) => version.as_str() == SERVED,
        Drained::Hash(_) | Drained::Unknown => false,
    };
    let drain = state.drains.iter().find(is_of)?;
    Some(drain.until.since(now)).filter(|left| !left.is_zero())
}

fn members(version: &StorageVersion) -> Table {
    let mut table = Table::new(MEMBER_COLUMNS);
    for entry in &version.entries {
        let is_adopted = entry.adopted_revision == Some(version.status.selected_revision);
        // A fixed entry neither prefers nor adopts anything.
        let voted = entry.preferred.as_ref();
        table.row([
            entry.member.to_string(),
            all(&entry.decodable),
            voted.map_or_else(|| "-".to_owned(), ToString::to_string),
            or_unset(entry.encoding.as_ref()),
            voted.map_or("-", |_| yes_or_no(is_adopted)).to_owned(),
        ]);
    }
    table
}
