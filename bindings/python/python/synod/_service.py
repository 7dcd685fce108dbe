"""What the generated services call."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

from synod import _synod
from synod._message import Message
from synod._waiting import wait, wait_async

A = TypeVar("A", bound=Message)
I = TypeVar("I", bound=Message)


class Service:
    """A service of the protocol, for threads."""

    def __init__(self, client: _synod.Client) -> None:
        self._client = client

    def _call(self, method: str, request: Message, answer: type[A], timeout: float | None) -> A:
        return answer.from_json(wait(self._client.call(method, request.to_json(), timeout)))

    def _pages(
        self, method: str, request: Message, page: type[A], item: type[I], timeout: float | None
    ) -> Iterator[I]:
        while True:
            answer: Any = self._call(method, request, page, timeout)
            yield from answer.items
            if not answer.continue_token:
                return
            request = _next_page(request, answer)


class AsyncService:
    """A service of the protocol, for event loops."""

    def __init__(self, client: _synod.Client) -> None:
        self._client = client

    async def _call(self, method: str, request: Message, answer: type[A], timeout: float | None) -> A:
        return answer.from_json(await wait_async(self._client.call(method, request.to_json(), timeout)))

    async def _pages(
        self, method: str, request: Message, page: type[A], item: type[I], timeout: float | None
    ) -> AsyncIterator[I]:
        while True:
            answer: Any = await self._call(method, request, page, timeout)
            for each in answer.items:
                yield each
            if not answer.continue_token:
                return
            request = _next_page(request, answer)


def _next_page(request: Any, answer: Any) -> Message:
    asked: Message = dataclasses.replace(request, continue_token=answer.continue_token)
    return asked


def said(message: Message | None) -> Any:
    """A message as a document, to be put into another."""
    return None if message is None else message.to_dict()


def dumped(document: Any) -> str:
    """A document as a text, without what is not set."""
    return json.dumps({key: value for key, value in document.items() if value is not None})


def milliseconds(seconds: float | None) -> int | None:
    """Seconds as documents count them."""
    return None if seconds is None else round(seconds * 1000)
