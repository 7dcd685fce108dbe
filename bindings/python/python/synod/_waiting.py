"""How calls are waited for: by a thread, or by an event loop.

What is made of several calls is written once, as a generator that yields calls and is sent their answers (a `Flow`), and
run by `run` in a thread or by `run_async` in a loop.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from synod import _synod

T = TypeVar("T")

Flow = Generator["_synod.Call[Any]", Any, T]


def wait(call: _synod.Call[T], *, keep: bool = False) -> T:
    """Waits in this thread. A wait that is interrupted gives the call up, unless it is to be kept."""
    try:
        return call.wait()
    except BaseException:
        if not keep:
            call.cancel()
        raise


async def wait_async(call: _synod.Call[T], *, keep: bool = False) -> T:
    """Waits in the running loop. A wait that is cancelled gives the call up, unless it is to be kept: then it goes on, and
    a later wait for the same call has its answer."""
    await _loop_bell().ring(call, keep)
    return call.take()


def run(flow: Flow[T]) -> T:
    """Runs a flow in this thread."""
    try:
        call = next(flow)
        while True:
            try:
                answer = wait(call)
            except BaseException as error:
                call = flow.throw(error)
            else:
                call = flow.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result


async def run_async(flow: Flow[T]) -> T:
    """Runs a flow in the running loop."""
    try:
        call = next(flow)
        while True:
            try:
                answer = await wait_async(call)
            except BaseException as error:
                call = flow.throw(error)
            else:
                call = flow.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result


class _LoopBell:
    """The bell of one loop: it wakes whoever waits for the calls that were answered."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._bell = _synod.Bell()
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._number = 0
        loop.add_reader(self._bell.fileno(), self._rung)

    async def ring(self, call: _synod.Call[Any], keep: bool) -> None:
        """Waits until the call's answer can be taken."""
        self._number += 1
        number = self._number
        answered = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        try:
            call.start(self._bell, number)
            await answered
        except BaseException:
            if not keep:
                call.cancel()
            raise
        finally:
            self._waiting.pop(number, None)

    def _rung(self) -> None:
        for number in self._bell.drain():
            answered = self._waiting.get(number)
            if answered is not None and not answered.done():
                answered.set_result(None)


_bells: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopBell] = WeakKeyDictionary()


def _loop_bell() -> _LoopBell:
    loop = asyncio.get_running_loop()
    bell = _bells.get(loop)
    if bell is None:
        bell = _bells[loop] = _LoopBell(loop)
    return bell


# A child has its parent's bells, and would take the rings that are meant for the parent.
os.register_at_fork(after_in_child=_bells.clear)
