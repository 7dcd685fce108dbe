"""A collector of OpenTelemetry on loopback, which keeps the spans that are exported to it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

METHOD = "opentelemetry.proto.collector.trace.v1.TraceService", "Export"


class Collector:
    """It takes spans until it is closed."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._came = threading.Condition()
        self._server = grpc.server(ThreadPoolExecutor(4))
        service, method = METHOD
        handler = grpc.unary_unary_rpc_method_handler(
            self._export,
            request_deserializer=ExportTraceServiceRequest.FromString,
            response_serializer=ExportTraceServiceResponse.SerializeToString,
        )
        self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {method: handler})])
        self.url = f"http://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def _export(self, request: ExportTraceServiceRequest, _: object) -> ExportTraceServiceResponse:
        with self._came:
            self._spans.extend(_spans(request))
            self._came.notify_all()
        return ExportTraceServiceResponse()

    def below(self, span: int, names: Iterable[str]) -> list[Span]:
        """The spans right below one, once there are those with these names, and no others. There may be more of a name: a
        call that is tried again has a span for each try."""
        wanted = Counter(names)

        def found() -> list[Span]:
            return [each for each in self._spans if int.from_bytes(each.parent_span_id, "big") == span]

        def has_all(seen: Counter[str]) -> bool:
            return set(seen) == set(wanted) and seen >= wanted

        with self._came:
            came = self._came.wait_for(lambda: has_all(Counter(each.name for each in found())), timeout=60.0)
            assert came, f"not {wanted}, but {[each.name for each in found()]}"
            return found()

    def spans(self) -> list[Span]:
        """All spans that came."""
        with self._came:
            return list(self._spans)

    def close(self) -> None:
        """Ends it."""
        self._server.stop(None).wait()


def _spans(request: ExportTraceServiceRequest) -> Iterator[Span]:
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans
