//! Reads the files of cases: groups, cases, steps. Every unknown key is a fault.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

/// A file of cases.
#[derive(Debug)]
pub(crate) struct Group {
    /// The file's name.
    pub(crate) name: String,
    /// Its cases.
    pub(crate) cases: Vec<Case>,
}

/// A case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Its sentence.
    pub(crate) name: String,
    /// Whether the case runs on replicas of its own.
    pub(crate) is_alone: bool,
    /// Its steps, in order.
    pub(crate) steps: Vec<Step>,
}

/// A step of a case.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What is done.
    pub(crate) action: Action,
    /// The result that it must have.
    pub(crate) expected: Expected,
    /// The parts of the answer to save: for each the name, and the path to it.
    pub(crate) saved: Vec<(String, String)>,
    /// Whether it is repeated until the result is as expected.
    pub(crate) until: bool,
    /// The name of the step if it runs in the background while later steps run.
    pub(crate) behind: Option<String>,
    /// The caller's timeout.
    pub(crate) timeout: Option<Duration>,
}

/// The result that a step must have.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// Anything but an error.
    Success,
    /// An answer that matches this.
    Answer(Value),
    /// An error that matches this.
    Error(Value),
}

/// The action of a step.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Calls an RPC.
    Call { method: String, request: Value },
    /// Waits for the result of a background step.
    Finish { name: String },
    /// Calls a listing RPC for all pages.
    Pages {
        method: String,
        request: Value,
        items: String,
    },
    /// Runs steps several times.
    Repeat { times: u64, steps: Vec<Step> },
    /// Opens a watch.
    Watch {
        name: String,
        options: Value,
        is_list: bool,
    },
    /// Takes the next message of a watch.
    Next { name: String },
    /// Opens a watch again at the position of an earlier one.
    Resume { name: String },
    /// Drops a handle.
    Close { name: String },
    /// Opens a handle.
    Open {
        handle: String,
        name: String,
        with: Value,
    },
    /// Calls a function of a handle.
    Do {
        function: String,
        of: String,
        opens: Option<String>,
        with: Value,
        meanwhile: Vec<Step>,
    },
    /// Kills a replica.
    Kill(Role),
    /// Starts the replicas that were killed.
    Start,
    /// Kills all replicas and starts them.
    Restart,
}

/// Which replica.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The leader.
    Leader,
    /// Some follower.
    Follower,
    /// The replica that answered last.
    Connected,
}

/// Every kind of step, by its key.
pub(crate) const KINDS: [&str; 13] = [
    "call", "finish", "pages", "repeat", "watch", "next", "resume", "close", "open", "do", "kill",
    "start", "restart",
];

/// All groups, by name.
///
/// # Panics
///
/// A file cannot be read, or breaks a rule of the format.
pub(crate) fn groups() -> Vec<Group> {
    let documents = documents("tests/conformance").into_iter();
    let groups = documents.map(|(name, document)| Group {
        cases: cases(document).unwrap_or_else(|fault| panic!("{name}.yaml: {fault}")),
        name,
    });
    groups.collect()
}

/// The documents in a folder of the checkout, each with the name of its file.
///
/// # Panics
///
/// A file cannot be read, or is no YAML.
pub(crate) fn documents(folder: &str) -> Vec<(String, Value)> {
    let entries = std::fs::read_dir(synod_tests::checkout().join(folder));
    let entries = entries.expect("the folder of the cases can be read");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    paths.sort_unstable();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("a file of cases can be read");
        let document = synod_yaml::from_str(&text);
        let document = document.unwrap_or_else(|error| panic!("{name}.yaml: {error}"));
        (name.into_owned(), document)
    };
    paths.into_iter().map(read).collect()
}

/// The cases of a document.
///
/// # Errors
///
/// Which rule of the format is broken, and where.
pub(crate) fn cases(document: Value) -> Result<Vec<Case>, String> {
    let mut fields = Fields::of(document)?;
    let cases: Result<Vec<Case>, String> = fields.list("cases")?.into_iter().map(case).collect();
    let cases = cases?;
    fields.end()?;
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two cases say \"{}\"", pair[0])),
        None => Ok(cases),
    }
}

fn case(document: Value) -> Result<Case, String> {
    let mut fields = Fields::of(document)?;
    let name = fields.text("case")?;
    let parsed = (|| {
        let is_alone = match fields.optional_text("cluster")?.as_deref() {
            None => false,
            Some("own") => true,
            Some(other) => return Err(format!("a cluster is `own`, not `{other}`")),
        };
        let steps = steps(fields.list("steps")?)?;
        fields.end()?;
        Ok(Case {
            name: name.clone(),
            is_alone,
            steps,
        })
    })();
    parsed.map_err(|fault| format!("\"{name}\": {fault}"))
}

fn steps(documents: Vec<Value>) -> Result<Vec<Step>, String> {
    let numbered = documents.into_iter().zip(1..);
    numbered
        .map(|(document, number)| step(document).map_err(|fault| format!("step {number}: {fault}")))
        .collect()
}

fn step(document: Value) -> Result<Step, String> {
    let mut fields = Fields::of(document)?;
    let kinds: Vec<&str> = KINDS
        .into_iter()
        .filter(|kind| fields.0.contains_key(*kind))
        .collect();
    let [kind] = kinds[..] else {
        return Err(format!("it is of one kind of {KINDS:?}, not {kinds:?}"));
    };
    let action = action(kind, &mut fields)?;
    let expected = match (fields.0.remove("answer"), fields.0.remove("error")) {
        (None, None) => Expected::Success,
        (Some(answer), None) => Expected::Answer(answer),
        (None, Some(error)) => Expected::Error(error),
        (Some(_), Some(_)) => return Err("it expects both an answer and an error".to_owned()),
    };
    let mut saved = Vec::new();
    if let Some(save) = fields.0.remove("save") {
        for (name, path) in Fields::of(save)?.0 {
            let path = path
                .as_str()
                .ok_or_else(|| format!("the path of {name} is no text"))?;
            saved.push((name, path.to_owned()));
        }
    }
    let is_repeatable = matches!(action, Action::Call { .. } | Action::Do { .. });
    let (until, behind) = (fields.flag("until")?, fields.optional_text("behind")?);
    if (until || behind.is_some()) && !is_repeatable {
        return Err("only a call or a function can be waited for, or be done behind".to_owned());
    }
    let timeout = fields.0.remove("timeout_ms");
    let timeout = timeout.map(|millis| millis.as_u64().ok_or("timeout_ms is no number"));
    let timeout = timeout.transpose()?.map(Duration::from_millis);
    fields.end()?;
    Ok(Step {
        action,
        expected,
        saved,
        until,
        behind,
        timeout,
    })
}

fn action(kind: &str, fields: &mut Fields) -> Result<Action, String> {
    Ok(match kind {
        "call" => Action::Call {
            method: fields.text("call")?,
            request: fields.mapping("request"),
        },
        "finish" => Action::Finish {
            name: fields.text("finish")?,
        },
        "pages" => Action::Pages {
            method: fields.text("pages")?,
            request: fields.mapping("request"),
            items: fields.text("items")?,
        },
        "repeat" => Action::Repeat {
            times: fields
                .0
                .remove("repeat")
                .and_then(|times| times.as_u64())
                .ok_or("repeat is no number")?,
            steps: steps(fields.list("steps")?)?,
        },
        "watch" => Action::Watch {
            name: fields.text("watch")?,
            options: fields.mapping("options"),
            is_list: fields.word("from", "list")?,
        },
        "next" => Action::Next {
            name: fields.text("next")?,
        },
        "resume" => Action::Resume {
            name: fields.text("resume")?,
        },
        "close" => Action::Close {
            name: fields.text("close")?,
        },
        "open" => Action::Open {
            handle: fields.text("open")?,
            name: fields.text("as")?,
            with: fields.mapping("with"),
        },
        "do" => function(fields)?,
        "kill" => Action::Kill(match fields.text("kill")?.as_str() {
            "leader" => Role::Leader,
            "follower" => Role::Follower,
            "connected" => Role::Connected,
            other => return Err(format!("nobody is called `{other}`")),
        }),
        "start" => match fields.word("start", "killed")? {
            true => Action::Start,
            false => return Err("what is started is `killed`".to_owned()),
        },
        _ => match fields.word("restart", "all")? {
            true => Action::Restart,
            false => return Err("what is restarted is `all`".to_owned()),
        },
    })
}

fn function(fields: &mut Fields) -> Result<Action, String> {
    let mut with = fields.mapping("with");
    let meanwhile = with
        .as_object_mut()
        .and_then(|with| with.remove("meanwhile"));
    let meanwhile = match meanwhile {
        None => Vec::new(),
        Some(Value::Array(documents)) => steps(documents)?,
        Some(other) => {
            return Err(format!(
                "what is done meanwhile is a list of steps, not {other}"
            ));
        }
    };
    Ok(Action::Do {
        function: fields.text("do")?,
        of: fields.text("of")?,
        opens: fields.optional_text("as")?,
        with,
        meanwhile,
    })
}

/// The keys of a mapping, each taken once.
struct Fields(Map<String, Value>);

impl Fields {
    fn of(document: Value) -> Result<Self, String> {
        match document {
            Value::Object(fields) => Ok(Self(fields)),
            other => Err(format!("a mapping is expected, not {other}")),
        }
    }

    fn optional_text(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.0.remove(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("`{key}` is a text, not {other}")),
        }
    }

    fn text(&mut self, key: &str) -> Result<String, String> {
        let text = self.optional_text(key)?;
        text.ok_or_else(|| format!("`{key}` is missing"))
    }

    fn list(&mut self, key: &str) -> Result<Vec<Value>, String> {
        match self.0.remove(key) {
            Some(Value::Array(items)) => Ok(items),
            other => Err(format!("`{key}` is a list, not {other:?}")),
        }
    }

    /// A mapping, which is empty if it is left out.
    fn mapping(&mut self, key: &str) -> Value {
        let mapping = self.0.remove(key);
        mapping.unwrap_or_else(|| Value::Object(Map::new()))
    }

    fn flag(&mut self, key: &str) -> Result<bool, String> {
        match self.0.remove(key) {
            None => Ok(false),
            Some(Value::Bool(true)) => Ok(true),
            Some(other) => Err(format!("`{key}` is `true` or left out, not {other}")),
        }
    }

    /// Whether the key is there. Its only allowed value is `word`.
    fn word(&mut self, key: &str, word: &str) -> Result<bool, String> {
        match self.optional_text(key)? {
            None => Ok(false),
            Some(text) if text == word => Ok(true),
            Some(text) => Err(format!("`{key}` is `{word}`, not `{text}`")),
        }
    }

    fn end(self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("`{key}` is not known here")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_step(step: Value) -> Result<Vec<Case>, String> {
        cases(json!({"cases": [{"case": "It holds.", "steps": [step]}]}))
    }

    #[test]
    fn a_step_of_each_kind_is_read() {
        for step in [
            json!({"call": "a/B", "request": {}, "until": true, "answer": {"a": 1}, "save": {"x": "a"}}),
            json!({"repeat": 2, "steps": [{"close": "w"}]}),
            json!({"watch": "w", "from": "list"}),
            json!({"do": "release", "of": "lock", "with": {"meanwhile": [{"start": "killed"}]}}),
            json!({"kill": "leader"}),
            json!({"restart": "all"}),
        ] {
            assert!(of_step(step.clone()).is_ok(), "{step}");
        }
    }

    #[test]
    fn what_is_not_known_is_a_fault_that_is_named() {
        for (step, fault) in [
            (json!({"sleep": 1}), "one kind"),
            (json!({"call": "a/B", "close": "w"}), "one kind"),
            (json!({"call": "a/B", "anwser": {}}), "`anwser`"),
            (json!({"call": "a/B", "answer": {}, "error": {}}), "both"),
            (json!({"close": "w", "until": true}), "waited for"),
            (json!({"kill": "everybody"}), "everybody"),
            (json!({"repeat": 2, "steps": [{"sleep": 1}]}), "one kind"),
        ] {
            let refused = of_step(step.clone()).expect_err("the step breaks a rule");
            assert!(refused.contains(fault), "{step}: {refused}");
        }
        let twice = json!({"case": "It holds.", "steps": []});
        assert!(cases(json!({"cases": [twice, twice]})).is_err());
    }
}
