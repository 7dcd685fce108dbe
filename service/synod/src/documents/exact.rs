//! Keeps all digits of numbers in documents whose parser reads a number as the nearest double.
//!
//! Where a document that was made from a stored one shows an unchanged number, the stored number is written back with
//! all its digits. A number that a writer types and that would lose digits is refused.

use serde_json::{Number, Value};
use synod_client::{Violation, Violations};
use synod_model::{Json, JsonNumber};
use synod_yaml::InexactNumber;

/// The text of a value, with numbers written as in `stored`, from which the value was made.
pub(super) fn text(value: &Value, stored: &[u8]) -> String {
    let stored = Json::parse(stored).ok();
    let mut text = String::new();
    write(value, stored.as_ref(), None, &mut text);
    text
}

/// The text of a value over several lines, with all digits of `stored`, which it shows; `None` if none would be lost.
pub(super) fn pretty(value: &Value, stored: &Json) -> Option<String> {
    let mut text = String::new();
    write(value, Some(stored), Some(0), &mut text);
    (text != format!("{value:#}")).then(|| text + "\n")
}

/// The numbers that have more digits than was kept of them, or that JSON cannot write.
pub(crate) fn lost(numbers: &[InexactNumber]) -> Violations {
    let mut found = Violations::new();
    for number in numbers {
        let kept = JsonNumber::parse(&number.number.to_string());
        let rule = match JsonNumber::parse(&number.text) {
            Some(exact) if Some(&exact) == kept.as_ref() => continue,
            Some(_) => {
                "has more digits than are kept: write it as a text, or change it with synod patch"
            }
            None => "is no number that JSON has, such as 0.5",
        };
        found.push(Violation::invalid(&number.text, rule).at(&number.field));
    }
    found
}

/// Adds a value to `text`: on one line, or over several lines at this level of indentation.
fn write(value: &Value, stored: Option<&Json>, level: Option<usize>, text: &mut String) {
    let within = level.map(|level| level + 1);
    match (value, stored) {
        (Value::Number(number), Some(Json::Number(exact))) if is_seen_as(exact, number) => {
            text.push_str(exact.as_str());
        }
        (Value::Array(items), _) if !items.is_empty() => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { "," });
                begin_line(within, text);
                write(item, counterpart(i, items, stored), within, text);
            }
            begin_line(level, text);
            text.push(']');
        }
        (Value::Object(members), _) if !members.is_empty() => {
            let known = match stored {
                Some(Json::Object(known)) => Some(known),
                _ => None,
            };
            text.push('{');
            for (i, (key, member)) in members.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { "," });
                begin_line(within, text);
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(if level.is_some() { ": " } else { ":" });
                let known = known.and_then(|known| known.get(key));
                write(member, known, within, text);
            }
            begin_line(level, text);
            text.push('}');
        }
        (other, _) => text.push_str(&other.to_string()),
    }
}

fn begin_line(level: Option<usize>, text: &mut String) {
    if let Some(level) = level {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", level));
    }
}

/// The stored item that a list's item was made from: the one at the same place, counted from either end.
fn counterpart<'a>(i: usize, items: &[Value], stored: Option<&'a Json>) -> Option<&'a Json> {
    let Some(Json::Array(known)) = stored else {
        return None;
    };
    let from_the_end = (known.len() + i).checked_sub(items.len());
    let there = [Some(i), from_the_end].into_iter().flatten();
    let mut there = there.filter_map(|place| known.get(place));
    let is_same = |known: &&Json| is_same(known, &items[i]);
    there.clone().find(is_same).or_else(|| there.next())
}

/// Whether a value is how a document shows the stored one.
fn is_same(stored: &Json, value: &Value) -> bool {
    match (stored, value) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(a), Value::Bool(b)) => a == b,
        (Json::String(a), Value::String(b)) => a == b,
        (Json::Number(exact), Value::Number(number)) => is_seen_as(exact, number),
        (Json::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Json::Object(a), Value::Object(b)) => {
            let same = |(key, a)| b.get(key).is_some_and(|b| is_same(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => false,
    }
}

fn is_seen_as(exact: &JsonNumber, number: &Number) -> bool {
    serde_json::from_str::<Number>(exact.as_str()).is_ok_and(|seen| seen == *number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const STORED: &str = r#"{"big":12345678901234567890123,"fine":0.12345678901234567890,"plain":1.50,"list":[1,0.12345678901234567890,{"n":12345678901234567890123}]}"#;

    fn seen() -> Value {
        serde_json::from_str(STORED).unwrap()
    }

    #[test]
    fn what_was_not_touched_is_written_as_it_is_stored() {
        assert_eq!(text(&seen(), STORED.as_bytes()), STORED);
        let mut changed = seen();
        changed["plain"] = json!(2);
        changed["new"] = json!({"a": [], "b\"": null});
        let written = text(&changed, STORED.as_bytes());
        let expected = STORED.replace("1.50", "2");
        let expected = expected.strip_suffix('}').unwrap();
        assert_eq!(
            written,
            format!(r#"{expected},"new":{{"a":[],"b\"":null}}}}"#)
        );
    }

    #[test]
    fn items_of_a_list_keep_their_digits_when_others_come_and_go() {
        for change in [
            |list: &mut Vec<Value>| drop(list.remove(0)),
            |list: &mut Vec<Value>| list.insert(0, json!("new")),
            |list: &mut Vec<Value>| list.push(json!(0.5)),
            |list: &mut Vec<Value>| list[0] = json!(7),
        ] {
            let mut changed = seen();
            change(changed["list"].as_array_mut().unwrap());
            let written = text(&changed, STORED.as_bytes());
            let list = written.split("list").nth(1).unwrap();
            assert!(list.contains("0.12345678901234567890"), "{written}");
            assert!(
                list.contains(r#"{"n":12345678901234567890123}"#),
                "{written}"
            );
        }
    }

    #[test]
    fn another_number_is_what_it_says() {
        let mut changed = seen();
        changed["big"] = json!(12_345_678_901_234_567_000_000_f64 * 2.0);
        changed["fine"] = json!(0.125);
        let written = text(&changed, STORED.as_bytes());
        assert!(written.contains(r#""fine":0.125,"#), "{written}");
        assert!(
            !written.starts_with(r#"{"big":12345678901234567890123"#),
            "{written}"
        );
    }

    #[test]
    fn a_number_that_would_lose_digits_is_found_by_its_place() {
        let found = |document: &str| {
            let documents = synod_yaml::documents(document).unwrap();
            lost(&documents[0].inexact)
                .iter()
                .map(|fault| fault.field.clone())
                .collect::<Vec<_>>()
        };
        let none: [&str; 0] = [];
        let plain =
            "{a: 1, b: -0.5, c: 1e5, d: 1.50, e: 0x1f, f: 18446744073709551615, g: [~, null, '']}";
        assert_eq!(found(plain), none);
        let seen = "{a: '0.12345678901234567890', b: 1.2345678901234568e+22, c: [], d: ~, e: }";
        assert_eq!(found(seen), none);
        let digits = "1234567890".repeat(5);
        let json = format!(r#"{{"a":[1,{{"b":0.12345678901234567890}},2],"c":{digits}}}"#);
        assert_eq!(found(&json), ["a[1].b", "c"]);
        let yaml = format!("a: [1, {{b: 0.12345678901234567890}}]\nc:\n  d: {digits}\n  e: +.5\n");
        assert_eq!(found(&yaml), ["a[1].b", "c.d", "c.e"]);
        let aliased = "a: &a {b: 0.12345678901234567890}\nc: *a\n";
        assert_eq!(found(aliased), ["a.b", "c.b"]);
    }
}
