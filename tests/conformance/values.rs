//! Values as cases write them: with references to saved names, and short forms for long values.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde_json::Value;

/// The saved values, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(BTreeMap<String, Value>);

impl Names {
    /// Keeps a value under a name.
    pub(crate) fn save(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    fn look_up(&self, name: &str) -> Result<&Value, String> {
        let value = self.0.get(name);
        value.ok_or_else(|| format!("nothing was saved as `{name}`"))
    }

    /// A value with all references to names replaced and all short forms expanded.
    ///
    /// # Errors
    ///
    /// A name is unknown, or a value has the wrong type.
    pub(crate) fn fill(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => self.fill_text(text)?,
            Value::Array(items) => {
                let items: Result<_, String> = items.iter().map(|item| self.fill(item)).collect();
                Value::Array(items?)
            }
            Value::Object(fields) => {
                if let Some(written_out) = self.written_out(value)? {
                    return Ok(written_out);
                }
                let filled: Result<_, String> = fields
                    .iter()
                    .map(|(key, value)| Ok((text(&self.fill_text(key)?), self.fill(value)?)))
                    .collect();
                Value::Object(filled?)
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain.clone(),
        })
    }

    /// The expansion of `$base64` or `$repeat`, if the value is one of them.
    fn written_out(&self, value: &Value) -> Result<Option<Value>, String> {
        let Some((key, of)) = only_entry(value) else {
            return Ok(None);
        };
        Ok(Some(Value::String(match key {
            "$base64" => BASE64.encode(text(&self.fill(of)?).as_bytes()),
            "$repeat" => {
                let pair = of.as_array().map(Vec::as_slice);
                let Some([unit, times]) = pair else {
                    return Err(format!("$repeat takes a text and a number, not {of}"));
                };
                let times = times.as_u64().and_then(|times| usize::try_from(times).ok());
                let times =
                    times.ok_or_else(|| format!("$repeat takes a number of times, not {of}"))?;
                text(&self.fill(unit)?).repeat(times)
            }
            _ => return Ok(None),
        })))
    }

    fn fill_text(&self, written: &str) -> Result<Value, String> {
        let whole = written
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix('}'));
        if let Some(name) = whole.filter(|name| !name.contains(['+', '-', '{'])) {
            return self.look_up(name).cloned();
        }
        let mut filled = String::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after
                .split_once('}')
                .ok_or_else(|| format!("`{written}` does not end"))?;
            filled += before;
            filled += &self.counted(name)?;
            rest = after;
        }
        Ok(Value::String(filled + rest))
    }

    /// The value of `name`, `name+1` or `name-1`, as a text.
    fn counted(&self, name: &str) -> Result<String, String> {
        if let Some(name) = name.strip_suffix("+1") {
            let number = number_of(name, self.look_up(name)?)?;
            return Ok((number + 1).to_string());
        }
        if let Some(name) = name.strip_suffix("-1") {
            let number = number_of(name, self.look_up(name)?)?;
            return Ok(number.saturating_sub(1).to_string());
        }
        Ok(text(self.look_up(name)?))
    }
}

fn number_of(name: &str, value: &Value) -> Result<u64, String> {
    number(value).ok_or_else(|| format!("`{name}` is no number but {value}"))
}

/// The number that a value is, or whose digits it contains as a text.
pub(crate) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok()
        }
        _ => None,
    }
}

/// The key and the value of a mapping that has one entry.
pub(crate) fn only_entry(value: &Value) -> Option<(&str, &Value)> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields
        .iter()
        .next()
        .map(|(key, value)| (key.as_str(), value))
}

/// A value as it is put inside a text.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The part of a value at a path.
pub(crate) fn part<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path == "." {
        return Some(value);
    }
    path.split('.').try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        names.save("case", json!("c1"));
        names.save("revision", json!("41"));
        names.save("list", json!([1]));
        names
    }

    #[test]
    fn names_are_replaced_in_texts_and_as_wholes() {
        let filled = names().fill(
            &json!({"${case}-a": ["${revision+1}", "${revision-1}", "${list}", "x${case}y"]}),
        );
        assert_eq!(filled, Ok(json!({"c1-a": ["42", "40", [1], "xc1y"]})));
        assert!(names().fill(&json!("${absent}")).is_err());
        assert!(names().fill(&json!("${case+1}")).is_err());
    }

    #[test]
    fn what_is_awkward_to_write_is_written_out() {
        let filled = names().fill(&json!({"data": {"$base64": {"$repeat": ["ab", 2]}}}));
        assert_eq!(filled, Ok(json!({"data": "YWJhYg=="})));
        assert!(names().fill(&json!({"$repeat": "ab"})).is_err());
    }

    #[test]
    fn a_path_leads_through_mappings_and_lists() {
        let value = json!({"items": [{"a": 1}, {"a": 2}]});
        assert_eq!(part(&value, "items.1.a"), Some(&json!(2)));
        assert_eq!(part(&value, "."), Some(&value));
        assert_eq!(part(&value, "items.2"), None);
    }
}
