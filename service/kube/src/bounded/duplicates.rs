//! The fields that a text names more than once, of which a document keeps the last.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// The most that are told of a text, as in Kubernetes.
const TOLD_MAX: usize = 100;

/// The most bytes of them, but for the last one: a short text can name long fields often.
const BYTES_MAX: usize = 1 << 16;

/// The fields that a text of JSON names more than once, each with its place in what could be read.
pub(crate) fn of_json(text: &[u8]) -> Vec<String> {
    let mut found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let _ = Within(&mut found).deserialize(&mut reader);
    found.told
}

/// The same of a text of YAML that was read before, within its bounds.
pub(crate) fn of_yaml(text: &[u8]) -> Vec<String> {
    let mut found = Found::default();
    let _ = synod_yaml::from_slice_seed(text, Within(&mut found));
    found.told
}

/// A step down into a document.
enum Step {
    Field(String),
    Item(usize),
}

#[derive(Default)]
struct Found {
    path: Vec<Step>,
    told: Vec<String>,
    bytes: usize,
}

impl Found {
    /// Tells of the place that is read.
    fn tell(&mut self) {
        if self.told.len() >= TOLD_MAX || self.bytes >= BYTES_MAX {
            return;
        }
        let mut place = String::new();
        for step in &self.path {
            match step {
                Step::Field(name) if place.is_empty() => place.push_str(name),
                Step::Field(name) => {
                    place.push('.');
                    place.push_str(name);
                }
                Step::Item(number) => {
                    // Writing to a text does not fail.
                    let _ = write!(place, "[{number}]");
                }
            }
        }
        let told = format!("duplicate field \"{place}\"");
        self.bytes += told.len();
        if !self.told.contains(&told) {
            self.told.push(told);
        }
    }
}

/// What is read at a place.
struct Within<'a>(&'a mut Found);

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut number = 0;
        loop {
            self.0.path.push(Step::Item(number));
            let item = items.next_element_seed(Within(&mut *self.0))?;
            self.0.path.pop();
            if item.is_none() {
                return Ok(());
            }
            number += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        // Whether a name was told of.
        let mut names: HashMap<String, bool> = HashMap::new();
        while let Some(name) = members.next_key::<String>()? {
            self.0.path.push(Step::Field(name.clone()));
            match names.get_mut(&name) {
                None => {
                    names.insert(name, false);
                }
                Some(is_told) => {
                    if !std::mem::replace(is_told, true) {
                        self.0.tell();
                    }
                }
            }
            members.next_value_seed(Within(&mut *self.0))?;
            self.0.path.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_that_is_named_again_is_told_once_with_its_place() {
        let text = br#"{"spec": {"a": 1, "a": 2, "a": 3}, "list": [0, {"b": {"c": 1, "c": 1}}], "spec": {}}"#;
        let expected = [
            r#"duplicate field "spec.a""#,
            r#"duplicate field "list[1].b.c""#,
            r#"duplicate field "spec""#,
        ];
        assert_eq!(of_json(text), expected);
        assert!(of_json(br#"{"a": {"a": [{"a": 1}, {"a": 1}]}}"#).is_empty());
        let text = b"spec:\n  a: 1\n  b: 2\n  a: 3\n";
        assert_eq!(of_yaml(text), [r#"duplicate field "spec.a""#]);
    }

    #[test]
    fn a_short_text_of_many_and_long_fields_is_told_of_briefly() {
        let fields: Vec<String> = (0..1_000)
            .flat_map(|number| vec![format!("\"f{number}\": 0"); 2])
            .collect();
        let text = format!("{{{}}}", fields.join(","));
        assert_eq!(of_json(text.as_bytes()).len(), TOLD_MAX);
        let text = format!("{{\"{}\": {text}}}", "x".repeat(10_000));
        let told = of_json(text.as_bytes());
        assert_eq!(told.len(), BYTES_MAX / 10_000 + 1);
    }
}
