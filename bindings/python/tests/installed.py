"""A program that uses the package as it was installed: nothing but Python's own library is beside it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess

import synod


def main() -> None:
    """Asks a cluster how it does, by both clients."""
    words = [os.environ["SYNOD_BINARY"], "dev", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as cluster:
        assert cluster.stdout is not None
        endpoints: list[str] = []
        while len(endpoints) < 3:
            endpoints += re.findall(r"127\.0\.0\.1:\d+", cluster.stdout.readline())
        try:
            with synod.Client(endpoints, timeout=60.0) as client:
                client.cluster.get_settings()
                assert len(client.status().replicas) == 3
            asyncio.run(ask(endpoints))
        finally:
            cluster.terminate()
    print(f"synod from {synod.__file__} works")


async def ask(endpoints: list[str]) -> None:
    """Asks by the client for loops."""
    async with synod.AsyncClient(endpoints, timeout=60.0) as client:
        assert len((await client.status()).replicas) == 3


if __name__ == "__main__":
    main()
