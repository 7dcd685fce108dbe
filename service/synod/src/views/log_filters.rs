//! Which events each replica logs.

use std::time::Duration;

use serde_json::{Value, json};
use synod_client::json as form;
use synod_client::{Error, LogFilterView};

use super::or_unset;
use crate::duration;
use crate::output::{Document, Table};

/// What the replica at an endpoint logs.
#[derive(Debug)]
pub(crate) struct EndpointLog {
    pub(crate) endpoint: String,
    pub(crate) answer: Result<LogFilterView, Error>,
}

/// `synod log-level`: one row for each replica that answered.
pub(crate) fn log_filters(answers: &[EndpointLog]) -> Document {
    let mut table = Table::new(["Endpoint", "Replica", "Filter", "Configured", "ReturnsIn"]);
    let mut names = Vec::new();
    for EndpointLog { endpoint, answer } in answers {
        let Ok(view) = answer else { continue };
        let log = &view.log_filter;
        table.row([
            endpoint.clone(),
            view.header.replica_id.to_string(),
            log.filter.clone(),
            log.configured.clone(),
            or_unset(log.remaining.map(in_seconds)),
        ]);
        names.push(view.header.replica_id.to_string());
    }
    Document {
        value: json!({ "answers": form::list(answers, answer_of) }),
        tables: vec![table.clone()],
        wide: vec![table],
        names,
    }
}

/// A time of many milliseconds, rounded up to whole seconds.
fn in_seconds(left: Duration) -> String {
    let seconds = left.as_millis().div_ceil(1_000);
    duration::text(Duration::from_secs(
        u64::try_from(seconds).unwrap_or(u64::MAX / 1_000),
    ))
}

fn answer_of(one: &EndpointLog) -> Value {
    let document = form::JsonObject::new().with("endpoint", one.endpoint.as_str());
    let document = match &one.answer {
        Ok(view) => document
            .with("header", form::of(&view.header))
            .with("logFilter", form::of(&view.log_filter)),
        Err(error) => document.with("error", super::error(error)),
    };
    document.into()
}
