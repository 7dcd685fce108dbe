"""What a fence needs of etcd, over etcd's JSON gateway."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from synod._key_store import Condition, Fault, Holds, NotExecuted, Page, Pair, Refused, Unknown

_ANSWER_BYTES_MAX = 16 << 20


class Etcd:
    """etcd, over the JSON gateway that each of its servers has at its port for clients. For threads; any number may use it.

    It needs nothing but Python's own library, and makes a connection for each call: so a call that finds no etcd was
    certainly not executed. A server that reaches its etcd by a client of its own implements `KeyStore` over that, in three
    calls: a range of one key, a range, and a transaction.
    """

    def __init__(self, url: str, *, timeout: float = 5.0, context: ssl.SSLContext | None = None) -> None:
        """`url` is such as `http://127.0.0.1:2379`, or with `https`, by `context`, which has the CA and the certificate of the
        client. `timeout` is how many seconds etcd has for each step of an answer: the outcome of a write that takes longer
        is unknown."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} must be a URL of http or https")
        self._secured = parts.scheme == "https"
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self._timeout = timeout
        self._context = context

    def get(self, key: str) -> Pair | None:
        """The present value of a key; `None` if there is no such key."""
        return next(iter(self._range({"key": _text(key)}).pairs), None)

    def list(self, prefix: str, after: str | None, limit: int) -> Page:
        """The pairs whose keys begin with `prefix` and come after `after`, in the order of their keys, at most `limit`."""
        # The range begins right after the last key that was seen, and ends right after all keys with the prefix.
        begin = (prefix or "\0") if after is None else f"{after}\0"
        end = b64encode(_end_of(prefix)).decode()
        return self._range({"key": _text(begin), "range_end": end, "limit": str(limit)})

    def put_if(self, conditions: Sequence[Condition], key: str, value: bytes) -> bool:
        """Writes a key if every condition holds, in one step. Answers false if one does not."""
        put = {"request_put": {"key": _text(key), "value": b64encode(value).decode()}}
        compare = [_compared(condition) for condition in conditions]
        return bool(self._ask("txn", {"compare": compare, "success": [put]}).get("succeeded", False))

    def _range(self, range: dict[str, Any]) -> Page:
        try:
            answer = self._ask("range", range)
            return Page(tuple(_pair(each) for each in answer.get("kvs", ())), bool(answer.get("more", False)))
        except Unknown as error:
            # A read changes nothing, so it does not matter.
            raise NotExecuted(str(error)) from error

    def _ask(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        connection = self._connected()
        try:
            connection.request("POST", f"{self._path}/v3/kv/{what}", json.dumps(body))
            response = connection.getresponse()
            text = response.read(_ANSWER_BYTES_MAX)
        except (OSError, http.client.HTTPException) as error:
            raise Unknown(f"etcd did not answer: {error!r}") from error
        finally:
            connection.close()
        if not 200 <= response.status < 300:
            raise _refusal(response.status, response.headers.get("Retry-After"))
        try:
            answer: dict[str, Any] = json.loads(text)
            return answer
        except ValueError as error:
            raise Unknown(f"etcd's answer cannot be understood: {error}") from error

    def _connected(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection
        if self._secured:
            connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=self._context
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        try:
            connection.connect()
        except OSError as error:
            raise NotExecuted(f"etcd cannot be reached: {error}") from error
        return connection


class AsyncEtcd:
    """As `Etcd`, for event loops: each call is made in a thread. A call that is cancelled goes on in its thread, so its
    outcome is unknown."""

    def __init__(self, url: str, *, timeout: float = 5.0, context: ssl.SSLContext | None = None) -> None:
        """As of `Etcd`."""
        self._etcd = Etcd(url, timeout=timeout, context=context)

    async def get(self, key: str) -> Pair | None:
        """The present value of a key; `None` if there is no such key."""
        return await asyncio.to_thread(self._etcd.get, key)

    async def list(self, prefix: str, after: str | None, limit: int) -> Page:
        """The pairs whose keys begin with `prefix` and come after `after`, in the order of their keys, at most `limit`."""
        return await asyncio.to_thread(self._etcd.list, prefix, after, limit)

    async def put_if(self, conditions: Sequence[Condition], key: str, value: bytes) -> bool:
        """Writes a key if every condition holds, in one step. Answers false if one does not."""
        return await asyncio.to_thread(self._etcd.put_if, conditions, key, value)


def _refusal(status: int, retry_after: str | None) -> Fault:
    """What an answer that is no success says of a write."""
    why = f"etcd answered {status}"
    if status == 429:
        seconds = float(retry_after) if retry_after is not None and retry_after.isdigit() else None
        return NotExecuted(why, seconds)
    if 400 <= status < 500 and status != 408:
        return Refused(why)
    # A server that gives up waiting for its quorum says so in this way, and the write may still be agreed on.
    return Unknown(why)


def _compared(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, Holds):
        value = b64encode(condition.value).decode()
        return {"key": _text(condition.key), "target": "VALUE", "result": "EQUAL", "value": value}
    revision = str(condition.revision)
    return {"key": _text(condition.key), "target": "MOD", "result": "EQUAL", "mod_revision": revision}


def _end_of(prefix: str) -> bytes:
    """The first key behind all keys with this prefix, or etcd's way to say that there is no end. The last byte of a text is
    never the largest one."""
    begin = prefix.encode()
    return begin[:-1] + bytes([begin[-1] + 1]) if begin else b"\0"


def _text(key: str) -> str:
    return b64encode(key.encode()).decode()


def _pair(kv: dict[str, Any]) -> Pair:
    try:
        return Pair(b64decode(kv["key"]).decode(), b64decode(kv.get("value", "")), int(kv["mod_revision"]))
    except (KeyError, ValueError) as error:
        raise Unknown(f"etcd's answer cannot be understood: {error!r}") from error
