"""A program that has set a tracer provider of OpenTelemetry: it makes calls, and prints the spans that it would export.

It is a process of its own, since a provider is set once. Its arguments are where nobody serves, and where replicas do.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import synod
from synod import v1

NOBODY, *REPLICAS = sys.argv[1:]
RESOURCE = v1.GroupResource(group="traced.example.io", resource="widgets")
LEASE = v1.LeaseKey(namespace="default", name="traced")


def shown(span: ReadableSpan) -> dict[str, Any]:
    """What the test looks at."""
    assert span.context is not None
    return {
        "name": span.name,
        "kind": span.kind.name,
        "id": span.context.span_id,
        "parent": span.parent and span.parent.span_id,
        "status": span.status.status_code.name,
        "description": span.status.description,
        "attributes": dict(span.attributes or {}),
        "events": [[event.name, dict(event.attributes or {})] for event in span.events],
        "is_ordered": all((span.start_time or 0) <= event.timestamp <= (span.end_time or 0) for event in span.events),
    }


def called() -> None:
    """Calls from a thread."""
    tracer = trace.get_tracer("application")
    with synod.Client(REPLICAS, timeout=60.0) as client, tracer.start_as_current_span("work"):
        client.collections.create(resource=RESOURCE, kind="Widget")
        try:
            client.collections.create(resource=RESOURCE, kind="Other")
        except synod.AlreadyExistsError:
            pass
        lock = client.lock(LEASE)
        lock.release()
        # It asks no replica.
        try:
            client.try_lock(v1.LeaseKey(namespace="default", name="Not A Name"))
        except synod.InvalidArgumentError:
            pass
    with synod.Client(REPLICAS, timeout=60.0) as client:
        client.cluster.get_settings()
    with synod.Client([NOBODY], timeout=5.0) as client:
        try:
            client.cluster.status()
        except synod.SynodError as error:
            print(error.code, file=sys.stderr)


async def awaited() -> None:
    """Calls from a task, of which one is given up."""
    async with synod.AsyncClient(REPLICAS, timeout=60.0) as client:
        await client.membership.list()
        async with await client.lock(LEASE):
            waiting = asyncio.ensure_future(client.lock(LEASE, holder="another"))
            while not (await client.leases.get(lease=LEASE)).waiters:
                pass
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)


def main(finished: Iterable[ReadableSpan]) -> None:
    """Prints what was finished."""
    json.dump([shown(span) for span in finished], sys.stdout)


if __name__ == "__main__":
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    called()
    asyncio.run(awaited())
    main(exporter.get_finished_spans())
