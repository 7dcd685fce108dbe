//! `Report`: everything that a member says of its resources, in one command, at one revision.

use std::collections::BTreeSet;

use synod_model::limits::VIOLATIONS_MAX;
use synod_model::{GroupResource, Member, MemberId, Refusal, Report, TOPICS_SINCE, TopicKind};

use super::{equivalents, returns};
use crate::hashes::said_by_report;
use crate::state::over_quota;
use crate::turn::Turn;
use crate::voting::{Cause, Decided, LateWrites, Occasion, Said, decide};
use crate::{Answer, Holder, ReportedResource, State, StatementRow};

pub(crate) fn apply(turn: &mut Turn<'_>, report: &Report) -> Result<Answer, Refusal> {
    let said = StatementRow {
        number: report.number,
        content: said_by_report(report),
    };
    let state = turn.state();
    let member = state.heard(&report.member, report.epoch, said)?.clone();
    let named = report.named();
    check_shape(state, report, &named)?;
    check_size(turn, report, &member, &named)?;
    check_room(turn, report)?;
    let mut renamed = BTreeSet::new();
    let decided = if equivalents::is_news(turn.state(), report) {
        // The whole report is refused if what it says of the joined stores is.
        let mut joined = turn.state().clone();
        let mut trial = Turn::begin(&mut joined, turn.wall());
        renamed = equivalents::join_told(&mut trial, report)?;
        let decided = decide_all(&trial, report, &member, &named, &renamed)?;
        equivalents::join_told(turn, report)?;
        decided
    } else {
        decide_all(turn, report, &member, &named, &renamed)?
    };
    turn.take_statement(&report.member, said);
    for decided in decided {
        renamed.remove(&decided.resource);
        turn.carry_out(decided);
    }
    for first in &renamed {
        turn.decide_anew(first, Some(Cause::Member(&report.member)));
    }
    if !member.reported {
        let mut member = Member {
            reported: true,
            ..member
        };
        member.metadata.resource_version = turn.revision();
        turn.put_member(member);
        turn.clear_deadline(&Holder::Unreported(report.member.clone()));
        returns::settle(turn, &report.member);
    }
    Ok(Answer::Reported(told(turn, report)))
}

/// Whether the report replaces all entries: it asks for that, or is the first of its epoch.
fn replaces(report: &Report, member: &Member) -> bool {
    report.replace || !member.reported
}

/// The resources that the member has reported and that are not `named`, in their order.
fn unnamed<'a>(
    turn: &'a Turn<'_>,
    member: &MemberId,
    named: &'a [&GroupResource],
) -> impl Iterator<Item = &'a GroupResource> {
    let state = turn.state();
    let has_sets = !state.first_names.is_empty();
    let stores = named.iter().filter(move |_| has_sets);
    let stores: BTreeSet<_> = stores.map(|name| state.first_name(name)).collect();
    let mut named = named.iter().peekable();
    let kept = state.reported.get(member).into_iter().flatten();
    kept.filter(move |resource| {
        while named.next_if(|named| **named < *resource).is_some() {}
        let is_named = named.peek().is_some_and(|named| **named == *resource);
        !is_named && !stores.contains(&state.first_name(resource))
    })
}

/// Reports that break a rule of their shape are refused before they reach the log. Apply checks what its invariants
/// rest on again: if it panicked over a log entry, no replica could ever get past that entry.
fn check_shape(state: &State, report: &Report, named: &[&GroupResource]) -> Result<(), Refusal> {
    let mut entries = report.entries.iter();
    // Until there are topics, builds that know none must decide the same: the date counts for nothing yet.
    let knows_no_topics = state.machine_version() < TOPICS_SINCE;
    let each_once = named.len() == report.entries.len();
    let sound = each_once
        && entries.all(|entry| {
            let kind = state.topic_kind(&entry.resource);
            (entry.serve_until.is_none() || knows_no_topics || kind.is_promised_until())
                && entry.decodable.contains(entry.stance.version())
                && (kind == TopicKind::Encoding && entry.equivalents.is_empty()
                    || entry.is_of_its_topic())
        });
    // Only a faulty report pays for the check that names every fault.
    if sound {
        Ok(())
    } else {
        report.check().into_result()
    }
}

fn check_size(
    turn: &Turn<'_>,
    report: &Report,
    member: &Member,
    named: &[&GroupResource],
) -> Result<(), Refusal> {
    let others = if replaces(report, member) {
        0
    } else {
        unnamed(turn, &report.member, named).count()
    };
    let most = turn.state().settings.report_entries_max;
    let resources = named.len() + others;
    if resources as u64 <= u64::from(most) {
        return Ok(());
    }
    Err(report.too_large(resources, most))
}

/// Known resources are accepted whatever room there is: what their members can say of them is bounded.
fn check_room(turn: &Turn<'_>, report: &Report) -> Result<(), Refusal> {
    let state = turn.state();
    if !state.is_over_quota() {
        return Ok(());
    }
    let mut entries = report.entries.iter().zip(0..);
    match entries.find(|(entry, _)| state.state_of(&entry.resource).is_none()) {
        Some((entry, at)) => {
            let what = format!("entries[{at}].resource: \"{}\" is new", entry.resource);
            Err(over_quota(state, &what))
        }
        None => Ok(()),
    }
}

/// The decisions for every resource that the report names or drops. One refusal refuses the whole report, and names the
/// faults of the other entries too.
fn decide_all(
    turn: &Turn<'_>,
    report: &Report,
    member: &Member,
    named: &[&GroupResource],
    renamed: &BTreeSet<GroupResource>,
) -> Result<Vec<Decided>, Refusal> {
    let occasion = Occasion {
        cause: Some(Cause::Member(&report.member)),
        renamed: Some(renamed),
        ..turn.occasion()
    };
    let decide =
        |resource, said| decide(turn.state(), occasion, resource, &[(&report.member, said)]);
    equivalents::check_each_once(turn.state(), report)?;
    let mut decided = Vec::new();
    let mut refused: Option<Refusal> = None;
    for (i, entry) in report.entries.iter().enumerate() {
        let said = Said::Reports {
            entry,
            same_epoch: member.reported,
        };
        match decide(&entry.resource, said) {
            Ok(follows) => decided.extend(follows),
            Err(refusal) => gather(&mut refused, refusal, &format!("entries[{i}]")),
        }
    }
    if let Some(refusal) = refused {
        return Err(refusal);
    }
    if replaces(report, member) {
        // Of a store whose names the report joins, the member may have reported several.
        let mut stores = BTreeSet::new();
        for resource in unnamed(turn, &report.member, named) {
            if stores.insert(turn.state().first_name(resource)) {
                decided.extend(decide(resource, dropped(turn, report))?);
            }
        }
    }
    Ok(decided)
}

/// Says for the member that it drops a resource, which its report does not name.
fn dropped(turn: &Turn<'_>, report: &Report) -> Said<'static> {
    // The gate of a resource that is no longer reported was closed and drained before the report.
    let late_writes = match turn.state().is_gated(&report.member) {
        true => LateWrites::None,
        false => LateWrites::Until(turn.state().write_grace_ends()),
    };
    Said::Drops {
        late_writes,
        writes_on: None,
    }
}

/// Adds the faults of another entry, with its place, up to the number that an answer names.
fn gather(refused: &mut Option<Refusal>, mut refusal: Refusal, path: &str) {
    let faults = std::mem::take(&mut refusal.violations);
    let violations = &mut refused.get_or_insert(refusal).violations;
    let room = VIOLATIONS_MAX.saturating_sub(violations.len());
    violations.extend(faults.into_iter().take(room).map(|fault| fault.at(path)));
}

fn told(turn: &Turn<'_>, report: &Report) -> Vec<ReportedResource> {
    let told = report.entries.iter().map(|entry| {
        let version = &turn.state().storage_versions[&entry.resource];
        let row = &version.entries[&report.member];
        ReportedResource {
            resource: entry.resource.clone(),
            encoding: row.encoding.clone(),
            selected: version.row.status.selected.clone(),
            selected_revision: version.row.status.selected_revision,
            adopted_revision: row.adopted_revision,
        }
    });
    told.collect()
}
