"""Calls name the span of OpenTelemetry that is current where they are made."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from collector import Collector
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState
from replicas import BINARY, Replicas

import synod
from synod import v1

CREATE = "synod.v1.Collections/Create"
SETTINGS = "synod.v1.Cluster/GetSettings"

ABOVE = SpanContext(
    trace_id=0x0AF7651916CD43DD8448EB211C80319C,
    span_id=0xB7AD6B7169203331,
    is_remote=True,
    trace_flags=TraceFlags(TraceFlags.SAMPLED),
    trace_state=TraceState([("vendor", "said")]),
)
"""The span that the application is called in."""

tracer = TracerProvider(shutdown_on_exit=False).get_tracer("application")


@dataclass(frozen=True)
class Traced:
    """Replicas that export what they trace, and who takes it."""

    replicas: Replicas
    collector: Collector


@pytest.fixture(scope="module")
def traced() -> Iterator[Traced]:
    collector = Collector()
    replicas = Replicas(flags=["--otlp-endpoint", collector.url])
    yield Traced(replicas, collector)
    replicas.close()
    collector.close()


@pytest.fixture
def client(traced: Traced, name: str) -> Iterator[synod.Client]:
    with synod.Client(traced.replicas.endpoints, timeout=60.0) as client:
        # The first change opens the session, which would be a span, too.
        _create(client, name + "-session")
        yield client


def _create(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget")


def _is_shown(traced: Traced, span: trace.Span, *names: str) -> None:
    """The replicas' spans of these names, and no others, are right below a span."""
    context = span.get_span_context()
    for seen in traced.collector.below(context.span_id, names):
        assert int.from_bytes(seen.trace_id, "big") == context.trace_id
        assert seen.trace_state == context.trace_state.to_header()


def spans_of_replicas_are_below_that_of_the_thread_which_calls(
    traced: Traced, client: synod.Client, name: str
) -> None:
    with trace.use_span(NonRecordingSpan(ABOVE)), tracer.start_as_current_span("work") as work:
        _create(client, name + "-1")
        with tracer.start_as_current_span("part") as part:
            client.cluster.get_settings()
        _create(client, name + "-2")
    client.cluster.get_settings()
    _is_shown(traced, work, CREATE, CREATE)
    _is_shown(traced, part, SETTINGS)
    assert work.get_span_context().trace_state.to_header() == "vendor=said"


def handles_name_the_span_too(traced: Traced, client: synod.Client, name: str) -> None:
    lease = v1.LeaseKey(namespace=name, name="lock")
    with tracer.start_as_current_span("work") as work:
        lock = client.lock(lease)
        lock.release()
    _is_shown(traced, work, "synod.v1.Leases/Acquire", "synod.v1.Leases/Release")


def tasks_that_call_at_a_time_have_spans_of_their_own(traced: Traced, name: str) -> None:
    async def create(client: synod.AsyncClient, group: str) -> None:
        resource = v1.GroupResource(group=f"{group}.example.io", resource="widgets")
        await client.collections.create(resource=resource, kind="Widget")

    async def work(client: synod.AsyncClient, number: int) -> trace.Span:
        with tracer.start_as_current_span("work") as span:
            await create(client, f"{name}-{number}")
            await client.cluster.get_settings()
        return span

    async def all_at_once() -> list[trace.Span]:
        async with synod.AsyncClient(traced.replicas.endpoints, timeout=60.0) as client:
            await create(client, name)
            # They overlap, so most of them go through a pipeline.
            return await asyncio.gather(*(work(client, number) for number in range(32)))

    for span in asyncio.run(all_at_once()):
        _is_shown(traced, span, CREATE, SETTINGS)


def calls_outside_of_spans_and_in_spans_that_are_not_sampled_have_none(
    traced: Traced, client: synod.Client, name: str
) -> None:
    unsampled = SpanContext(trace_id=7, span_id=8, is_remote=True)
    client.cluster.get_settings()
    with trace.use_span(NonRecordingSpan(unsampled)):
        client.cluster.get_settings()
    # What is exported is exported in order, so nothing else comes behind this.
    with tracer.start_as_current_span("work") as work:
        _create(client, name)
    _is_shown(traced, work, CREATE)
    assert all(seen.parent_span_id for seen in traced.collector.spans() if seen.name == SETTINGS)
    assert not any(int.from_bytes(seen.trace_id, "big") == 7 for seen in traced.collector.spans())


def an_application_without_opentelemetry_does_not_load_it(traced: Traced) -> None:
    program = f"""
import sys, synod
with synod.Client({traced.replicas.endpoints!r}, timeout=60.0) as client:
    client.cluster.get_settings()
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def a_propagator_that_there_is_not_is_told_and_keeps_no_call_back(traced: Traced) -> None:
    program = f"""
import opentelemetry.trace, synod
with synod.Client({traced.replicas.endpoints!r}, timeout=60.0) as client:
    client.cluster.get_settings()
    client.cluster.get_settings()
"""
    environment = {"OTEL_PROPAGATORS": "nonsense", "SYNOD_BINARY": BINARY}
    done = subprocess.run([sys.executable, "-c", program], check=True, env=environment, capture_output=True, text=True)
    assert done.stderr.count("calls name no span of OpenTelemetry") == 1, done.stderr
