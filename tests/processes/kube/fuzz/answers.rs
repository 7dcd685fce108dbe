//! What an answer has to be, whatever was asked.

use prost::Message as _;
use serde_json::Value;

use super::super::http::Answer;
use super::corpus::PROTOBUF;
use super::requests::Request;

/// The statuses of refusals, and the reasons that each has.
const REFUSALS: &[(u16, &[&str])] = &[
    (400, &["BadRequest"]),
    (401, &["Unauthorized"]),
    (403, &["Forbidden"]),
    (404, &["NotFound"]),
    (405, &["MethodNotAllowed"]),
    (406, &["NotAcceptable"]),
    (408, &["Timeout"]),
    (409, &["AlreadyExists", "Conflict"]),
    (410, &["Expired"]),
    (413, &["RequestEntityTooLarge"]),
    (415, &["UnsupportedMediaType"]),
    (422, &["Invalid"]),
    (429, &["TooManyRequests"]),
    (503, &["ServiceUnavailable"]),
    (504, &["Timeout"]),
];

/// The statuses of what was done.
const DONE: &[u16] = &[200, 201, 202, 304];

/// What a fault says that an election explains.
pub(super) const UNEXPLAINED: &str = "while nothing was wrong";

/// What HTTP itself refuses, without a body.
const OF_HTTP: &[u16] = &[400, 414, 431, 501];

/// The parts of `Status` that are looked at.
#[derive(Clone, PartialEq, prost::Message)]
struct Status {
    #[prost(string, tag = "2")]
    status: String,
    #[prost(string, tag = "3")]
    message: String,
    #[prost(string, tag = "4")]
    reason: String,
    #[prost(int32, tag = "6")]
    code: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Envelope {
    #[prost(message, optional, tag = "1")]
    names: Option<Names>,
    #[prost(bytes = "vec", tag = "2")]
    message: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Names {
    #[prost(string, tag = "1")]
    api_version: String,
    #[prost(string, tag = "2")]
    kind: String,
}

/// The document of an answer, if it has one.
///
/// # Errors
///
/// The answer is none that is documented, and why.
pub(super) fn check(request: &Request, answer: &Answer) -> Result<Value, String> {
    let code = answer.code;
    if DONE.contains(&code) {
        return done(request, answer);
    }
    if request.is_broken && answer.body.is_empty() && OF_HTTP.contains(&code) {
        return Ok(Value::Null);
    }
    let reasons = REFUSALS.iter().find(|(of, _)| *of == code);
    let (_, reasons) = reasons.ok_or_else(|| format!("{code} is no status that is documented"))?;
    if request.nature.is_of_head {
        return Ok(Value::Null);
    }
    let told = told(answer)?;
    if i64::from(told.code) != i64::from(code) || !reasons.contains(&told.reason.as_str()) {
        return Err(format!("{code} says {} {}", told.code, told.reason));
    }
    if told.status != "Failure" || told.message.is_empty() {
        return Err(format!("{code} is no failure: {:?}", told.status));
    }
    let says_when = answer.header("retry-after").is_some();
    if matches!(code, 429 | 503) && !says_when {
        return Err(format!("{code} does not say when to try again"));
    }
    // A revision that is still to come is told so; all else would be a replica that does not work.
    let future = "Timeout: Too large resource version: ";
    let is_of_future = code == 504 && told.message.starts_with(future);
    if code >= 500 && !is_of_future {
        return Err(format!("{code} {UNEXPLAINED}: {}", told.message));
    }
    serde_json::from_slice(&answer.body).or(Ok(Value::Null))
}

/// What was done is told as JSON, if it is told so.
fn done(request: &Request, answer: &Answer) -> Result<Value, String> {
    let form = answer.header("content-type").unwrap_or_default();
    let is_text =
        form.starts_with("application/json") && answer.header("content-encoding").is_none();
    if !is_text || answer.is_cut || answer.code == 304 || request.nature.is_of_head {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&answer.body)
        .map_err(|fault| format!("{}: no JSON: {fault}", answer.code))
}

/// The refusal in an answer.
fn told(answer: &Answer) -> Result<Status, String> {
    let code = answer.code;
    let form = answer.header("content-type").unwrap_or_default();
    if form.starts_with(PROTOBUF) {
        let bytes = answer.body.strip_prefix(b"k8s\0");
        let bytes = bytes.ok_or_else(|| format!("{code} is no protobuf"))?;
        let envelope = Envelope::decode(bytes).map_err(|fault| format!("{code}: {fault}"))?;
        let names = envelope.names.unwrap_or_default();
        if (names.api_version.as_str(), names.kind.as_str()) != ("v1", "Status") {
            return Err(format!("{code} tells a {}", names.kind));
        }
        return Status::decode(envelope.message.as_slice())
            .map_err(|fault| format!("{code}: {fault}"));
    }
    let document: Value = serde_json::from_slice(&answer.body)
        .map_err(|fault| format!("{code} ({form}): no JSON: {fault}"))?;
    if document["kind"] != "Status" || document["apiVersion"] != "v1" {
        return Err(format!("{code} tells a {}", document["kind"]));
    }
    let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
    Ok(Status {
        status: text("status"),
        message: text("message"),
        reason: text("reason"),
        code: document["code"]
            .as_i64()
            .and_then(|code| code.try_into().ok())
            .unwrap_or_default(),
    })
}
