"""The span of the application in which the client is called, which the replicas' own spans are below."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable
from typing import Any

Inject = Callable[[dict[str, str]], None]
CurrentSpan = Callable[[], Any]

_opentelemetry: tuple[CurrentSpan, Inject] | None = None


def caller() -> tuple[str, str | None] | None:
    """The `traceparent` and the `tracestate` of the span that is current in this thread or task, as the application's own
    propagators of OpenTelemetry name it. An application that has not imported OpenTelemetry has no span."""
    global _opentelemetry
    if "opentelemetry.trace" not in sys.modules:
        return None
    if _opentelemetry is None:
        _opentelemetry = _looked_up()
    current_span, inject = _opentelemetry
    # Propagators take longer to find out that there is none.
    if not current_span().get_span_context().is_valid:
        return None
    carrier: dict[str, str] = {}
    inject(carrier)
    traceparent = carrier.get("traceparent")
    return None if traceparent is None else (traceparent, carrier.get("tracestate"))


def _looked_up() -> tuple[CurrentSpan, Inject]:
    # Another thread may be importing it just now, which this waits for.
    current_span: CurrentSpan = importlib.import_module("opentelemetry.trace").get_current_span
    try:
        inject: Inject = importlib.import_module("opentelemetry.propagate").inject
    except Exception as error:  # It is loaded with whatever propagators the environment names.
        logging.getLogger("synod").warning("calls name no span of OpenTelemetry, which cannot be loaded: %s", error)
        return current_span, _nothing
    return current_span, inject


def _nothing(_: dict[str, str]) -> None:
    pass
