//! Selectors of objects by their labels and by their names, in the syntax of Kubernetes.

mod fields;
mod syntax;

use std::collections::BTreeSet;
use std::fmt;

use crate::limits::{SELECTOR_BYTES_MAX, SELECTOR_REQUIREMENTS_MAX};
use crate::names::{label_value, qualified_name};
use crate::{Labels, Violation};
use syntax::{Token, Tokens};

pub use fields::FieldSelector;

/// A selector by labels. It matches if every requirement does; without requirements it matches all objects.
///
/// ```
/// use synod_model::{LabelSelector, Labels};
///
/// let selector = LabelSelector::parse("app = web, tier in (front, back), !old").unwrap();
/// let labels = Labels::parse([("app", "web"), ("tier", "back")]).unwrap();
/// assert!(selector.matches(&labels));
/// assert_eq!(selector.to_string(), "app=web,tier in (back,front),!old");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelSelector(Vec<Requirement>);

/// The requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    /// The label's key.
    pub key: String,
    /// The rule for its value.
    pub rule: Rule,
}

/// The rule for the value of one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The label exists with one of these values, of which there is at least one.
    In(BTreeSet<String>),
    /// The label does not have any of these values; also met if it does not exist.
    NotIn(BTreeSet<String>),
    /// The label exists.
    Exists,
    /// The label does not exist.
    Absent,
}

impl LabelSelector {
    /// Parses a selector: requirements with commas between them, each one of `key`, `!key`, `key=value`, `key==value`,
    /// `key!=value`, `key in (a,b)` and `key notin (a,b)`. An empty text selects all.
    ///
    /// # Errors
    ///
    /// Too long, as given or as `Display` writes it, too many requirements, not of this form, a key that is no
    /// qualified name or a value that is no label value.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.len() > SELECTOR_BYTES_MAX {
            return Err(Violation::too_long(SELECTOR_BYTES_MAX));
        }
        let found =
            requirements(&mut Tokens::of(text)).map_err(|rule| Violation::invalid(text, rule))?;
        if found.len() > SELECTOR_REQUIREMENTS_MAX {
            return Err(Violation::too_many(found.len(), SELECTOR_REQUIREMENTS_MAX));
        }
        let selector = Self(found);
        // The selector is stored, sent and shown as `Display` writes it, with a space in `key in (a,b)`, and must parse
        // again.
        if selector.to_string().len() > SELECTOR_BYTES_MAX {
            return Err(Violation::too_long(SELECTOR_BYTES_MAX));
        }
        Ok(selector)
    }

    /// The selector of objects that have all of these labels.
    #[must_use]
    pub fn of(labels: &Labels) -> Self {
        let required = labels.iter().map(|(key, value)| Requirement {
            key: key.to_owned(),
            rule: Rule::In([value.to_owned()].into()),
        });
        Self(required.collect())
    }

    /// The selector of the objects that both selectors match.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Its requirements, in the order in which they were written.
    pub fn requirements(&self) -> &[Requirement] {
        &self.0
    }

    /// Whether it selects all objects.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an object with these labels matches.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|requirement| requirement.holds(labels))
    }
}

impl Requirement {
    fn holds(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        match &self.rule {
            Rule::In(values) => value.is_some_and(|value| values.contains(value)),
            Rule::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Rule::Exists => value.is_some(),
            Rule::Absent => value.is_none(),
        }
    }
}

/// All requirements of a text, or what is wrong with it.
fn requirements(tokens: &mut Tokens<'_>) -> Result<Vec<Requirement>, String> {
    let mut found = Vec::new();
    if tokens.peek() == Token::End {
        return Ok(found);
    }
    loop {
        found.push(requirement(tokens)?);
        let token = tokens.next();
        if token == Token::End {
            return Ok(found);
        }
        if token != Token::Comma {
            return Err(format!("found '{token}', expected: ',' or the end"));
        }
    }
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<Requirement, String> {
    let absent = tokens.take(Token::Not);
    let token = tokens.next();
    let Token::Word(key) = token else {
        return Err(format!("found '{token}', expected: a label's key"));
    };
    let key = key.to_owned();
    qualified_name(&key).map_err(|rule| format!("key '{key}': {rule}"))?;
    let rule = if absent {
        Rule::Absent
    } else {
        rule_of(&key, tokens)?
    };
    Ok(Requirement { key, rule })
}

fn rule_of(key: &str, tokens: &mut Tokens<'_>) -> Result<Rule, String> {
    match tokens.peek() {
        Token::Comma | Token::End => return Ok(Rule::Exists),
        Token::Word(_)
        | Token::Not
        | Token::Equal
        | Token::NotEqual
        | Token::Open
        | Token::Close => {}
    }
    match tokens.next() {
        Token::Equal => Ok(Rule::In([one_value(key, tokens)?].into())),
        Token::NotEqual => Ok(Rule::NotIn([one_value(key, tokens)?].into())),
        Token::Word("in") => Ok(Rule::In(values(key, tokens)?)),
        Token::Word("notin") => Ok(Rule::NotIn(values(key, tokens)?)),
        other @ (Token::Word(_)
        | Token::Not
        | Token::Comma
        | Token::Open
        | Token::Close
        | Token::End) => Err(format!(
            "found '{other}', expected: '=', '==', '!=', 'in' or 'notin'"
        )),
    }
}

/// The value after `=`; no value is the empty one.
fn one_value(key: &str, tokens: &mut Tokens<'_>) -> Result<String, String> {
    match tokens.peek() {
        Token::Word(value) => {
            tokens.next();
            checked_value(key, value)
        }
        Token::Comma | Token::End => Ok(String::new()),
        other @ (Token::Not | Token::Equal | Token::NotEqual | Token::Open | Token::Close) => {
            Err(format!("found '{other}', expected: a value"))
        }
    }
}

/// The values in parentheses. Nothing between two commas is the empty value.
fn values(key: &str, tokens: &mut Tokens<'_>) -> Result<BTreeSet<String>, String> {
    if !tokens.take(Token::Open) {
        return Err(format!("found '{}', expected: '('", tokens.peek()));
    }
    if tokens.peek() == Token::Close {
        return Err("for 'in' and 'notin', the values cannot be empty".to_owned());
    }
    let mut values = BTreeSet::new();
    loop {
        let value = match tokens.peek() {
            Token::Word(value) => {
                tokens.next();
                checked_value(key, value)?
            }
            Token::Comma | Token::Close => String::new(),
            other @ (Token::Not | Token::Equal | Token::NotEqual | Token::Open | Token::End) => {
                return Err(format!("found '{other}', expected: a value"));
            }
        };
        values.insert(value);
        let token = tokens.next();
        if token == Token::Close {
            return Ok(values);
        }
        if token != Token::Comma {
            return Err(format!("found '{token}', expected: ',' or ')'"));
        }
    }
}

fn checked_value(key: &str, value: &str) -> Result<String, String> {
    label_value(value).map_err(|rule| format!("value '{value}' of '{key}': {rule}"))?;
    Ok(value.to_owned())
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, requirement) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.rule {
            Rule::Exists => f.write_str(key),
            Rule::Absent => write!(f, "!{key}"),
            Rule::In(values) if values.len() == 1 => write!(f, "{key}={}", listed(values)),
            Rule::NotIn(values) if values.len() == 1 => write!(f, "{key}!={}", listed(values)),
            Rule::In(values) => write!(f, "{key} in ({})", listed(values)),
            Rule::NotIn(values) => write!(f, "{key} notin ({})", listed(values)),
        }
    }
}

fn listed(values: &BTreeSet<String>) -> String {
    values
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests;
