"""An API server with the write gate: what it stores, all others can read.

It joins, serves HTTP behind the gate, and is refused a write before its report; then it reports, is ready, and stores what is
sent to it in the version that its permit names.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import synod
from synod import v1
from synod.gate import WSGIGate

GROUP = f"py{time.time_ns() % 10**9}.example.io"
WIDGETS = v1.GroupResource(group=GROUP, resource="widgets")
VERSIONS = (f"{GROUP}/v2", f"{GROUP}/v1")
DISCOVERY = f"/apis/{GROUP}/v2"
PATH = f"{DISCOVERY}/namespaces/default/widgets"


class Server:
    """The server behind the gate. It keeps its objects in Synod itself; any other store would do."""

    def __init__(self, client: synod.Client, gate: synod.Gate) -> None:
        self._client = client
        self._gate = gate
        self._codec = synod.JSONCodec(*VERSIONS)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == DISCOVERY:
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(self._discovery()).encode()]
        name = environ["PATH_INFO"].removeprefix(PATH).strip("/")
        if environ["REQUEST_METHOD"] == "POST":
            sent = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
            stored = self._store(sent, environ["synod.permit"])
        else:
            stored = self._client.typed_objects(WIDGETS, self._codec).get(name, namespace="default")
        content = stored.object.content or v1.ObjectContent()
        start_response("200 OK", [("Content-Type", "application/json"), ("X-Stored-In", content.encoding_version)])
        return [json.dumps(stored.value).encode()]

    def _discovery(self) -> dict[str, Any]:
        """The discovery document: its hash follows the gate, and is left out while the servers do not agree."""
        shown: dict[str, Any] = {"name": "widgets", "kind": "Widget", "namespaced": True, "verbs": ["create", "get"]}
        hash = self._gate.discovery(WIDGETS).hash
        if hash is not None:
            shown["storageVersionHash"] = hash
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/v2", "resources": [shown]}

    def _store(self, sent: dict[str, Any], permit: synod.Permit) -> synod.Stored[dict[str, Any]]:
        fence = v1.MemberEpoch(member=MEMBER, epoch=permit.epoch)
        objects = self._client.typed_objects(WIDGETS, self._codec, encode_in=permit.encoding, if_member=fence)
        permit.check()  # The last thing before the store is called.
        stored = objects.create(sent["name"], sent, namespace="default")
        permit.done()  # The store has answered; a store that has not would leave the outcome unknown.
        return stored


class Quiet(WSGIRequestHandler):
    """Does not log."""

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def ask(port: int, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, str, str]:
    """What the server answers: its status, what it stored in, and the body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, None if body is None else json.dumps(body))
    answer = connection.getresponse()
    return answer.status, answer.headers.get("X-Stored-In", ""), answer.read().decode()


MEMBER = synod.apiserver_id(GROUP)


def main(endpoints: list[str]) -> None:
    """Runs the server, and asks it."""
    with synod.Client(endpoints, timeout=30.0) as client:
        client.collections.create(resource=WIDGETS, kind="Widget", namespaced=True)
        with client.join(MEMBER, version="1.1.0") as membership:
            print(f"joined as {membership.id}")
            app = WSGIGate(Server(client, membership.gate), membership.gate)
            with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                use(server.server_port, membership)
                server.shutdown()
        print("left")


def use(port: int, membership: synod.Membership) -> None:
    """Sends what a user would send."""
    widget = {"name": "a", "size": 1}
    status, _, _ = ask(port, "POST", PATH, widget)
    print(f"before the report, a write is answered with {status}")
    entry = v1.ReportEntry(
        resource=WIDGETS,
        kind="Widget",
        decodable_versions=VERSIONS,
        served_versions=VERSIONS,
        preferred_version=VERSIONS[0],
        stored=v1.StoredIn.COLLECTION,
    )
    membership.report([entry])
    membership.ready()
    print(f"reported {WIDGETS.resource}")
    status, version, _ = ask(port, "POST", PATH, widget)
    print(f"after the report, it is answered with {status}, and stored in {version.removeprefix(GROUP + '/')}")
    print(f"discovery shows the hash {shown_hash(port)}")
    status, _, body = ask(port, "GET", f"{PATH}/a")
    print(f"read back with {status}: {body}")


def shown_hash(port: int) -> str:
    """The hash in discovery, once there is one: the server learns of the agreement by a watch, a moment later."""
    limit = time.monotonic() + 10.0
    while True:
        _, _, document = ask(port, "GET", DISCOVERY)
        (shown,) = json.loads(document)["resources"]
        if "storageVersionHash" in shown or time.monotonic() > limit:
            return str(shown["storageVersionHash"])


if __name__ == "__main__":
    main(sys.argv[1:] or ["127.0.0.1:4600"])
