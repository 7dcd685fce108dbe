//! Reads the recordings of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::records::{Act, Answered, KeptStep, Mark, Sent, StoredObject, StoredWrite, files};
use crate::release::{kept_in_synod, upgraded};

/// Everything that the check reads.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The recording of each replica's watch; at least one.
    pub(super) watches: Vec<File<Value>>,
    pub(super) store: File<StoredWrite>,
    pub(super) objects: File<StoredObject>,
    pub(super) marks: File<Mark>,
    pub(super) clients: File<Answered>,
    /// What each API server sent to the store.
    pub(super) servers: Vec<File<Sent>>,
    /// What each API server did with objects that Synod keeps.
    pub(super) keepers: Vec<File<KeptStep>>,
    pub(super) acts: File<Act>,
    /// All members at the end.
    pub(super) members: Value,
    /// All storage versions at the end.
    pub(super) storage_versions: Value,
    /// All collections of Synod at the end.
    pub(super) collections: Value,
    /// All objects of each collection at the end, by resource.
    pub(super) listed: BTreeMap<String, Value>,
    /// The answers of the safety commands, by file.
    pub(super) verdicts: BTreeMap<String, Value>,
}

/// A file of JSON documents.
#[derive(Clone, Debug)]
pub(crate) struct File<T> {
    pub(super) name: String,
    pub(super) lines: Vec<Line<T>>,
}

/// A document of a file, with its line.
#[derive(Clone, Debug)]
pub(crate) struct Line<T> {
    /// The number of the line, from 1.
    pub(super) number: usize,
    /// The line as it is in the file.
    pub(super) text: String,
    pub(super) value: T,
}

const REPLICAS: std::ops::RangeInclusive<u64> = 1..=3;

impl Evidence {
    /// # Errors
    ///
    /// A file is missing, or a line cannot be parsed.
    pub(super) fn read(directory: &Path) -> Result<Self, String> {
        let watches = REPLICAS.map(|replica| File::read(directory, &files::watch(replica)));
        let listed = kept_in_synod().map(|resource| {
            let name = resource.name();
            let list = document(directory, &files::listed(&name))?;
            Ok((name, list))
        });
        Ok(Self {
            watches: watches.collect::<Result<_, _>>()?,
            store: File::read(directory, files::STORE)?,
            objects: File::read(directory, files::OBJECTS)?,
            marks: File::read(directory, files::MARKS)?,
            clients: File::read(directory, files::CLIENTS)?,
            servers: all(directory, files::is_of_server)?,
            keepers: all(directory, files::is_of_keeper)?,
            acts: File::read(directory, files::ACTS)?,
            members: document(directory, files::MEMBERS)?,
            storage_versions: document(directory, files::STORAGE_VERSIONS)?,
            collections: document(directory, files::COLLECTIONS)?,
            listed: listed.collect::<Result<_, String>>()?,
            verdicts: verdicts(directory)?,
        })
    }
}

impl<T: DeserializeOwned> File<T> {
    fn read(directory: &Path, name: &str) -> Result<Self, String> {
        Self::parse(name, &text(directory, name)?)
    }

    /// Parses the lines of a file.
    ///
    /// # Errors
    ///
    /// A line cannot be parsed.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, String> {
        let lines = (1..).zip(text.lines()).map(|(number, text)| {
            let value = serde_json::from_str(text)
                .map_err(|error| format!("{name}, line {number}: {error}: {text}"))?;
            Ok(Line {
                number,
                text: text.to_owned(),
                value,
            })
        });
        Ok(Self {
            name: name.to_owned(),
            lines: lines.collect::<Result<_, String>>()?,
        })
    }
}

impl<T> File<T> {
    /// The position and the text of a line, as the evidence of a finding.
    pub(super) fn at<'a>(&'a self, line: &'a Line<T>) -> impl fmt::Display + use<'a, T> {
        LinePosition {
            file: &self.name,
            number: line.number,
            text: &line.text,
        }
    }

    pub(super) fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.lines.iter().map(|line| &line.value)
    }
}

struct LinePosition<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

/// The number of characters of a line that are shown; the rest is in the file.
const SHOWN: usize = 600;

impl fmt::Display for LinePosition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.text.chars().take(SHOWN).collect();
        let more = if shown.len() < self.text.len() {
            "…"
        } else {
            ""
        };
        write!(f, "{}, line {}: {shown}{more}", self.file, self.number)
    }
}

/// The files with a wanted name, in the order of their names.
fn all<T: DeserializeOwned>(
    directory: &Path,
    is_wanted: fn(&str) -> bool,
) -> Result<Vec<File<T>>, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(fault)? {
        let name = entry
            .map_err(fault)?
            .file_name()
            .to_string_lossy()
            .into_owned();
        if is_wanted(&name) {
            names.push(name);
        }
    }
    names.sort();
    names
        .iter()
        .map(|name| File::read(directory, name))
        .collect()
}

/// The answers of the safety commands, by file.
fn verdicts(directory: &Path) -> Result<BTreeMap<String, Value>, String> {
    let names = files::ASKED.into_iter().flat_map(|when| {
        let drops = upgraded().map(move |resource| files::drop_verdict(&resource.name(), when));
        drops.chain([files::binary_verdict(when)])
    });
    let read = names.map(|name| Ok((name.clone(), document(directory, &name)?)));
    read.collect()
}

fn document(directory: &Path, name: &str) -> Result<Value, String> {
    let text = text(directory, name)?;
    serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))
}

fn text(directory: &Path, name: &str) -> Result<String, String> {
    let path = directory.join(name);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}
