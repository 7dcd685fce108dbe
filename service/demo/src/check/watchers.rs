//! Check 4: the watches of all replicas reported the same events, in one order, without a gap or a repetition.

use std::collections::BTreeMap;

use serde_json::Value;

use super::evidence::{Evidence, File, Line};
use super::finding::{Check, Finding};
use super::timeline::{Counter, Listed, Member, Resource, Timeline, field};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for watch in &evidence.watches {
        findings.extend(ordered(watch));
    }
    if let Some((first, others)) = evidence.watches.split_first() {
        findings.extend(
            others
                .iter()
                .filter_map(|other| first_difference(first, other)),
        );
    }
    findings
}

/// Whether the lists at the end agree with the events: an event that no watch reported is found here.
pub(super) fn check_end(evidence: &Evidence, timeline: &Timeline) -> Vec<Finding> {
    let listed = listed_members(&evidence.members).and_then(|(revision, members)| {
        let resources = listed_resources(&evidence.storage_versions)?;
        Ok((revision, members, resources))
    });
    let (revision, members, resources) = match listed {
        Ok(listed) => listed,
        Err(fault) => {
            let message = format!("the lists of the end cannot be read: {fault}");
            return vec![Finding::new(Check::Watchers, message)];
        }
    };
    let end = timeline.at(revision);
    let mut findings = Vec::new();
    let mut differ = |what: &str, listed: String, seen: String| {
        let message = format!(
            "{what} in the end are not what the events add up to, so an event is missing: listed {listed}, seen {seen}"
        );
        findings.push(Finding::new(Check::Watchers, message));
    };
    if members != end.members {
        differ(
            "the members",
            format!("{members:?}"),
            format!("{:?}", end.members),
        );
    }
    if resources != end.resources {
        differ(
            "the storage versions",
            format!("{resources:?}"),
            format!("{:?}", end.resources),
        );
    }
    findings
}

/// The kind of a line of a watch, with its revision.
enum Seen {
    Events(u64),
    Bookmark(u64),
}

fn seen(line: &Value) -> Result<Seen, String> {
    let revision =
        |document: &Value| field::<Counter>(document, "revision").map(|counter| counter.0);
    if let Some(events) = line.get("events") {
        Ok(Seen::Events(revision(events)?))
    } else if let Some(bookmark) = line.get("bookmark") {
        Ok(Seen::Bookmark(revision(bookmark)?))
    } else {
        Err(
            "the recording has a gap: this line is a resync or unknown, not events or a bookmark"
                .to_owned(),
        )
    }
}

/// Whether revisions rise, and no event is at or below the revision of an earlier bookmark.
fn ordered(watch: &File<Value>) -> Option<Finding> {
    let mut passed = 0;
    for line in &watch.lines {
        let fault = match seen(&line.value) {
            Ok(Seen::Events(revision)) if revision <= passed => {
                format!("revision {revision} comes after {passed}")
            }
            Ok(Seen::Bookmark(revision)) if revision < passed => {
                format!("a bookmark of revision {revision} comes after {passed}")
            }
            Ok(Seen::Events(revision) | Seen::Bookmark(revision)) => {
                passed = revision;
                continue;
            }
            Err(fault) => fault,
        };
        return Some(Finding::new(Check::Watchers, fault).with_evidence(watch.at(line)));
    }
    None
}

/// The first event in which two recordings differ. Bookmarks are not compared: each replica sends its own.
fn first_difference(one: &File<Value>, other: &File<Value>) -> Option<Finding> {
    let events = |file: &'_ File<Value>| -> Vec<usize> {
        let lines = file.lines.iter().enumerate();
        let lines = lines.filter(|(_, line)| line.value.get("events").is_some());
        lines.map(|(index, _)| index).collect()
    };
    let (ones, others) = (events(one), events(other));
    let longest = ones.len().max(others.len());
    for place in 0..longest {
        let line = |file: &'_ File<Value>, lines: &[usize]| -> Option<Line<Value>> {
            lines
                .get(place)
                .and_then(|index| file.lines.get(*index))
                .cloned()
        };
        let (left, right) = (line(one, &ones), line(other, &others));
        let value = |line: &Option<Line<Value>>| line.as_ref().map(|line| line.value.clone());
        if value(&left) == value(&right) {
            continue;
        }
        let shown = |file: &File<Value>, line: &Option<Line<Value>>| match line {
            Some(line) => file.at(line).to_string(),
            None => format!("{} has ended", file.name),
        };
        let message = format!(
            "{} and {} differ in event {}",
            one.name,
            other.name,
            place + 1
        );
        let places = format!("{}\n      {}", shown(one, &left), shown(other, &right));
        return Some(Finding::new(Check::Watchers, message).with_evidence(places));
    }
    if longest == 0 {
        let message = format!("{} and {} hold no event", one.name, other.name);
        return Some(Finding::new(Check::Watchers, message));
    }
    None
}

fn listed_members(list: &Value) -> Result<(u64, BTreeMap<String, Member>), String> {
    let header: Value = field(list, "header")?;
    let revision: Counter = field(&header, "revision")?;
    let items: Vec<Value> = field(list, "items")?;
    let members = items.iter().map(|item| {
        let member: Member = field(item, "member")?;
        let name = member
            .rest
            .get("metadata")
            .and_then(|metadata| metadata.get("name"));
        let name = name.and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok((name, member))
    });
    Ok((revision.0, members.collect::<Result<_, String>>()?))
}

fn listed_resources(list: &Value) -> Result<BTreeMap<String, Resource>, String> {
    let items: Vec<Value> = field(list, "items")?;
    let resources = items.iter().map(|item| {
        let resource = Resource::from(field::<Listed>(item, "storageVersion")?);
        Ok((resource.resource.to_string(), resource))
    });
    resources.collect()
}
