"""Memberships, and the gate."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

import pytest
from replicas import Replicas

import synod
from synod import v1
from synod.gate import ASGIGate, WSGIGate


def _entry(name: str, preferred: str = "v1") -> v1.ReportEntry:
    group = f"{name}.example.io"
    return v1.ReportEntry(
        resource=v1.GroupResource(group=group, resource="widgets"),
        kind="Widget",
        decodable_versions=(f"{group}/v1", f"{group}/v2"),
        served_versions=(f"{group}/v1", f"{group}/v2"),
        preferred_version=f"{group}/{preferred}",
    )


def _resource(entry: v1.ReportEntry) -> v1.GroupResource:
    assert entry.resource is not None
    return entry.resource


def a_member_reports_votes_is_ready_writes_and_leaves(client: synod.Client, name: str) -> None:
    entry = _entry(name)
    with client.join(name, labels={"zone": "a"}, version="1.0.0", permit_wait=0.1) as membership:
        assert membership.id == name
        with pytest.raises(synod.UnavailableError):
            membership.gate.permit(_resource(entry))
        assert membership.gate.readiness() is not None
        reported = membership.report([entry])
        assert reported.changed and len(reported.resources) == 1
        membership.ready()
        state = membership.state
        assert (state.proved, state.reported, state.ready, state.ended) == (True, True, True, None)
        assert membership.gate.readiness() is None
        with membership.gate.permit(_resource(entry)) as permit:
            assert permit.encoding == f"{name}.example.io/v1"
            assert permit.epoch == membership.epoch
            permit.check()
        assert membership.gate.is_drained()
        member = client.membership.get(id=name).member
        assert member is not None and member.phase == v1.MemberPhase.READY
    assert membership.state.ended == "left"
    assert membership.ended() == "left"
    with pytest.raises(synod.NotFoundError):
        client.membership.get(id=name)


def a_vote_moves_what_is_selected_and_is_adopted_by_itself(client: synod.Client, name: str) -> None:
    with client.join(name) as membership:
        membership.report([_entry(name)])
        membership.report_change(_entry(name, "v2"))
        found = client.storage_versions.get(resource=_entry(name).resource).storage_version
        assert found is not None and found.status is not None
        assert found.status.selected_version == f"{name}.example.io/v2"
        with membership.gate.permit(_resource(_entry(name)), wait_for=60.0) as permit:
            assert permit.encoding == f"{name}.example.io/v2"


def a_permit_whose_write_failed_is_given_back_without_a_word(client: synod.Client, name: str) -> None:
    entry = _entry(name)
    with client.join(name) as membership:
        membership.report([entry])
        with pytest.raises(ZeroDivisionError), membership.gate.permit(_resource(entry)):
            raise ZeroDivisionError
        assert membership.gate.is_drained(), "no check had passed, so nothing was sent"
        with pytest.raises(ZeroDivisionError), membership.gate.permit(_resource(entry)) as permit:
            permit.check()
            raise ZeroDivisionError
        assert not membership.gate.is_drained(), "a check had passed: the write may still land"
        membership.leave(0.0)


def a_member_that_is_replaced_is_told(client: synod.Client, name: str) -> None:
    first = client.join(name)
    first.report([_entry(name)])
    with client.join(name):
        assert first.ended() == "replaced"
        with pytest.raises(synod.StaleEpochError):
            first.gate.try_permit(_resource(_entry(name)))


def the_same_in_a_loop(replicas: Replicas, name: str) -> None:
    entry = _entry(name)

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client:
            async with client.join(name) as membership:
                await membership.report([entry])
                await membership.ready()
                with await membership.gate.permit(_resource(entry)) as permit:
                    permit.check()
                ended = asyncio.create_task(membership.ended())
                await membership.leave()
                assert await ended == "left"

    asyncio.run(live())


def _answer(app: Callable[..., Iterable[bytes]], method: str, path: str) -> tuple[str, bytes]:
    said: list[str] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "wsgi.input": io.BytesIO(),
    }

    def start(status: str, headers: list[tuple[str, str]]) -> None:
        said.append(status)

    answer = app(environ, start)
    body = b"".join(answer)
    close = getattr(answer, "close", None)
    if close is not None:
        close()
    return said[0], body


def the_gate_stands_in_front_of_wsgi(client: synod.Client, name: str) -> None:
    entry = _entry(name)
    path = f"/apis/{name}.example.io/v1/namespaces/a/widgets"
    permits: list[synod.Permit | None] = []

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        permit: synod.Permit | None = environ["synod.permit"]
        permits.append(permit)
        if permit is not None:
            permit.check()
            permit.done()
        start_response("200 OK", [])
        return [b"served"]

    with client.join(name) as membership:
        gated = WSGIGate(app, membership.gate)
        status, body = _answer(gated, "POST", path)
        assert status == "503 Service Unavailable"
        assert b'"ServiceUnavailable"' in body
        assert permits == []
        assert _answer(gated, "GET", path) == ("200 OK", b"served")
        assert permits == [None]
        membership.report([entry])
        assert _answer(gated, "POST", path) == ("200 OK", b"served")
        assert permits[1] is not None and permits[1].encoding == f"{name}.example.io/v1"
        assert membership.gate.is_drained()


def the_gate_stands_in_front_of_asgi(replicas: Replicas, name: str) -> None:
    entry = _entry(name)

    async def app(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        permit: synod.Permit | None = scope["synod.permit"]
        if permit is not None:
            permit.check()
            permit.done()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"served"})

    async def ask(gated: ASGIGate, method: str) -> tuple[int, bytes]:
        sent: list[MutableMapping[str, Any]] = []

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.disconnect"}

        path = f"/apis/{name}.example.io/v1/widgets/a"
        scope = {"type": "http", "method": method, "path": path, "query_string": b"pretty=true"}
        await gated(scope, receive, send)
        return sent[0]["status"], sent[1]["body"]

    async def live() -> None:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as client, client.join(name) as membership:
            gated = ASGIGate(app, membership.gate)
            status, body = await ask(gated, "PUT")
            assert status == 503 and b"ServiceUnavailable" in body
            await membership.report([entry])
            assert await ask(gated, "PUT") == (200, b"served")
            assert await ask(gated, "GET") == (200, b"served")
            assert membership.gate.is_drained()

    asyncio.run(live())
