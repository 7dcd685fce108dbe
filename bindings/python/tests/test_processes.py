"""The package and the process that it is in: threads, signals, forks, and the end."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from replicas import Replicas

import synod


@pytest.fixture
def nobody() -> str:
    """An endpoint that takes connections and never says a word."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    silent.append(listener)
    return f"127.0.0.1:{listener.getsockname()[1]}"


silent: list[socket.socket] = []


def ctrl_c_ends_a_blocking_call_within_a_second(nobody: str) -> None:
    # Who runs the tests in the background of a shell has them ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    client = synod.Client([nobody], timeout=60.0)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        client.status()
    assert time.monotonic() - sent[0] < 1.0
    timer.join()


def other_threads_run_while_one_waits(nobody: str) -> None:
    client = synod.Client([nobody], timeout=60.0)
    waiting = threading.Thread(target=lambda: pytest.raises(synod.DeadlineExceededError, client.status, timeout=0.5))
    waiting.start()
    turns = 0
    while waiting.is_alive():
        turns += 1
    waiting.join()
    assert turns > 1_000, "the interpreter is held while a call waits"


def threads_wait_side_by_side(nobody: str) -> None:
    client = synod.Client([nobody], timeout=60.0)
    begun = time.monotonic()
    threads = [
        threading.Thread(target=lambda: pytest.raises(synod.DeadlineExceededError, client.status, timeout=0.5))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - begun < 2.0


def a_blocking_call_within_a_running_loop_holds_it_up_and_does_not_deadlock(replicas: Replicas) -> None:
    async def both() -> None:
        loud = synod.AsyncClient(replicas.endpoints)
        plain = synod.Client(replicas.endpoints)
        pending = asyncio.ensure_future(loud.status())
        await asyncio.sleep(0)
        assert plain.status().cluster_name == "conformance"
        assert (await pending).cluster_name == "conformance"

    asyncio.run(asyncio.wait_for(both(), 30.0))


def one_client_serves_many_loops(replicas: Replicas) -> None:
    client = synod.AsyncClient(replicas.endpoints)

    async def ask() -> str:
        return (await client.status()).cluster_name

    assert {asyncio.run(ask()) for _ in range(20)} == {"conformance"}


def _in_child(client: synod.Client, endpoints: list[str]) -> None:
    with pytest.raises(synod.ClosedError, match="forked"):
        client.status()
    with synod.Client(endpoints) as own:
        assert own.status().cluster_name == "conformance"

    async def ask() -> None:
        own = synod.AsyncClient(endpoints)
        assert (await own.status()).cluster_name == "conformance"

    asyncio.run(ask())


def a_forked_child_is_told_to_make_a_new_client_and_the_new_one_works(replicas: Replicas) -> None:
    client = synod.Client(replicas.endpoints)
    client.status()
    context = multiprocessing.get_context("fork")
    for _ in range(5):
        child = context.Process(target=_in_child, args=(client, replicas.endpoints))
        child.start()
        child.join(30.0)
        assert child.exitcode == 0
    assert client.status().cluster_name == "conformance", "the parent goes on"


def fork_while_calls_are_under_way_harms_neither(replicas: Replicas) -> None:
    client = synod.Client(replicas.endpoints)
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
        child.join(30.0)
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


def a_process_that_ends_with_calls_in_flight_ends_in_order(nobody: str) -> None:
    for _ in range(5):
        begun = time.monotonic()
        ended = subprocess.run([sys.executable, "-c", ENDING, nobody], capture_output=True, text=True, timeout=30.0)
        assert ended.returncode == 0, ended.stderr
        assert "panicked" not in ended.stderr
        assert time.monotonic() - begun < 10.0


LOGGING = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(name)s %(levelname)s %(message)s")
import synod
with synod.Client([sys.argv[1]]) as client:
    with client.join(sys.argv[2]):
        pass
"""


def what_the_client_says_goes_to_logging(replicas: Replicas, name: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOGGING, replicas.endpoints[0], name], capture_output=True, text=True, timeout=30.0
    )
    assert ended.returncode == 0, ended.stderr
    (line,) = [line for line in ended.stderr.splitlines() if "joined" in line]
    assert line.startswith("synod.membership.keeper INFO joined")
    assert f"member={name}" in line
