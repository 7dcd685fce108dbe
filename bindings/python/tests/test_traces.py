"""Calls have spans of OpenTelemetry where the application has a provider of them, and else name the one that is current."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import replicas as processes
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
    """The replicas' spans of these names, and of no others, are right below a span."""
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


def calls_have_spans_of_their_own_in_the_provider_that_the_application_has_set(traced: Traced) -> None:
    nobody = f"127.0.0.1:{processes.free_ports(1)[0]}"
    program = [sys.executable, str(Path(__file__).with_name("traced.py")), nobody, *traced.replicas.endpoints]
    done = subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True)
    spans: list[dict[str, Any]] = json.loads(done.stdout)
    (work,) = (span for span in spans if span["name"] == "work")
    # How often the program has looked whether there is a waiter is nobody's business.
    calls = [span for span in spans if span["name"] not in ("work", "synod.v1.Leases/Get")]
    for span in calls:
        assert span["kind"] == "CLIENT"
        service, method = span["name"].split("/")
        assert span["attributes"].pop("rpc.system") == "grpc"
        assert (span["attributes"].pop("rpc.service"), span["attributes"].pop("rpc.method")) == (service, method)
        # Messages may hold values.
        assert span["description"] is None
        assert span["is_ordered"]
    ok = {"rpc.grpc.status_code": 0}
    taken = {"rpc.grpc.status_code": 6, "error.type": "ALREADY_EXISTS"}
    acquire, release = "synod.v1.Leases/Acquire", "synod.v1.Leases/Release"
    lost = calls.pop(5)
    assert [(span["name"], span["status"], span["attributes"]) for span in calls] == [
        (CREATE, "UNSET", ok),
        (CREATE, "ERROR", taken),
        (acquire, "UNSET", ok),
        (release, "UNSET", ok),
        (SETTINGS, "UNSET", ok),
        ("synod.v1.Membership/List", "UNSET", ok),
        (acquire, "UNSET", ok),
        # It was given up.
        (acquire, "UNSET", {}),
        (release, "UNSET", ok),
    ]
    assert [span["parent"] for span in calls[:5]] == 4 * [work["id"]] + [None]
    # A refusal is the end of its try, which is the last one.
    *_, (name, event) = calls[1]["events"]
    assert (name, event["error.type"]) == ("a try failed", "ALREADY_EXISTS")
    assert event["server.address"] in traced.replicas.endpoints
    # The replicas' spans are below, that of the session with those of the call that has opened it.
    traced.collector.below(calls[0]["id"], ["synod.v1.Sessions/Open", CREATE])
    for span in calls[1:6]:
        traced.collector.below(span["id"], [span["name"]])
    assert not [span for span in traced.collector.spans() if int.from_bytes(span.parent_span_id, "big") == work["id"]]

    assert (lost["name"], lost["status"]) == ("synod.v1.Cluster/Status", "ERROR")
    kinds = {event["error.type"] for _, event in lost["events"]}
    # The deadline may cut the last try short.
    assert kinds - {"DEADLINE_EXCEEDED"} == {"UNAVAILABLE"}
    assert {event["server.address"] for _, event in lost["events"]} == {nobody}
    assert {name for name, _ in lost["events"]} == {"a try failed"}
    assert lost["attributes"] == {"rpc.grpc.status_code": 14, "error.type": "UNAVAILABLE"}


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
