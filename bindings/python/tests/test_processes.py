"""The package and the process that it is in: threads, signals, forks, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from relay import Relay
from replicas import Replicas

import synod
from synod import _synod, v1


@pytest.fixture
def nobody() -> str:
    """An endpoint that takes connections and never says a word."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    silent.append(listener)
    return f"127.0.0.1:{listener.getsockname()[1]}"


silent: list[socket.socket] = []


def _calls() -> int:
    """How many calls are under way in this process."""
    return _synod._counts()["calls"]


def _await_calls(count: int) -> None:
    """Waits until so many calls are under way. It gives up before a call of a minute has ended."""
    limit = time.monotonic() + 50.0
    while _calls() < count:
        assert time.monotonic() < limit, f"{_calls()} calls are under way, and not {count}"
        time.sleep(0.01)


def ctrl_c_ends_a_blocking_call_within_a_second(nobody: str) -> None:
    # Who runs the tests in the background of a shell has them ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    client = synod.Client([nobody], timeout=60.0)
    # A try in which this process did not get to run says nothing of the client.
    took = [_interrupted(client)]
    while took[-1] >= 1.0 and len(took) < 5:
        took.append(_interrupted(client))
    assert took[-1] < 1.0, took


def _interrupted(client: synod.Client) -> float:
    """How long a call that is under way goes on after Ctrl-C."""
    before = _calls()
    sent: list[float] = []

    def interrupt() -> None:
        # Ctrl-C at any other time would end the tests.
        _await_calls(before + 1)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        client.status()
    took = time.monotonic() - sent[0]
    interrupter.join()
    # Python raises it, too, when a call has come to its deadline.
    assert took < 50.0
    return took


@contextlib.contextmanager
def _waiting(replicas: Replicas, count: int) -> Iterator[list[Future[v1.ClusterStatusResponse]]]:
    """Calls that are under way together, for each of which a thread waits. They are answered at the end."""
    relay = Relay(replicas.endpoints[0])
    relay.silence()
    before = _calls()
    with (
        contextlib.closing(relay),
        synod.Client([relay.endpoint], timeout=60.0) as client,
        ThreadPoolExecutor(count) as pool,
    ):
        asked = [pool.submit(client.status) for _ in range(count)]
        try:
            _await_calls(before + count)
            yield asked
        finally:
            relay.speak()
        for each in asked:
            assert each.result().cluster_name == "conformance"


def other_threads_run_while_one_waits(replicas: Replicas) -> None:
    with _waiting(replicas, 1) as (asked,):
        for _ in range(1_000):
            # It lets go of the interpreter, and has to get it again.
            time.sleep(0)
            assert not asked.done(), "the interpreter is held while a call waits"


def threads_wait_side_by_side(replicas: Replicas) -> None:
    with _waiting(replicas, 8) as asked:
        assert not any(each.done() for each in asked)


def a_blocking_call_within_a_running_loop_holds_it_up_and_does_not_deadlock(replicas: Replicas) -> None:
    async def both() -> None:
        loud = synod.AsyncClient(replicas.endpoints, timeout=60.0)
        plain = synod.Client(replicas.endpoints, timeout=60.0)
        pending = asyncio.ensure_future(loud.status())
        await asyncio.sleep(0)
        assert plain.status().cluster_name == "conformance"
        assert (await pending).cluster_name == "conformance"

    asyncio.run(asyncio.wait_for(both(), 60.0))


def one_client_serves_many_loops(replicas: Replicas) -> None:
    client = synod.AsyncClient(replicas.endpoints, timeout=60.0)

    async def ask() -> str:
        return (await client.status()).cluster_name

    assert {asyncio.run(ask()) for _ in range(20)} == {"conformance"}


def _in_child(client: synod.Client, endpoints: list[str]) -> None:
    with pytest.raises(synod.ClosedError, match="forked"):
        client.status()
    with synod.Client(endpoints, timeout=60.0) as own:
        assert own.status().cluster_name == "conformance"

    async def ask() -> None:
        own = synod.AsyncClient(endpoints, timeout=60.0)
        assert (await own.status()).cluster_name == "conformance"

    asyncio.run(ask())


def a_forked_child_is_told_to_make_a_new_client_and_the_new_one_works(replicas: Replicas) -> None:
    client = synod.Client(replicas.endpoints, timeout=60.0)
    client.status()
    context = multiprocessing.get_context("fork")
    for _ in range(5):
        child = context.Process(target=_in_child, args=(client, replicas.endpoints))
        child.start()
        child.join(60.0)
        assert child.exitcode == 0
    assert client.status().cluster_name == "conformance", "the parent goes on"


def fork_while_calls_are_under_way_harms_neither(replicas: Replicas) -> None:
    client = synod.Client(replicas.endpoints, timeout=60.0)
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            client.status()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    context = multiprocessing.get_context("fork")
    codes = []
    for _ in range(10):
        child = context.Process(target=_in_child, args=(client, replicas.endpoints))
        child.start()
        child.join(60.0)
        codes.append(child.exitcode)
    over.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 10


ENDING = """
import asyncio, sys, threading
import synod
from synod import _synod
client = synod.Client([sys.argv[1]], timeout=60.0)
for _ in range(4):
    threading.Thread(target=client.status, daemon=True).start()
async def main():
    loud = synod.AsyncClient([sys.argv[1]], timeout=60.0)
    asyncio.ensure_future(loud.status())
    watch = asyncio.ensure_future(loud.watch())
    while _synod._counts()["calls"] < 5:
        await asyncio.sleep(0)
asyncio.run(main())
"""


@pytest.mark.timeout(300)
def a_process_that_ends_with_calls_in_flight_ends_in_order(nobody: str) -> None:
    for _ in range(5):
        begun = time.monotonic()
        ended = subprocess.run([sys.executable, "-c", ENDING, nobody], capture_output=True, text=True, timeout=55.0)
        assert ended.returncode == 0, ended.stderr
        assert "panicked" not in ended.stderr
        assert time.monotonic() - begun < 50.0, "the calls would have ended after a minute"


LOGGING = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(name)s %(levelname)s %(message)s")
import synod
with synod.Client([sys.argv[1]], timeout=60.0) as client:
    with client.join(sys.argv[2]):
        pass
"""


def what_the_client_says_goes_to_logging(replicas: Replicas, name: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOGGING, replicas.endpoints[0], name], capture_output=True, text=True, timeout=90.0
    )
    assert ended.returncode == 0, ended.stderr
    (line,) = [line for line in ended.stderr.splitlines() if "joined" in line]
    assert line.startswith("synod.membership.keeper INFO joined")
    assert f"member={name}" in line
