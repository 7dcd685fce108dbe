//! RFC 6902: a list of operations, each applied to the result of those before it.

use std::collections::BTreeMap;

use crate::limits::{
    JSON_DEPTH_MAX, PATCH_COPIED_BYTES_MAX, PATCH_OPERATIONS_MAX, PATCH_STEPS_MAX,
};
use crate::{ErrorKind, Json, Violation};

use super::pointer::{Pointer, index};
use super::{Fault, Missing, at};

/// The document after all operations. The paths of faults begin at the list.
pub(super) fn applied(document: Json, patch: Json, missing: Missing) -> Result<Json, Fault> {
    let Json::Array(operations) = patch else {
        let rule = "must be a list of operations";
        return Err(Fault::Invalid(Violation::required(rule)));
    };
    if operations.len() > PATCH_OPERATIONS_MAX {
        let violation = Violation::too_many(operations.len(), PATCH_OPERATIONS_MAX);
        return Err(Fault::Invalid(violation));
    }
    let mut work = Work {
        root: document,
        missing,
        steps: PATCH_STEPS_MAX,
        copied: PATCH_COPIED_BYTES_MAX,
    };
    for (i, operation) in operations.into_iter().enumerate() {
        let field = format!("[{i}]");
        let operation = Operation::of(operation).map_err(|violation| at(&field, violation))?;
        work.apply(operation).map_err(|fault| match fault {
            Fault::Invalid(violation) => at(&field, violation),
            Fault::Refused(kind, message) => Fault::Refused(kind, format!("{field}: {message}")),
        })?;
    }
    Ok(work.root)
}

enum Operation {
    Add(Pointer, Json),
    Remove(Pointer),
    Replace(Pointer, Json),
    Move(Pointer, Pointer),
    Copy(Pointer, Pointer),
    Test(Pointer, Json),
}

impl Operation {
    fn of(operation: Json) -> Result<Self, Violation> {
        let Json::Object(mut members) = operation else {
            return Err(Violation::required("must be an operation"));
        };
        let Some(Json::String(name)) = members.remove("op") else {
            return Err(Violation::required("must name an operation").at("op"));
        };
        let path = pointer(&mut members, "path")?;
        let value = |members: &mut BTreeMap<String, Json>| {
            let value = members.remove("value");
            value.ok_or_else(|| Violation::required("must be given").at("value"))
        };
        match name.as_str() {
            "add" => Ok(Self::Add(path, value(&mut members)?)),
            "remove" => Ok(Self::Remove(path)),
            "replace" => Ok(Self::Replace(path, value(&mut members)?)),
            "move" => Ok(Self::Move(pointer(&mut members, "from")?, path)),
            "copy" => Ok(Self::Copy(pointer(&mut members, "from")?, path)),
            "test" => Ok(Self::Test(path, value(&mut members)?)),
            other => {
                let rule = "must be one of add, remove, replace, move, copy and test";
                Err(Violation::invalid(other, rule).at("op"))
            }
        }
    }
}

fn pointer(members: &mut BTreeMap<String, Json>, member: &str) -> Result<Pointer, Violation> {
    match members.remove(member) {
        Some(Json::String(text)) => Pointer::parse(&text).map_err(|fault| fault.at(member)),
        _ => Err(Violation::required("must be a JSON pointer").at(member)),
    }
}

/// The document, and the steps and copied bytes that are still allowed.
struct Work {
    root: Json,
    missing: Missing,
    steps: usize,
    copied: usize,
}

impl Work {
    fn apply(&mut self, operation: Operation) -> Result<(), Fault> {
        match operation {
            Operation::Add(path, value) => self.add(&path, value),
            Operation::Remove(path) => self.remove(&path, "path").map(drop),
            Operation::Replace(path, value) => {
                self.check_depth(&path, &value)?;
                let there = path.value_mut(&mut self.root);
                *there.ok_or_else(|| missing("path"))? = value;
                Ok(())
            }
            Operation::Move(from, path) if from.is_above(&path) => {
                let rule = "must not be inside of what is moved";
                Err(Fault::Invalid(Violation::required(rule).at("path")))
            }
            Operation::Move(from, path) if from == path => match from.value(&self.root) {
                Some(_) => Ok(()),
                None => Err(missing("from")),
            },
            Operation::Move(from, path) => {
                let value = self.remove(&from, "from")?;
                self.add(&path, value)
            }
            Operation::Copy(from, path) => {
                let value = from.value(&self.root).ok_or_else(|| missing("from"))?;
                let bytes = Measure::of(value).bytes;
                self.copied = self.copied.checked_sub(bytes).ok_or_else(too_large)?;
                let value = value.clone();
                self.add(&path, value)
            }
            Operation::Test(path, value) => {
                let there = match (path.value(&self.root), self.missing) {
                    (Some(there), _) => there,
                    (None, Missing::IsNull) if path.is_vacant(&self.root) => &Json::Null,
                    (None, Missing::IsNull | Missing::Fails) => return Err(missing("path")),
                };
                if *there == value {
                    return Ok(());
                }
                let message = "the test operation failed: the value at `path` differs".to_owned();
                Err(Fault::Refused(ErrorKind::Conflict, message))
            }
        }
    }

    fn add(&mut self, path: &Pointer, value: Json) -> Result<(), Fault> {
        self.check_depth(path, &value)?;
        if path.len() == 0 {
            self.root = value;
            return Ok(());
        }
        let (holder, step) = path.holder_mut(&mut self.root).ok_or_else(no_place)?;
        match holder {
            Json::Object(members) => {
                members.insert(step.to_owned(), value);
            }
            Json::Array(items) if step == "-" => items.push(value),
            Json::Array(items) => {
                let at = index(step).filter(|at| *at <= items.len());
                let at = at.ok_or_else(no_place)?;
                self.steps = spent(self.steps, items.len() - at)?;
                items.insert(at, value);
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                return Err(no_place());
            }
        }
        Ok(())
    }

    fn remove(&mut self, path: &Pointer, member: &str) -> Result<Json, Fault> {
        if path.len() == 0 {
            let rule = "must not be the whole document";
            return Err(Fault::Invalid(Violation::required(rule).at(member)));
        }
        let (holder, step) = path
            .holder_mut(&mut self.root)
            .ok_or_else(|| missing(member))?;
        let removed = match holder {
            Json::Object(members) => members.remove(step),
            Json::Array(items) => match index(step).filter(|at| *at < items.len()) {
                Some(at) => {
                    self.steps = spent(self.steps, items.len() - at)?;
                    Some(items.remove(at))
                }
                None => None,
            },
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
        };
        removed.ok_or_else(|| missing(member))
    }

    /// Checks the depth of a value at its new place. No value is ever deeper than a document may be, so that no
    /// recursive function runs out of stack.
    fn check_depth(&mut self, path: &Pointer, value: &Json) -> Result<(), Fault> {
        let measure = Measure::of(value);
        self.steps = spent(self.steps, measure.values)?;
        if path.len() + measure.depth <= JSON_DEPTH_MAX {
            return Ok(());
        }
        let rule = format_args!("must not be nested deeper than {JSON_DEPTH_MAX}");
        Err(Fault::Invalid(Violation::required(rule).at("value")))
    }
}

/// How large a value is.
#[derive(Clone, Copy, Default)]
struct Measure {
    /// The nesting of lists and objects.
    depth: usize,
    values: usize,
    bytes: usize,
}

impl Measure {
    fn of(value: &Json) -> Self {
        match value {
            Json::Null | Json::Bool(_) => Self::leaf(4),
            Json::Number(number) => Self::leaf(number.as_str().len()),
            Json::String(text) => Self::leaf(text.len() + 2),
            Json::Array(items) => Self::around(items.iter().map(Self::of)),
            Json::Object(members) => Self::around(members.iter().map(|(key, value)| {
                let mut measure = Self::of(value);
                measure.bytes += key.len() + 4;
                measure
            })),
        }
    }

    fn leaf(bytes: usize) -> Self {
        Self {
            depth: 0,
            values: 1,
            bytes,
        }
    }

    fn around(inner: impl Iterator<Item = Self>) -> Self {
        let outer = inner.fold(Self::leaf(2), |outer, inner| Self {
            depth: outer.depth.max(inner.depth),
            values: outer.values + inner.values,
            bytes: outer.bytes + inner.bytes + 1,
        });
        Self {
            depth: outer.depth + 1,
            ..outer
        }
    }
}

fn spent(left: usize, steps: usize) -> Result<usize, Fault> {
    left.checked_sub(steps).ok_or_else(too_large)
}

fn missing(member: &str) -> Fault {
    let rule = "must point to an existing value in the document";
    Fault::Invalid(Violation::required(rule).at(member))
}

/// A value can be added into an object that is there, or to a list that is there up to its end.
fn no_place() -> Fault {
    let rule =
        "must point into an existing object, or to an index up to the length of an existing array";
    Fault::Invalid(Violation::required(rule).at("path"))
}

fn too_large() -> Fault {
    let message = "the patch takes more work than one change may: make it smaller".to_owned();
    Fault::Refused(ErrorKind::TooLarge, message)
}
