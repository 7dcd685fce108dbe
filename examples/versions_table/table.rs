//! The table: the state of each resource, and how it is printed.

use std::collections::BTreeMap;
use std::fmt;

use synod_client::{
    ApiVersion, ChangeType, Events, GroupResource, MemberId, StorageVersionChange,
    StorageVersionStatus, WatchedObject,
};

/// All resources that are reported.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The rows, by the name of their storage version.
    rows: BTreeMap<String, Row>,
}

#[derive(Debug)]
struct Row {
    resource: GroupResource,
    status: StorageVersionStatus,
    encodings: BTreeMap<MemberId, Option<ApiVersion>>,
}

impl Table {
    /// Applies changes.
    pub(crate) fn follow(&mut self, changes: Events) {
        for event in changes.events {
            match event.object {
                Some(WatchedObject::StorageVersion(change))
                    if event.change != ChangeType::Removed =>
                {
                    self.change(event.name, change);
                }
                // The storage version was removed, whether or not the watch saw the removal itself.
                _ => {
                    self.rows.remove(&event.name);
                }
            }
        }
    }

    /// A change carries the entries that are new or changed; the others are as they were.
    fn change(&mut self, name: String, change: StorageVersionChange) {
        let row = self.rows.entry(name).or_insert_with(|| Row {
            resource: change.resource.clone(),
            status: change.status.clone(),
            encodings: BTreeMap::new(),
        });
        row.status = change.status;
        for entry in change.changed_entries {
            row.encodings.insert(entry.member, entry.encoding);
        }
        for member in &change.removed_members {
            row.encodings.remove(member);
        }
    }

    /// The version that is agreed on for a resource.
    pub(crate) fn agreed(&self, resource: &GroupResource) -> Option<&ApiVersion> {
        let row = self.rows.values().find(|row| row.resource == *resource)?;
        row.status.agreed.as_ref()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |version: &Option<ApiVersion>| {
            version.as_ref().map_or("-", ApiVersion::as_str).to_owned()
        };
        writeln!(
            f,
            "{:40} {:10} {:10} members",
            "resource", "selected", "agreed"
        )?;
        for row in self.rows.values() {
            let (selected, agreed) = (word(&row.status.selected), word(&row.status.agreed));
            write!(
                f,
                "{:40} {selected:10} {agreed:10}",
                row.resource.to_string()
            )?;
            for (member, encoding) in &row.encodings {
                write!(f, " {member}={}", word(encoding))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
