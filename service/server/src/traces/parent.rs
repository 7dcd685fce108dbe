//! How the span of a caller is named: the Trace Context of the W3C. What vendors say of it in `tracestate` the spans of the
//! replica that is asked show, and those of the leader that it forwards to.

use std::str::FromStr as _;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

use super::SpanName;
use crate::limits::TRACE_STATE_BYTES_MAX;

/// The span of a caller as it names it; empty texts if it names none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parent<'a> {
    /// A `traceparent`.
    pub(crate) traceparent: &'a str,
    /// A `tracestate`.
    pub(crate) tracestate: &'a str,
}

/// The lengths in bytes of version, trace id, span id and flags, with the hyphens between them.
const LENGTH: usize = 2 + 1 + 32 + 1 + 16 + 1 + 2;

/// The version that nobody may use.
const FORBIDDEN: &str = "ff";

/// The span that a caller names; `None` if it names none.
pub(super) fn read(parent: Parent<'_>) -> Option<SpanContext> {
    let text = parent.traceparent;
    // A later version may add to the end.
    let (known, more) = text.split_at_checked(LENGTH)?;
    let mut parts = known.split('-');
    let mut part = |length: usize| {
        let part = parts.next().filter(|part| part.len() == length)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        part.bytes().all(is_digit).then_some(part)
    };
    let (version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
    let may_go_on = version != "00" && more.starts_with('-');
    if version == FORBIDDEN || !(more.is_empty() || may_go_on) {
        return None;
    }
    let flags = u8::from_str_radix(flags, 16).ok()?;
    let context = SpanContext::new(
        TraceId::from_hex(trace).ok()?,
        SpanId::from_hex(span).ok()?,
        TraceFlags::new(flags) & TraceFlags::SAMPLED,
        true,
        state(parent.tracestate),
    );
    context.is_valid().then_some(context)
}

/// What vendors say; what is no such text says nothing.
fn state(text: &str) -> TraceState {
    if text.is_empty() || text.len() > TRACE_STATE_BYTES_MAX {
        return TraceState::NONE;
    }
    TraceState::from_str(text).unwrap_or(TraceState::NONE)
}

/// The texts that name a span.
pub(super) fn write(context: &SpanContext) -> SpanName {
    let flags = u8::from(context.is_sampled());
    SpanName {
        traceparent: format!(
            "00-{}-{}-{flags:02x}",
            context.trace_id(),
            context.span_id()
        ),
        tracestate: context.trace_state().header(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(traceparent: &str) -> Option<SpanContext> {
        super::read(Parent {
            traceparent,
            tracestate: "",
        })
    }

    #[test]
    fn what_vendors_say_is_kept_if_it_can_be_read_and_is_short() {
        let said = |tracestate: &str| {
            let parent = Parent {
                traceparent: EXAMPLE,
                tracestate,
            };
            super::read(parent).unwrap().trace_state().header()
        };
        assert_eq!(said("one=a:1, two@b=c"), "one=a:1,two@b=c");
        let long = format!("one={}", "x".repeat(TRACE_STATE_BYTES_MAX - 4));
        assert_eq!(said(&long), "", "values have 256 bytes");
        let short = format!("one={0},two={0}", "x".repeat(250));
        assert_eq!(said(&short), short);
        for text in ["", "one", "one=a,two", &format!("{short},three=b")] {
            assert_eq!(said(text), "", "{text}");
        }
    }

    #[test]
    fn a_span_is_named_as_the_recommendation_says() {
        let context = read(EXAMPLE).unwrap();
        assert!(context.is_sampled() && context.is_remote());
        assert_eq!(write(&context).traceparent, EXAMPLE);
        assert_eq!(write(&context).tracestate, "");
        let unsampled = EXAMPLE.replace("-01", "-00");
        assert_eq!(write(&read(&unsampled).unwrap()).traceparent, unsampled);
    }

    #[test]
    fn a_later_version_may_say_more() {
        assert!(read(&format!("01{}-more", &EXAMPLE[2..])).is_some());
        assert!(read(&format!("01{}more", &EXAMPLE[2..])).is_none());
        assert!(read(&format!("{EXAMPLE}-more")).is_none());
    }

    #[test]
    fn what_names_no_span_is_passed_over() {
        for text in [
            "",
            "00",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-+1",
            "ä0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
