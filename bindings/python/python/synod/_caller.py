"""The spans of calls in the traces of the application, which the replicas' own spans are below.

A call has a span of its own in the tracer provider of OpenTelemetry that the application has set, named and described as those of
the Rust client. Without a provider, the replicas' spans are right below the span that is current in the application. An
application that has not imported OpenTelemetry has no spans, and nothing of it is loaded.
"""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

Begun = tuple["str | None", "str | None", "CallSpan | None"]


class _Api(NamedTuple):
    """What is used of `opentelemetry-api`."""

    trace: Any
    tracer: Any
    inject: Any


_api: _Api | None = None


class CallSpan:
    """The span of one call."""

    def __init__(self, trace: Any, span: Any) -> None:
        self._trace = trace
        self._span = span

    def ended(self, failed: Sequence[tuple[str, str, int]], end: tuple[int | None, str | None] | None) -> None:
        """Ends it, with the tries that have failed: where, why and when; and with the code and the kind of the error that the
        call has ended with. `None`: it was given up."""
        span = self._span
        for endpoint, kind, at in failed:
            span.add_event("a try failed", {"server.address": endpoint, "error.type": kind}, timestamp=at)
        if end is not None:
            code, kind_at_end = end
            if code is not None:
                span.set_attribute("rpc.grpc.status_code", code)
            if kind_at_end is not None:
                span.set_attribute("error.type", kind_at_end)
                # The message may hold values.
                span.set_status(self._trace.StatusCode.ERROR)
        span.end()


def begin(request: str | None) -> Begun | None:
    """Begins the span of a call for this request, below the one that is current in this thread or task: its `traceparent` and
    `tracestate`, as the application's own propagators name it, and what ends it. A call without a request of its own, or in an
    application without a tracer provider, is in the span that is current."""
    global _api
    if "opentelemetry.trace" not in sys.modules:
        return None
    if _api is None:
        _api = _looked_up()
    trace, tracer, inject = _api
    current = trace.get_current_span()
    span = current if request is None else _started(_api, request)
    if not span.get_span_context().is_valid:
        # A tracer without a provider may have no span at all, in place of the current one.
        span = current
    # Propagators take longer to find out that there is none.
    if not span.get_span_context().is_valid:
        return None
    carrier: dict[str, str] = {}
    inject(carrier, context=trace.set_span_in_context(span))
    # One that is not sampled, or that no provider has made, is not exported.
    own = CallSpan(trace, span) if span is not current and span.is_recording() else None
    return carrier.get("traceparent"), carrier.get("tracestate"), own


def _started(api: _Api, request: str) -> Any:
    service, _, method = request.rpartition("/")
    attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method}
    return api.tracer.start_span(request, kind=api.trace.SpanKind.CLIENT, attributes=attributes)


def _looked_up() -> _Api:
    # Another thread may be importing it just now, which this waits for.
    trace = importlib.import_module("opentelemetry.trace")
    # It goes by the provider that is set, also later.
    tracer = trace.get_tracer("synod")
    try:
        inject = importlib.import_module("opentelemetry.propagate").inject
    except Exception as error:  # It is loaded with whatever propagators the environment names.
        logging.getLogger("synod").warning("calls name no span of OpenTelemetry, which cannot be loaded: %s", error)
        inject = _nothing
    return _Api(trace, tracer, inject)


def _nothing(_: dict[str, str], context: object = None) -> None:
    pass
