"""Makes calls for a while, and prints how many a second: what the benchmark of the languages runs for Python.

`cargo xtask bench languages` starts the replicas, stores the objects, and makes the same calls in the other languages.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import synod
from synod import v1

WIDGETS = v1.GroupResource(group="example.io", resource="widgets")

BYTES = 256
"""Of the data of each object."""


@dataclass(frozen=True)
class Load:
    """What to do: a call, over and over, by callers of which each waits for an answer before its next call."""

    endpoints: list[str]
    call: str
    callers: int
    seconds: float
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    """The number of each call, so that no update is like another."""


def key(caller: int) -> v1.ObjectKey:
    """The caller's own object."""
    return v1.ObjectKey(resource=WIDGETS, name=f"widget-{caller}")


def content(number: int) -> v1.ObjectContent:
    """What the update of this number writes."""
    data = f'"{number:0{BYTES - 2}}"'
    return v1.ObjectContent(encoding_version="example.io/v1", media_type="application/json", data=data.encode())


def check(answer: v1.ObjectsUpdateResponse) -> None:
    """An update that changes nothing is cheaper than one that does."""
    if not answer.changed:
        raise RuntimeError("the update changed nothing")


def blocking(load: Load) -> float:
    """The rate of threads."""
    with synod.Client(load.endpoints) as client, ThreadPoolExecutor(load.callers) as threads:

        def live(caller: int, end: float) -> int:
            calls = 0
            while time.perf_counter() < end:
                number = next(load.numbers)
                if load.call == "get":
                    client.objects.get(key=key(caller))
                else:
                    check(client.objects.update(key=key(caller), content=content(number)))
                calls += 1
            return calls

        def rate(seconds: float) -> float:
            begin = time.perf_counter()
            calls = sum(threads.map(lambda caller: live(caller, begin + seconds), range(load.callers)))
            return calls / (time.perf_counter() - begin)

        rate(load.seconds / 2)
        return rate(load.seconds)


async def concurrent(load: Load) -> float:
    """The rate of tasks."""
    async with synod.AsyncClient(load.endpoints) as client:

        async def live(caller: int, end: float) -> int:
            calls = 0
            while time.perf_counter() < end:
                number = next(load.numbers)
                if load.call == "get":
                    await client.objects.get(key=key(caller))
                else:
                    check(await client.objects.update(key=key(caller), content=content(number)))
                calls += 1
            return calls

        async def rate(seconds: float) -> float:
            begin = time.perf_counter()
            calls = sum(await asyncio.gather(*(live(caller, begin + seconds) for caller in range(load.callers))))
            return calls / (time.perf_counter() - begin)

        await rate(load.seconds / 2)
        return await rate(load.seconds)


def main() -> None:
    """Does what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endpoints", required=True, help="where the replicas serve clients, with commas between them")
    parser.add_argument("--call", required=True, choices=["get", "update"], help="what to call")
    parser.add_argument("--callers", required=True, type=int, help="how many wait for answers at a time")
    parser.add_argument("--seconds", required=True, type=float, help="for how long; half as long goes before, uncounted")
    parser.add_argument("--blocking", action="store_true", help="by threads, instead of by tasks of an event loop")
    words = parser.parse_args()
    load = Load(words.endpoints.split(","), words.call, words.callers, words.seconds)
    print(blocking(load) if words.blocking else asyncio.run(concurrent(load)))


if __name__ == "__main__":
    main()
