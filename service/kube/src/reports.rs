//! StorageVersions as they are written: what a member says of itself in one is its report.
//!
//! | what Kubernetes does | what it is here |
//! |---|---|
//! | create | nothing: a StorageVersion is there from its first report on, and the answer tells one without reports |
//! | update or patch of the status, with one entry that is new or changed | a report by the member that the entry is of |
//! | the others' entries in it | must be as they are |
//! | an entry that is not in it | refused, while the member of that entry takes part; when it goes, its entries go with it |
//! | `commonEncodingVersion` and `conditions` in it | nothing: Synod computes them. They are checked by Kubernetes' rules |
//!
//! The updater of API servers of Kubernetes (`k8s.io/apiserver/pkg/storageversion`) reads, creates and updates so.
//!
//! **Under which epoch.** The body names none, so it is that of the member as it is now. Kubernetes keeps the entries of a server
//! that starts again until it says otherwise, and it says one resource after the other; here the first report of an epoch
//! replaces all. So the first one of an epoch carries the fixed entries that the member had: when another process takes its
//! lease over or, if that fails, with its first report.
//!
//! **Nobody overwrites what it has not seen.** A statement is numbered as if it were the member's first one. If it is not, the
//! refusal tells the number of the last one; then all is read and compared again, and the statement is the next one to that.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use synod_model::{ErrorKind, GroupResource, Refusal};
use synod_proto::status::key::LAST_NUMBER;
use synod_proto::v1;
use synod_proto::v1::report_entry::Stance;

use crate::documents::time;
use crate::identity::{epoch_of, is_by_lease};
use crate::kind_names::kind_of;
use crate::kinds::Verb;
use crate::present::TRIES;
use crate::reads::Present;
use crate::request::Asked;
use crate::rights::Target;
use crate::sources::{Calls, PAGE_MAX, Paging, Start, storage_version_of};
use crate::status::{About, Fault};
use crate::storage_version_status;

/// The number of the first statement of an epoch.
const FIRST: u64 = 1;

/// Answers a StorageVersion that nobody has reported so far, as one without reports.
pub(crate) async fn create(calls: &Calls, about: &About<'_>) -> Result<Value, Fault> {
    GroupResource::parse_storage_version_name(about.name)
        .map_err(|fault| invalid(about, "metadata.name", &fault.rule))?;
    if live(calls, about).await?.version.is_some() {
        return Err(Fault::already_exists(about));
    }
    let settings = calls.settings(about.kind, None).await;
    let (_, revision) = settings.map_err(|refusal| Fault::of(&refusal, about))?;
    Ok(json!({
        "apiVersion": about.kind.api_version(),
        "kind": about.kind.kind,
        "metadata": {
            "name": about.name,
            "resourceVersion": revision.to_string(),
            "creationTimestamp": time(calls.now_ms()),
        },
        "spec": {},
        "status": {},
    }))
}

/// Takes the report that a status is.
pub(crate) async fn update(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
) -> Result<(), Fault> {
    if expected.resource_version.is_none() {
        let rule = "Invalid value: 0: must be specified for an update";
        return Err(invalid(about, "metadata.resourceVersion", rule));
    }
    let said = entries(document, about)?;
    // A number that was learned before the read of what there is proves that nothing was said since.
    let mut learned: Option<(v1::MemberEpoch, u64)> = None;
    for _ in 0..TRIES {
        let live = live(calls, about).await?;
        live.is_expected(expected, about)?;
        let violations = storage_version_status::check(&document["status"]);
        if !violations.is_empty() {
            return Err(Fault::unsound(&violations, about));
        }
        let found = match live.change(&said, about)? {
            None => restated(calls, &live, &said, about).await?,
            found => found,
        };
        let Some((place, entry)) = found else {
            // It says nothing, and nothing was said.
            return match live.version {
                Some(_) => Ok(()),
                None => Err(Fault::not_found(about)),
            };
        };
        let member = taking_part(calls, &entry.member, about).await?;
        let epoch = epoch_of(&member);
        let number = match &learned {
            Some((of, last)) if *of == epoch => last.saturating_add(1),
            Some(_) | None => FIRST,
        };
        let own = v1::ReportEntry {
            resource: Some(storage_version_of(about.name)),
            kind: live.kind(calls, about, &entry.member).await?,
            decodable_versions: entry.decodable.clone(),
            served_versions: entry.served.clone(),
            stance: Some(Stance::EncodingVersion(entry.encoding.clone())),
            serve_until_ms: None,
            stored: v1::StoredIn::Outside.into(),
            equivalents: Vec::new(),
        };
        let Err(refusal) = report(calls, &member, Some(own), number).await else {
            return Ok(());
        };
        match (refusal.kind, last_number(&refusal)) {
            (ErrorKind::Conflict, Some(last)) => learned = Some((epoch, last)),
            // Another process is this member by now.
            (ErrorKind::StaleEpoch, _) => {}
            _ => return Err(fault(&refusal, about, place)),
        }
    }
    Err(Fault::modified(about))
}

/// The number of the last statement, if one came before this report.
fn last_number(refusal: &Refusal) -> Option<u64> {
    refusal.metadata.get(LAST_NUMBER)?.parse().ok()
}

/// The member of an entry.
async fn taking_part(calls: &Calls, id: &str, about: &About<'_>) -> Result<v1::Member, Fault> {
    match calls.member(id, Asked::Newest).await {
        Ok(Present { member, .. }) => Ok(member),
        Err(refusal) if refusal.kind == ErrorKind::NotFound => {
            let why =
                format!("\"{id}\" does not take part: it has no identity lease, or it ran out");
            Err(Fault::conflict(about, &why))
        }
        Err(refusal) => Err(Fault::of(&refusal, about)),
    }
}

/// The entry that says what a voter said whom another process has replaced: this one does not vote, so it says it anew. The
/// entries of voters that speak for themselves stay as they are.
async fn restated<'a>(
    calls: &Calls,
    live: &Live,
    said: &'a [Entry],
    about: &About<'_>,
) -> Result<Option<(usize, &'a Entry)>, Fault> {
    let voters = live.version.iter().flat_map(|version| &version.entries);
    let voters: BTreeSet<&str> = voters
        .filter(|own| own.preferred_version.is_some())
        .map(|own| own.member.as_str())
        .collect();
    for (place, entry) in said.iter().enumerate() {
        if !voters.contains(entry.member.as_str()) || !acts_as(calls, &entry.member) {
            continue;
        }
        let member = taking_part(calls, &entry.member, about).await?;
        if !member.reported && is_by_lease(&member) {
            return Ok(Some((place, entry)));
        }
    }
    Ok(None)
}

/// What became of a report, with its fields as they are called in the document: the entry of this place comes first in it.
fn fault(refusal: &Refusal, about: &About<'_>, place: usize) -> Fault {
    let mut refusal = refusal.clone();
    for fault in &mut refusal.violations {
        if let Some(rest) = fault.field.strip_prefix("entries[0].") {
            let field = match rest {
                // What is said of a resource is its name.
                "resource" => "metadata.name".to_owned(),
                rest => format!("status.storageVersions[{place}].{rest}"),
            };
            fault.field = field;
        }
    }
    Fault::of(&refusal, about)
}

/// Says again what a member has reported, under the epoch that it has now. A member without reports says nothing, and so does
/// one that has spoken for itself, or that the caller may not act as.
///
/// # Errors
///
/// As any report.
pub(crate) async fn carry(calls: &Calls, member: &v1::Member) -> Result<(), Refusal> {
    match report(calls, member, None, FIRST).await {
        Err(refusal)
            if matches!(
                refusal.kind,
                ErrorKind::Conflict | ErrorKind::StaleEpoch | ErrorKind::NotAMember
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

/// Reports an entry, and with it, as the first of an epoch, what the member reported before. What of that is refused is left
/// out: nobody says it any more.
async fn report(
    calls: &Calls,
    member: &v1::Member,
    entry: Option<v1::ReportEntry>,
    number: u64,
) -> Result<(), Refusal> {
    let own = usize::from(entry.is_some());
    let mut entries = Vec::from_iter(entry);
    let epoch = epoch_of(member);
    if !member.reported && acts_as(calls, &epoch.member) {
        entries.extend(before(calls, member, entries.first()).await?);
    }
    let mut request = v1::StorageVersionsReportRequest {
        member: Some(epoch),
        entries,
        replace: false,
        number,
        ..v1::StorageVersionsReportRequest::default()
    };
    loop {
        if request.entries.is_empty() {
            return Ok(());
        }
        let reported: Result<v1::StorageVersionsReportResponse, Refusal> = calls
            .call("synod.v1.StorageVersions/Report", &request)
            .await;
        let Err(refusal) = reported else {
            return Ok(());
        };
        let refused = refused(&refusal);
        let is_carried = |place: &usize| (own..request.entries.len()).contains(place);
        // Each turn takes at least one of them away.
        if refused.is_empty() || !refused.iter().all(is_carried) {
            return Err(refusal);
        }
        let mut place = 0..;
        request
            .entries
            .retain(|_| place.next().is_none_or(|place| !refused.contains(&place)));
    }
}

/// The places of the entries that are refused; none if something else is.
fn refused(refusal: &Refusal) -> BTreeSet<usize> {
    let of = |field: &str| -> Option<usize> {
        let (place, _) = field.strip_prefix("entries[")?.split_once(']')?;
        place.parse().ok()
    };
    let places = refusal.violations.iter().map(|one| of(&one.field));
    places.collect::<Option<_>>().unwrap_or_default()
}

/// Whether the caller may speak for this member.
fn acts_as(calls: &Calls, id: &str) -> bool {
    Target::of_member(id).may(calls, Verb::Update).is_ok()
}

/// What a member has reported as fixed, but for the resource of this entry.
async fn before(
    calls: &Calls,
    member: &v1::Member,
    without: Option<&v1::ReportEntry>,
) -> Result<Vec<v1::ReportEntry>, Refusal> {
    let id = epoch_of(member).member;
    let without = without.and_then(|entry| entry.resource.as_ref());
    let mut found = Vec::new();
    let mut start = Start::First(Asked::Newest);
    loop {
        let page = calls.resources(Paging::of(start, PAGE_MAX), false).await?;
        let versions = page
            .items
            .iter()
            .filter_map(|item| item.storage_version.as_ref());
        for version in versions.filter(|version| version.resource.as_ref() != without) {
            // A vote is for who can adopt what is selected, and this way nobody can.
            let own = version
                .entries
                .iter()
                .find(|entry| entry.member == id && entry.preferred_version.is_none());
            found.extend(own.map(|own| again(version, own)));
        }
        if page.continue_token.is_empty() {
            return Ok(found);
        }
        start = Start::After(page.continue_token);
    }
}

/// A fixed entry as it was reported.
fn again(version: &v1::StorageVersion, own: &v1::StorageVersionEntry) -> v1::ReportEntry {
    let stance = Stance::EncodingVersion(own.encoding_version.clone().unwrap_or_default());
    v1::ReportEntry {
        resource: version.resource.clone(),
        kind: own.kind.clone(),
        decodable_versions: own.decodable_versions.clone(),
        served_versions: own.served_versions.clone(),
        stance: Some(stance),
        serve_until_ms: own.serve_until_ms,
        stored: own.stored,
        equivalents: own.equivalents.clone(),
    }
}

/// What one server says in a status.
#[derive(Debug, PartialEq)]
struct Entry {
    member: String,
    encoding: String,
    decodable: Vec<String>,
    served: Vec<String>,
}

impl Entry {
    /// Whether it says what a member has reported.
    fn is(&self, own: &v1::StorageVersionEntry) -> bool {
        let set = |versions: &[String]| BTreeSet::from_iter(versions.to_vec());
        self.encoding == own.encoding_version.clone().unwrap_or_default()
            && set(&self.decodable) == set(&own.decodable_versions)
            && set(&self.served) == set(&own.served_versions)
    }
}

/// The entries of a document. Every fault is named.
fn entries(document: &Value, about: &About<'_>) -> Result<Vec<Entry>, Fault> {
    const FIELD: &str = "status.storageVersions";
    let entries = match &document["status"]["storageVersions"] {
        Value::Null => &[][..],
        Value::Array(entries) => entries.as_slice(),
        _ => return Err(invalid(about, FIELD, "Invalid value: must be a list")),
    };
    let mut faults = Vec::new();
    let mut named = BTreeSet::new();
    let mut found = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let mut text = |field: &str, value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            _ => {
                let rule = "Invalid value: must be a text".to_owned();
                faults.push((format!("{FIELD}[{place}].{field}"), rule));
                String::new()
            }
        };
        let member = text("apiServerID", &entry["apiServerID"]);
        let encoding = text("encodingVersion", &entry["encodingVersion"]);
        let no_list = "Invalid value: must be a list".to_owned();
        let mut lists = Vec::new();
        let mut texts = |field: &str| -> Vec<String> {
            match &entry[field] {
                Value::Null => Vec::new(),
                Value::Array(values) => values.iter().map(|value| text(field, value)).collect(),
                _ => {
                    lists.push((format!("{FIELD}[{place}].{field}"), no_list.clone()));
                    Vec::new()
                }
            }
        };
        let (decodable, served) = (texts("decodableVersions"), texts("servedVersions"));
        faults.extend(lists);
        if !named.insert(member.clone()) {
            let rule = format!("Duplicate value: \"{member}\"");
            faults.push((format!("{FIELD}[{place}].apiServerID"), rule));
        }
        found.push(Entry {
            member,
            encoding,
            decodable,
            served,
        });
    }
    match faults.is_empty() {
        true => Ok(found),
        false => Err(Fault::invalid(about, &faults)),
    }
}

fn invalid(about: &About<'_>, field: &str, rule: &str) -> Fault {
    Fault::invalid(about, &[(field.to_owned(), rule.to_owned())])
}

/// What is known of the resource that a StorageVersion is of.
struct Live {
    version: Option<v1::StorageVersion>,
    state: Option<v1::StorageState>,
}

async fn live(calls: &Calls, about: &About<'_>) -> Result<Live, Fault> {
    match calls
        .of_resource(storage_version_of(about.name), Asked::Newest)
        .await
    {
        Ok(found) => Ok(Live {
            version: found.storage_version,
            state: found.storage_state,
        }),
        Err(refusal) if refusal.kind == ErrorKind::NotFound => Ok(Live {
            version: None,
            state: None,
        }),
        Err(refusal) => Err(Fault::of(&refusal, about)),
    }
}

impl Live {
    /// Checks that a status was made from what there is. Where there is nothing, it was made from nothing, whatever revision
    /// it names: that of a StorageVersion that was created.
    fn is_expected(&self, expected: &v1::Preconditions, about: &About<'_>) -> Result<(), Fault> {
        match self.version.as_ref().and_then(|it| it.metadata.as_ref()) {
            Some(metadata) => crate::present::is_expected(metadata, expected, about),
            None if expected.uid.is_empty() => Ok(()),
            None => Err(Fault::modified(about)),
        }
    }

    /// The one entry in which a status says something else than what there is, with its place; `None` if it says the same.
    fn change<'a>(
        &self,
        said: &'a [Entry],
        about: &About<'_>,
    ) -> Result<Option<(usize, &'a Entry)>, Fault> {
        let own = self.version.iter().flat_map(|version| &version.entries);
        let own: BTreeMap<&str, &v1::StorageVersionEntry> =
            own.map(|entry| (entry.member.as_str(), entry)).collect();
        let named: BTreeSet<&str> = said.iter().map(|entry| entry.member.as_str()).collect();
        if let Some(gone) = own.keys().find(|id| !named.contains(**id)) {
            let why = format!(
                "\"{gone}\" takes part, so what it has reported cannot be taken away: it goes with its identity lease"
            );
            return Err(Fault::conflict(about, &why));
        }
        let mut changed = said.iter().enumerate().filter(|(_, entry)| {
            own.get(entry.member.as_str())
                .is_none_or(|own| !entry.is(own))
        });
        let first = changed.next();
        match (first, changed.next()) {
            (Some((_, one)), Some((_, other))) => {
                let why = format!(
                    "it says something new of \"{}\" and of \"{}\": each server reports for itself",
                    one.member, other.member
                );
                Err(Fault::conflict(about, &why))
            }
            (first, _) => Ok(first),
        }
    }

    /// The kind of the resource, which the status does not name: as it was reported before, as discovery has shown it, as a
    /// collection of this name has it, or as it follows from the name.
    async fn kind(&self, calls: &Calls, about: &About<'_>, id: &str) -> Result<String, Fault> {
        let entries = self.version.iter().flat_map(|version| &version.entries);
        let (own, others): (Vec<_>, Vec<_>) = entries.partition(|entry| entry.member == id);
        if let Some(entry) = own.iter().chain(&others).next() {
            return Ok(entry.kind.clone());
        }
        let observed = self.state.as_ref().map(|state| &state.observed_kind);
        if let Some(kind) = observed.filter(|kind| !kind.is_empty()) {
            return Ok(kind.clone());
        }
        let resource = storage_version_of(about.name);
        let plural = resource.resource.clone();
        let front = &calls.front;
        let declared = front
            .collection(&calls.origin, resource, None, calls.deadline)
            .await
            .map_err(|refusal| Fault::of(&refusal, about))?;
        Ok(declared.map_or_else(|| kind_of(&plural), |collection| collection.kind))
    }
}
