//! The HTTP answers that the gate gives in place of the server.

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use serde_json::json;

/// A `Status` object of Kubernetes.
pub(super) fn status<B: From<String>>(
    code: StatusCode,
    reason: &str,
    message: &str,
) -> Response<B> {
    let body = status_text(code, reason, message);
    response(code, STATUS_TYPE, body)
}

pub(super) const STATUS_TYPE: &str = "application/json";

/// A `Status` object of Kubernetes, as JSON text.
pub(super) fn status_text(code: StatusCode, reason: &str, message: &str) -> String {
    let body = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code.as_u16(),
    });
    body.to_string()
}

/// An answer of plain text.
pub(super) fn text<B: From<String>>(code: StatusCode, text: &str) -> Response<B> {
    response(code, "text/plain; charset=utf-8", text.to_owned())
}

fn response<B: From<String>>(
    code: StatusCode,
    content_type: &'static str,
    body: String,
) -> Response<B> {
    let mut response = Response::new(B::from(body));
    *response.status_mut() = code;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
