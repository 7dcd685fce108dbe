"""The gate in front of HTTP servers: middleware for ASGI and WSGI.

A request that writes is given a `synod.Permit`, in the scope under `synod.permit` (ASGI) or in the environment under
`synod.permit` (WSGI), which says in which version to encode and has to be used as its documentation says. A write that the
gate does not let through is answered with 503 in place of the server. What a request is about is read by the rules of
Kubernetes; what is not about a resource, and what only reads, passes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from synod import v1
from synod._membership import Admission, AsyncGate, Gate

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]
WSGIApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class ASGIGate:
    """An ASGI application behind the gate of a membership."""

    def __init__(
        self,
        app: ASGIApp,
        gate: AsyncGate,
        *,
        wait_for: float = 0.0,
        not_stored: Sequence[v1.GroupResource] = (),
    ) -> None:
        """`wait_for` is how many seconds a write may wait for the gate to open. `not_stored` are resources that the server
        answers and does not store, so that they are never reported."""
        self._app = app
        self._gate = gate
        self._wait_for = wait_for
        self._not_stored = tuple(not_stored)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        query: bytes = scope.get("query_string", b"")
        uri = _uri(scope["path"], query.decode("latin-1"))
        admission = await self._gate.admit(
            scope["method"], uri, wait_for=self._wait_for, not_stored=self._not_stored
        )
        if admission.status is not None:
            await _refuse(admission, send)
            return
        try:
            await self._app({**scope, "synod.permit": admission.permit}, receive, send)
        finally:
            if admission.permit is not None:
                admission.permit.give_back()


async def _refuse(admission: Admission, send: Send) -> None:
    body = admission.body.encode()
    headers = [(name.lower().encode(), value.encode()) for name, value in _headers(admission, body)]
    await send({"type": "http.response.start", "status": admission.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class WSGIGate:
    """A WSGI application behind the gate of a membership."""

    def __init__(
        self,
        app: WSGIApp,
        gate: Gate,
        *,
        wait_for: float = 0.0,
        not_stored: Sequence[v1.GroupResource] = (),
    ) -> None:
        """`wait_for` is how many seconds a write may wait for the gate to open. `not_stored` are resources that the server
        answers and does not store, so that they are never reported."""
        self._app = app
        self._gate = gate
        self._wait_for = wait_for
        self._not_stored = tuple(not_stored)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Serves a request."""
        # By PEP 3333, the bytes of the path are the characters of the text.
        path = (environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1")
        uri = _uri(path, environ.get("QUERY_STRING", ""))
        admission = self._gate.admit(
            environ["REQUEST_METHOD"], uri, wait_for=self._wait_for, not_stored=self._not_stored
        )
        if admission.status is not None:
            body = admission.body.encode()
            status = HTTPStatus(admission.status)
            start_response(f"{status.value} {status.phrase}", _headers(admission, body))
            return [body]
        environ["synod.permit"] = admission.permit
        return self._served(environ, start_response, admission)

    def _served(
        self, environ: dict[str, Any], start_response: Callable[..., Any], admission: Admission
    ) -> Iterable[bytes]:
        if admission.permit is None:
            return self._app(environ, start_response)
        try:
            answer = self._app(environ, start_response)
        except BaseException:
            admission.permit.give_back()
            raise
        return _Answer(answer, admission)


class _Answer:
    """The answer of an application; the permit is given back when it has been sent."""

    def __init__(self, answer: Iterable[bytes], admission: Admission) -> None:
        self._answer = answer
        self._admission = admission

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer)

    def close(self) -> None:
        """Called by the server at the end."""
        try:
            close: Callable[[], None] | None = getattr(self._answer, "close", None)
            if close is not None:
                close()
        finally:
            if self._admission.permit is not None:
                self._admission.permit.give_back()


def _uri(path: str | bytes, query: str) -> str:
    """What the server was asked for: the path was decoded already, and is taken as it is."""
    text = quote(path, safe="/:@!$&'()*+,;=~-._")
    return f"{text}?{query}" if query else text


def _headers(admission: Admission, body: bytes) -> list[tuple[str, str]]:
    return [("Content-Type", admission.content_type), ("Content-Length", str(len(body)))]
