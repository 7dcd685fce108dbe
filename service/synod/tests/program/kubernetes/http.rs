//! One request on a connection of its own, by HTTP/1.0: the answer ends where the connection does.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    /// Who calls.
    pub(super) token: Option<&'a str>,
    pub(super) body: Option<&'a Value>,
}

/// The status code of the answer, and its body.
pub(super) async fn answered(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &Request<'_>,
) -> io::Result<(u16, Vec<u8>)> {
    let body = request.body.map(Value::to_string).unwrap_or_default();
    let token = request
        .token
        .map(|token| format!("Authorization: Bearer {token}\r\n"));
    let head = format!(
        "{} {} HTTP/1.0\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n",
        request.method,
        request.path,
        body.len(),
        token.unwrap_or_default()
    );
    stream.write_all((head + &body).as_bytes()).await?;
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer).await {
        // Go closes the connection without a farewell of TLS.
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let head = end.map(|end| String::from_utf8_lossy(&answer[..end]).into_owned());
    let code = head.and_then(|head| head.split(' ').nth(1)?.parse().ok());
    let code = code.ok_or(io::ErrorKind::InvalidData)?;
    Ok((code, answer.split_off(end.unwrap_or_default() + 4)))
}
