//! Violations: the faults of a request, each with its field and the rule that the field's value
//! breaks.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Display};

use crate::limits::{QUOTED_BYTES_MAX, VIOLATIONS_MAX};

/// One broken rule at one field, worded as Kubernetes words its field errors.
///
/// ```
/// use synod_model::Violation;
///
/// let violation = Violation::invalid("V1", "must be lower case").at("servedVersions[0]");
/// assert_eq!(
///     violation.to_string(),
///     r#"servedVersions[0]: Invalid value: "V1": must be lower case"#
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Violation {
    /// The path of the field in the protocol's JSON form; empty for the value itself.
    pub field: String,
    /// The fault, with the value where that helps, and what would be legal.
    pub rule: String,
}

impl Violation {
    /// A text that breaks a rule. A long text is quoted in part.
    pub fn invalid(value: &str, rule: impl Display) -> Self {
        Self::of(format!("Invalid value: {}: {rule}", quoted(value)))
    }

    /// A number that breaks a rule.
    pub fn invalid_number(value: u64, rule: impl Display) -> Self {
        Self::of(format!("Invalid value: {value}: {rule}"))
    }

    /// A document that is no JSON, and why. The document is not quoted, since it may be large.
    pub fn not_json(rule: impl Display) -> Self {
        Self::of(format!("Invalid value: must be JSON: {rule}"))
    }

    /// A list of texts that breaks a rule as a whole.
    pub fn invalid_list(values: &[&str], rule: impl Display) -> Self {
        let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        let list = format!("[{}]", quoted.join(","));
        Self::of(format!("Invalid value: {}: {rule}", excerpt(&list)))
    }

    /// A value that is missing but must be given.
    pub fn required(rule: impl Display) -> Self {
        Self::of(format!("Required value: {rule}"))
    }

    /// A value that is given twice where it may be given once.
    pub fn duplicate(value: &str) -> Self {
        Self::of(format!("Duplicate value: {}", quoted(value)))
    }

    /// A list with more items than are allowed.
    pub fn too_many(items: usize, items_max: usize) -> Self {
        Self::of(format!(
            "Too many: {items}: must have at most {items_max} items"
        ))
    }

    /// A text with more bytes than are allowed.
    pub fn too_long(bytes_max: usize) -> Self {
        Self::of(format!("Too long: may not be more than {bytes_max} bytes"))
    }

    /// The same violation, at `path` or below it.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        let separator = match self.field.as_str() {
            "" => "",
            below if below.starts_with('[') || path.is_empty() => "",
            _ => ".",
        };
        self.field = format!("{path}{separator}{}", self.field);
        self
    }

    fn of(rule: String) -> Self {
        let field = String::new();
        Self { field, rule }
    }
}

impl Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.rule)
        } else {
            write!(f, "{}: {}", self.field, self.rule)
        }
    }
}

impl Error for Violation {}

/// All broken rules of a request, in the order of its fields.
///
/// It keeps the first [`VIOLATIONS_MAX`] and counts the rest, so that an answer to a hostile
/// request stays small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    kept: Vec<Violation>,
    left_out: usize,
}

impl Violations {
    /// No violation yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, violation: Violation) {
        if self.kept.len() < VIOLATIONS_MAX {
            self.kept.push(violation);
        } else {
            self.left_out += 1;
        }
    }

    /// The value of `result`, or nothing after its violations have been added at `path`.
    ///
    /// This is how a request is parsed so that all its faults are found: each field goes through
    /// here, and at the end [`Violations::into_result`] decides.
    pub fn parsed<T, E: Into<Self>>(
        &mut self,
        path: impl Display,
        result: Result<T, E>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(violations) => {
                self.extend_at(path, violations.into());
                None
            }
        }
    }

    /// The same violations, at `path` or below it.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        let mut found = Self::new();
        found.extend_at(path, self);
        found
    }

    /// Adds all of `others`, at `path` or below it.
    pub fn extend_at(&mut self, path: impl Display, others: Self) {
        self.left_out += others.left_out;
        // The path becomes a text only where there is a fault.
        for violation in others.kept {
            self.push(violation.at(&path.to_string()));
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many were found, with those that were only counted.
    pub fn len(&self) -> usize {
        self.kept.len() + self.left_out
    }

    /// The violations that were kept.
    pub(crate) fn into_kept(self) -> Vec<Violation> {
        self.kept
    }

    /// The violations that were kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.kept.iter()
    }
}

impl Display for Violations {
    /// The first violation and the number of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kept.first(), self.len()) {
            (None, _) => f.write_str("no violations"),
            (Some(first), 1) => first.fmt(f),
            (Some(first), found) => write!(f, "{first} (and {} more)", found - 1),
        }
    }
}

impl Error for Violations {}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        let kept = vec![violation];
        Self { kept, left_out: 0 }
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// As much of a text as an error message should carry.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    if text.len() <= QUOTED_BYTES_MAX {
        return Cow::Borrowed(text);
    }
    let cut = text.floor_char_boundary(QUOTED_BYTES_MAX);
    Cow::Owned(format!("{}...", &text[..cut]))
}

fn quoted(text: &str) -> String {
    format!("{:?}", excerpt(text))
}

#[cfg(test)]
mod tests;
