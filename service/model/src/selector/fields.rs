//! Selectors by an object's name and namespace.

use std::fmt;

use crate::limits::{SELECTOR_BYTES_MAX, SELECTOR_REQUIREMENTS_MAX};
use crate::{NamespacedName, Violation};

/// A selector by name and namespace. Without requirements it matches all objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector(Vec<FieldRequirement>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FieldRequirement {
    field: Field,
    equal: bool,
    value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Field {
    Name,
    Namespace,
}

impl FieldSelector {
    /// Parses a selector: requirements with commas between them, each one of `field=value`, `field==value` and
    /// `field!=value`, where the field is `metadata.name` or `metadata.namespace`.
    ///
    /// # Errors
    ///
    /// Too long, too many requirements, not of this form, or another field.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.len() > SELECTOR_BYTES_MAX {
            return Err(Violation::too_long(SELECTOR_BYTES_MAX));
        }
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        let found: Vec<FieldRequirement> = parts
            .map(|part| requirement(part).map_err(|rule| Violation::invalid(text, rule)))
            .collect::<Result<_, _>>()?;
        if found.len() > SELECTOR_REQUIREMENTS_MAX {
            return Err(Violation::too_many(found.len(), SELECTOR_REQUIREMENTS_MAX));
        }
        Ok(Self(found))
    }

    /// Whether it selects all objects.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name that it requires, if it requires one: then other names need not be looked at.
    pub fn name(&self) -> Option<&str> {
        let named = |wanted: &&FieldRequirement| wanted.field == Field::Name && wanted.equal;
        self.0
            .iter()
            .find(named)
            .map(|wanted| wanted.value.as_str())
    }

    /// The namespace that it requires, if it requires one.
    pub fn namespace(&self) -> Option<&str> {
        let named = |wanted: &&FieldRequirement| wanted.field == Field::Namespace && wanted.equal;
        self.0
            .iter()
            .find(named)
            .map(|wanted| wanted.value.as_str())
    }

    /// Whether an object of this name matches. An object without a namespace has the empty one.
    pub fn matches(&self, name: &NamespacedName) -> bool {
        self.0.iter().all(|wanted| {
            let value = match wanted.field {
                Field::Name => name.name(),
                Field::Namespace => name.namespace().unwrap_or_default(),
            };
            (value == wanted.value) == wanted.equal
        })
    }
}

fn requirement(text: &str) -> Result<FieldRequirement, String> {
    let (field, equal, value) = if let Some((field, value)) = text.split_once("!=") {
        (field, false, value)
    } else if let Some((field, value)) = text.split_once("==") {
        (field, true, value)
    } else if let Some((field, value)) = text.split_once('=') {
        (field, true, value)
    } else {
        return Err(format!("'{text}' has no '=', '==' or '!='"));
    };
    let field = match field.trim() {
        "metadata.name" => Field::Name,
        "metadata.namespace" => Field::Namespace,
        other => {
            return Err(format!(
                "'{other}' is no field to select by: 'metadata.name' and 'metadata.namespace' are"
            ));
        }
    };
    Ok(FieldRequirement {
        field,
        equal,
        value: value.trim().to_owned(),
    })
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, wanted) in self.0.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let field = match wanted.field {
                Field::Name => "metadata.name",
                Field::Namespace => "metadata.namespace",
            };
            let sign = if wanted.equal { "=" } else { "!=" };
            write!(f, "{comma}{field}{sign}{}", wanted.value)?;
        }
        Ok(())
    }
}
