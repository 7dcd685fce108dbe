//! Who manages which fields of an object, by the rules of Kubernetes' server-side apply.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::fields::Fields;
use super::values::{self, Changes};

/// The most bytes of the name of a manager.
pub(crate) const MANAGER_BYTES_MAX: usize = 128;

/// The most entries that a client may write itself.
const ENTRIES_MAX: usize = 200;

/// The most entries of managers that update; older ones become one, as in Kubernetes.
const UPDATERS_MAX: usize = 10;

/// The manager of what older entries have said.
const ANCIENT: &str = "ancient-changes";

/// The manager of what an object was before anybody applied to it.
const BEFORE: &str = "before-first-apply";

/// The manager of what was written by the calls of `synod.v1`, which name none.
const OTHERS: &str = "synod.v1";

/// How a manager writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Operation {
    Apply,
    Update,
}

/// Who writes, and when.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) manager: String,
    pub(crate) api_version: String,
    /// Empty, or the subresource that it writes.
    pub(crate) subresource: &'static str,
    pub(crate) time: String,
}

/// Which fields of others are taken over.
#[derive(Debug)]
pub(crate) enum Force {
    All,
    These(Fields),
}

/// The fields that one manager has.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    operation: Operation,
    /// Missing where nobody knows when it was.
    time: Option<String>,
    manager: String,
    api_version: String,
    /// Empty, or the subresource that was written.
    subresource: String,
    fields: Fields,
}

/// All managers of an object, in the order in which Kubernetes writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Managers(Vec<Entry>);

/// A field that somebody else manages and that is not to be as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The other one, as Kubernetes names it in messages.
    pub(crate) manager: String,
    pub(crate) path: String,
}

/// Whether a manager may be called so.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= MANAGER_BYTES_MAX && !name.chars().any(char::is_control)
}

fn is_time(text: &str) -> bool {
    OffsetDateTime::parse(text, &Rfc3339).is_ok()
}

impl Entry {
    fn of(writer: &Writer, operation: Operation, fields: Fields) -> Self {
        Self {
            operation,
            time: Some(writer.time.clone()),
            manager: writer.manager.clone(),
            api_version: writer.api_version.clone(),
            subresource: writer.subresource.to_owned(),
            fields,
        }
    }

    fn parse(entry: &Value) -> Option<Self> {
        let text = |field: &str| match &entry[field] {
            Value::Null => Some(String::new()),
            Value::String(text) => Some(text.clone()),
            _ => None,
        };
        if entry["fieldsType"] != "FieldsV1" {
            return None;
        }
        Some(Self {
            operation: match entry["operation"].as_str()? {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return None,
            },
            time: match &entry["time"] {
                Value::Null => None,
                time => Some(time.as_str().filter(|time| is_time(time))?.to_owned()),
            },
            manager: text("manager").filter(|manager| is_name(manager))?,
            api_version: text("apiVersion")?,
            subresource: text("subresource")?,
            fields: Fields::parse(&entry["fieldsV1"])?,
        })
    }

    fn to_json(&self) -> Value {
        let mut entry = Map::new();
        let mut put = |field: &str, value: Value| drop(entry.insert(field.to_owned(), value));
        put("manager", json!(self.manager));
        put(
            "operation",
            json!(match self.operation {
                Operation::Apply => "Apply",
                Operation::Update => "Update",
            }),
        );
        put("apiVersion", json!(self.api_version));
        if let Some(time) = &self.time {
            put("time", json!(time));
        }
        put("fieldsType", json!("FieldsV1"));
        put("fieldsV1", self.fields.to_json());
        if !self.subresource.is_empty() {
            put("subresource", json!(self.subresource));
        }
        Value::Object(entry)
    }

    /// What tells its manager from others: who applies is the same in each version.
    fn identity(&self) -> (Operation, &str, Option<&str>, &str) {
        let version = (self.operation == Operation::Update).then_some(self.api_version.as_str());
        (self.operation, &self.manager, version, &self.subresource)
    }

    /// What entries are ordered by.
    fn rank(&self) -> impl Ord + '_ {
        let Self {
            operation,
            time,
            manager,
            api_version,
            subresource,
            ..
        } = self;
        (*operation, time, manager, api_version, subresource)
    }

    /// The manager, as Kubernetes names it in messages.
    fn told(&self) -> String {
        let mut told = json!(self.manager).to_string();
        if !self.subresource.is_empty() {
            told.push_str(&format!(" with subresource \"{}\"", self.subresource));
        }
        if self.operation == Operation::Update {
            told.push_str(&format!(" using {}", self.api_version));
        }
        told
    }
}

impl Managers {
    /// The managers in `metadata.managedFields`; `None` if they cannot be read.
    pub(crate) fn parse(entries: &Value) -> Option<Self> {
        let entries = entries.as_array()?;
        if entries.len() > ENTRIES_MAX {
            return None;
        }
        let entries: Option<Vec<Entry>> = entries.iter().map(Entry::parse).collect();
        let entries = entries?;
        // Of several entries of one manager the last one counts.
        let last: HashMap<_, usize> = entries
            .iter()
            .enumerate()
            .map(|(place, entry)| (entry.identity(), place))
            .collect();
        let last: HashSet<usize> = last.into_values().collect();
        let kept = entries
            .into_iter()
            .enumerate()
            .filter(|(place, _)| last.contains(place));
        Some(Self::sorted(kept.map(|(_, entry)| entry).collect()))
    }

    /// Entries in their order, without those that have nothing.
    /// Whether they have the same fields as `others`, whenever it was: like Kubernetes' API server, who only says another time
    /// changes nothing.
    pub(crate) fn have_what(&self, others: &Self) -> bool {
        let timeless = |it: &Self| {
            let entries = it.0.iter().cloned();
            Self::sorted(
                entries
                    .map(|entry| Entry {
                        time: None,
                        ..entry
                    })
                    .collect(),
            )
        };
        timeless(self) == timeless(others)
    }

    fn sorted(mut entries: Vec<Entry>) -> Self {
        entries.retain(|entry| !entry.fields.is_empty());
        entries.sort_by(|one, other| one.rank().cmp(&other.rank()));
        Self(entries)
    }

    /// What is wrong with who writes, or when, in entries of a client; other faults make them unreadable as a whole.
    pub(crate) fn fault(entries: &Value) -> Option<String> {
        let mut entries = entries.as_array()?.iter().enumerate();
        entries.find_map(|(place, entry)| {
            let (time, manager) = (&entry["time"], &entry["manager"]);
            if !time.is_null() && !time.as_str().is_some_and(is_time) {
                return Some(format!(
                    "metadata.managedFields[{place}].time: {time} is no time of RFC 3339"
                ));
            }
            let is_named = manager.as_str().is_none_or(is_name);
            (!is_named).then(|| {
                format!(
                    "metadata.managedFields[{place}].manager: must have printable characters only, and at most \
                     {MANAGER_BYTES_MAX} bytes"
                )
            })
        })
    }

    /// `metadata.managedFields`.
    pub(crate) fn to_json(&self) -> Value {
        self.0.iter().map(Entry::to_json).collect()
    }

    pub(crate) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// How many edges the longest path of a field has.
    pub(crate) fn depth(&self) -> usize {
        let depths = self.0.iter().map(|entry| entry.fields.depth());
        depths.max().unwrap_or_default()
    }

    /// What became of them when the object was written by calls that name no manager: it has these fields now, of which
    /// these were written so.
    pub(crate) fn overtaken(&mut self, all: &Fields, written: Fields, api_version: &str) {
        for entry in &mut self.0 {
            entry.fields = entry.fields.intersection(all).difference(&written);
        }
        let mut others = Entry {
            operation: Operation::Update,
            time: None,
            manager: OTHERS.to_owned(),
            api_version: api_version.to_owned(),
            subresource: String::new(),
            fields: Fields::default(),
        };
        others.fields = match self.take(&others) {
            Some(before) => before.fields.union(&written),
            None => written,
        };
        self.put(others);
    }

    /// Notes that somebody has changed an object.
    pub(crate) fn update(&mut self, changes: &Changes, writer: &Writer) {
        let gained = changes.modified.union(&changes.added);
        let mut own = Entry::of(writer, Operation::Update, gained.clone());
        let before = self.take(&own);
        for entry in &mut self.0 {
            let fields = entry.fields.difference(&gained);
            entry.fields = fields.difference(&changes.removed);
        }
        if let Some(before) = before {
            if gained.is_empty() {
                own.time = before.time;
            }
            own.fields = before.fields.difference(&changes.removed).union(&gained);
        }
        self.put(own);
        self.cap();
    }

    /// The object after somebody has applied a configuration to it. Who applies has what it says from then on, and what it
    /// does not say any more goes, unless another manager has it.
    ///
    /// # Errors
    ///
    /// The conflicts, but for those that are done by force.
    pub(crate) fn apply(
        &mut self,
        live: &Value,
        configuration: &Value,
        writer: &Writer,
        force: &Force,
    ) -> Result<Value, Vec<Conflict>> {
        let fields = values::fields_of(configuration);
        let mut own = Entry::of(writer, Operation::Apply, fields.clone());
        let before = self.take(&own);
        let merged = values::merge(live, configuration);
        let kept = self
            .0
            .iter()
            .fold(fields.clone(), |kept, entry| kept.union(&entry.fields));
        let (last, time) = before.map_or_else(Default::default, |it| (it.fields, it.time));
        let merged = values::without(&merged, &last.difference(&kept));
        let changes = values::compare(live, &merged);
        let gained = changes.modified.union(&changes.added);
        if let Force::These(own) = force {
            let conflicts = self.conflicts(&gained.difference(own));
            if !conflicts.is_empty() {
                return Err(conflicts);
            }
        }
        for entry in &mut self.0 {
            let fields = entry.fields.difference(&gained);
            entry.fields = fields.difference(&changes.removed);
        }
        if changes.are_none() && last == fields && time.is_some() {
            own.time = time;
        }
        self.put(own);
        Ok(merged)
    }

    /// What somebody would change of what others manage.
    fn conflicts(&self, gained: &Fields) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for entry in &self.0 {
            let paths = entry.fields.intersection(gained).paths();
            conflicts.extend(paths.into_iter().map(|path| Conflict {
                manager: entry.told(),
                path,
            }));
        }
        conflicts.sort_by(|one, other| one.manager.cmp(&other.manager));
        conflicts
    }

    /// Gives all fields of an object that nobody manages to one manager, before somebody applies to it.
    pub(crate) fn begin(&mut self, live: &Value, api_version: &str, time: &str) {
        let writer = Writer {
            manager: BEFORE.to_owned(),
            api_version: api_version.to_owned(),
            subresource: "",
            time: time.to_owned(),
        };
        let fields = values::fields_of(live);
        self.put(Entry::of(&writer, Operation::Update, fields));
    }

    fn take(&mut self, like: &Entry) -> Option<Entry> {
        let place = self
            .0
            .iter()
            .position(|entry| entry.identity() == like.identity())?;
        Some(self.0.remove(place))
    }

    /// Puts an entry in place of what its manager had, and lets those go that have nothing.
    fn put(&mut self, entry: Entry) {
        self.take(&entry);
        self.0.push(entry);
        *self = Self::sorted(std::mem::take(&mut self.0));
    }

    /// Makes one of the oldest entries of those who update, if there are many.
    fn cap(&mut self) {
        let is_updater = |entry: &&Entry| entry.operation == Operation::Update;
        while self.0.iter().filter(is_updater).count() > UPDATERS_MAX {
            let updaters = self.0.iter().filter(is_updater);
            let single = updaters.filter(|entry| entry.manager != ANCIENT);
            let oldest = single
                .min_by(|one, other| one.time.cmp(&other.time))
                .cloned();
            let Some(oldest) = oldest else {
                return;
            };
            self.take(&oldest);
            let mut ancient = Entry {
                manager: ANCIENT.to_owned(),
                subresource: String::new(),
                ..oldest
            };
            if let Some(before) = self.take(&ancient) {
                ancient.fields = ancient.fields.union(&before.fields);
            }
            self.put(ancient);
        }
    }
}

#[cfg(test)]
mod tests;
