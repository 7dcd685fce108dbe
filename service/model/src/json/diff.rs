//! The difference of two values as a JSON patch (RFC 6902).

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Json, write};

/// The patch that turns `from` into `to`: an array of operations in canonical text. Lists are compared from both ends,
/// and the items between the equal ends are replaced one by one. `None` if it has more than `bytes_max` bytes: every
/// operation names its path, so a patch can be much longer than both values.
pub(super) fn patch(from: &Json, to: &Json, bytes_max: usize) -> Option<String> {
    let mut out = Operations {
        text: String::new(),
        bytes_max,
    };
    compare(from, to, &mut String::new(), &mut out);
    let text = format!("[{}]", out.text);
    (text.len() <= bytes_max).then_some(text)
}

struct Operations {
    text: String,
    bytes_max: usize,
}

impl Operations {
    /// Appends an operation. Beyond the limit nothing more is appended, since `patch` then answers `None`.
    fn push(&mut self, operation: &str, path: &str, value: Option<&Json>) {
        if self.text.len() > self.bytes_max {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(',');
        }
        write!(self.text, "{{\"op\":\"{operation}\",\"path\":").expect("a String takes all");
        write::string(path, &mut self.text);
        if let Some(value) = value {
            self.text.push_str(",\"value\":");
            self.text.push_str(&write::text(value));
        }
        self.text.push('}');
    }
}

fn compare(from: &Json, to: &Json, path: &mut String, out: &mut Operations) {
    match (from, to) {
        _ if from == to => {}
        (Json::Object(from), Json::Object(to)) => compare_objects(from, to, path, out),
        (Json::Array(from), Json::Array(to)) => compare_arrays(from, to, path, out),
        _ => out.push("replace", path, Some(to)),
    }
}

fn compare_objects(
    from: &BTreeMap<String, Json>,
    to: &BTreeMap<String, Json>,
    path: &mut String,
    out: &mut Operations,
) {
    for (key, before) in from {
        below(path, &escaped(key), |path| match to.get(key) {
            None => out.push("remove", path, None),
            Some(after) => compare(before, after, path, out),
        });
    }
    for (key, after) in to.iter().filter(|(key, _)| !from.contains_key(*key)) {
        below(path, &escaped(key), |path| {
            out.push("add", path, Some(after))
        });
    }
}

fn compare_arrays(from: &[Json], to: &[Json], path: &mut String, out: &mut Operations) {
    let shorter = from.len().min(to.len());
    let same = |pairs: &mut dyn Iterator<Item = (&Json, &Json)>| {
        pairs.take_while(|(before, after)| before == after).count()
    };
    let head = same(&mut from.iter().zip(to));
    let tail = same(&mut from.iter().rev().zip(to.iter().rev())).min(shorter - head);
    let (before, after) = (&from[head..from.len() - tail], &to[head..to.len() - tail]);
    let kept = before.len().min(after.len());
    for (i, (before, after)) in before.iter().zip(after).enumerate() {
        below(path, &(head + i).to_string(), |path| {
            compare(before, after, path, out)
        });
    }
    // Each removal moves the items behind it, so the last item is removed first.
    for i in (kept..before.len()).rev() {
        below(path, &(head + i).to_string(), |path| {
            out.push("remove", path, None)
        });
    }
    for (i, added) in after.iter().enumerate().skip(kept) {
        below(path, &(head + i).to_string(), |path| {
            out.push("add", path, Some(added))
        });
    }
}

fn below(path: &mut String, part: &str, visit: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(part);
    visit(path);
    path.truncate(length);
}

/// A key as it is written in a JSON pointer (RFC 6901).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
