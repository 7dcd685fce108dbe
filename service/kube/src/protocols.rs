//! HTTP/1.1 and HTTP/2 on one port, and the bounds of their connections.
//!
//! How a connection begins tells which of them it speaks; over TLS, both are offered by ALPN. The bounds of HTTP/2 are those of the
//! port for gRPC, where they mean the same: headers, streams that are reset, and pings that find dead connections. The door
//! counts the frames that carry no request.

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use synod_server::limits::{
    ANSWER_PIECE_BYTES, HEADER_BYTES_MAX, KUBE_HEADERS_MAX, KUBE_STREAMS_PER_CONNECTION_MAX,
    KUBE_WINDOW_BYTES_MAX, PING_INTERVAL, PING_PATIENCE, STREAMS_RESET_HERE_MAX,
    STREAMS_RESET_UNSERVED_MAX,
};

/// What serves each connection.
pub(crate) fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(KUBE_HEADERS_MAX)
        .max_buf_size(HEADER_BYTES_MAX as usize);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_PATIENCE)
        .max_concurrent_streams(KUBE_STREAMS_PER_CONNECTION_MAX)
        .max_header_list_size(HEADER_BYTES_MAX)
        .initial_stream_window_size(KUBE_WINDOW_BYTES_MAX / 2)
        .initial_connection_window_size(KUBE_WINDOW_BYTES_MAX)
        .max_send_buf_size(ANSWER_PIECE_BYTES)
        .max_pending_accept_reset_streams(STREAMS_RESET_UNSERVED_MAX)
        .max_local_error_reset_streams(STREAMS_RESET_HERE_MAX);
    builder
}
