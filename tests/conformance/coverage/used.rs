//! Collects what the cases use.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::document::{Action, Expected, Group, Step};
use crate::values::only_entry;

/// What the cases use, by name.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// Methods of the protocol.
    pub(super) methods: BTreeSet<String>,
    /// Reasons of errors that are expected.
    pub(super) reasons: BTreeSet<String>,
    /// Kinds of steps.
    pub(super) kinds: BTreeSet<String>,
    /// Matchers.
    pub(super) matchers: BTreeSet<String>,
    /// Functions of handles, as in `lock.release`, and handles that the client itself opens.
    pub(super) functions: BTreeSet<String>,
}

impl Used {
    /// What these groups use.
    pub(super) fn of(groups: &[Group]) -> Self {
        let mut used = Self::default();
        for case in groups.iter().flat_map(|group| &group.cases) {
            used.steps(&case.steps, &mut BTreeMap::new());
        }
        used
    }

    /// Whether a case uses what `proof` names: a method, a function, a handle, or a kind of step.
    pub(super) fn has(&self, proof: &str) -> bool {
        let places = [&self.methods, &self.functions, &self.kinds];
        places.iter().any(|names| names.contains(proof))
    }

    /// `handles` maps each name in the case to the kind of its handle.
    fn steps(&mut self, steps: &[Step], handles: &mut BTreeMap<String, String>) {
        for step in steps {
            self.action(&step.action, handles);
            match &step.expected {
                Expected::Success => {}
                Expected::Answer(expected) => self.matched(expected),
                Expected::Error(expected) => {
                    let reason = expected.get("code").and_then(Value::as_str);
                    self.reasons.extend(reason.map(str::to_owned));
                    self.matched(expected);
                }
            }
        }
    }

    fn action(&mut self, action: &Action, handles: &mut BTreeMap<String, String>) {
        let kind = match action {
            Action::Call { method, .. } => {
                self.methods.insert(method.clone());
                "call"
            }
            Action::Finish { .. } => "finish",
            Action::Pages { method, .. } => {
                self.methods.insert(method.clone());
                "pages"
            }
            Action::Repeat { steps, .. } => {
                self.steps(steps, handles);
                "repeat"
            }
            Action::Watch { .. } => "watch",
            Action::Next { .. } => "next",
            Action::Resume { .. } => "resume",
            Action::Close { .. } => "close",
            Action::Open { handle, name, .. } => {
                self.functions.insert(handle.clone());
                // `lock` and `try_lock` give the same kind of handle.
                let handle = handle.strip_prefix("try_").unwrap_or(handle);
                handles.insert(name.clone(), handle.to_owned());
                "open"
            }
            Action::Do {
                function,
                of,
                opens,
                meanwhile,
                ..
            } => {
                let handle = handles.get(of).map_or("nothing", String::as_str);
                self.functions.insert(format!("{handle}.{function}"));
                let opened = match function.as_str() {
                    "campaign" => "lock",
                    "observe" => "observer",
                    _ => "permit",
                };
                if let Some(name) = opens {
                    handles.insert(name.clone(), opened.to_owned());
                }
                self.steps(meanwhile, handles);
                "do"
            }
            Action::Kill(_) => "kill",
            Action::Start => "start",
            Action::Restart => "restart",
        };
        self.kinds.insert(kind.to_owned());
    }

    fn matched(&mut self, expected: &Value) {
        if let Some((key, _)) = only_entry(expected).filter(|(key, _)| key.starts_with('$')) {
            self.matchers.insert(key.to_owned());
        }
        match expected {
            Value::Object(fields) => fields.values().for_each(|value| self.matched(value)),
            Value::Array(items) => items.iter().for_each(|value| self.matched(value)),
            _ => {}
        }
    }
}

/// The handles and functions in the table of `README.md`.
pub(super) fn listed_functions(readme: &str) -> BTreeSet<String> {
    let mut listed = BTreeSet::new();
    let mut handle = String::new();
    let rows = readme
        .lines()
        .skip_while(|line| !line.starts_with("| handle |"));
    for row in rows.skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (name, functions) = (cells[1].trim_matches('`'), cells[3]);
        if !name.is_empty() {
            name.clone_into(&mut handle);
            // Functions of other handles open these two.
            if !matches!(name, "permit" | "observer") {
                listed.insert(handle.clone());
            }
        }
        for function in functions
            .split(", ")
            .filter(|function| !function.is_empty())
        {
            listed.insert(format!("{handle}.{}", function.trim_matches('`')));
        }
    }
    listed
}
