"""One etcd, as tests start it."""

from __future__ import annotations

import subprocess
import tempfile
import time

from replicas import free_ports

from synod import fence


class RunningEtcd:
    """An etcd process. Used as a context manager."""

    def __enter__(self) -> RunningEtcd:
        self._folder = tempfile.TemporaryDirectory(prefix="synod-etcd-")
        client, peer = (f"http://127.0.0.1:{port}" for port in free_ports(2))
        words = ["etcd", "--log-level", "error", "--data-dir", self._folder.name]
        words += ["--listen-client-urls", client, "--advertise-client-urls", client]
        words += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        words += ["--initial-cluster", f"default={peer}"]
        self._process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        self.url = client
        self.store = fence.Etcd(client, timeout=60.0)
        limit = time.monotonic() + 60.0
        while True:
            try:
                self.store.get("ready")
                return self
            except fence.NotExecuted:
                if time.monotonic() > limit or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()
