"""Three replicas as processes, as tests start, kill and start them again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import synod
from synod import v1

BINARY = os.environ.get("SYNOD_BINARY", "")


_BLOCK = 64
"""The ports of a block, of which whoever listens at the first has all: a replica that is stopped can listen at its port
again. The tests of Rust (`tests/src/ports.rs`) and Node take theirs in the same way."""

_held: list[socket.socket] = []
_rest: list[int] = []


def free_ports(count: int) -> list[int]:
    """Ports of loopback at which nobody listens, below those that the system gives to outgoing connections. Each is
    returned once, and to no other program of tests."""
    ports: list[int] = []
    while len(ports) < count:
        if not _rest:
            _rest.extend(_block())
        port = _rest.pop(0)
        with socket.socket() as listener:
            if _listens(listener, port):
                ports.append(port)
    return ports


def _block() -> range:
    """A block that nobody has."""
    for step in range(168):
        first = 10_240 + _BLOCK * ((os.getpid() + step) % 168)
        listener = socket.socket()
        if _listens(listener, first):
            _held.append(listener)
            return range(first + 1, first + _BLOCK)
        listener.close()
    raise RuntimeError("no port below 20992 is free")


def _listens(listener: socket.socket, port: int) -> bool:
    # As the replicas and Rust do: what a connection of before is still waited for does not keep the port.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError:
        return False
    return True


class Replicas:
    """Three replicas on loopback, each a process with a data directory of its own. With transport security if `secured`,
    and then by these files: a policy in `policy.toml`, and what it names. `flags` are given to each beside."""

    def __init__(
        self,
        *,
        secured: bool = False,
        files: dict[str, str] | None = None,
        flags: Sequence[str] = (),
        machine_version: int | None = None,
    ) -> None:
        if not BINARY:
            raise RuntimeError("SYNOD_BINARY must be the path of the program: cargo build --package synod")
        self._folder = tempfile.TemporaryDirectory(prefix="synod-python-")
        ports = free_ports(9)
        self._clients, self._peers, self._metrics = ports[0:3], ports[3:6], ports[6:9]
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self.certificates = Path(self._folder.name, "certificates")
        self.tls = self._make_certificates() if secured else None
        self._files = files or {}
        self._flags = flags
        self.machine_version = machine_version
        """The newest machine version that replicas know from their next start on, if it is not that of the program."""
        for name, text in self._files.items():
            Path(self._folder.name, name).write_text(text, encoding="utf-8")
        self.start_all()

    def _make_certificates(self) -> synod.Tls:
        words = [BINARY, "certs", "dev", f"--out={self.certificates}", "--hosts=127.0.0.1"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        return synod.Tls(
            ca=self.certificates / "server-ca.pem",
            certificate=self.certificates / "admin.pem",
            key=self.certificates / "admin-key.pem",
        )

    def _security(self) -> list[str]:
        if self.tls is None:
            return []
        files = {
            "cert-file": "server.pem",
            "key-file": "server-key.pem",
            "trusted-ca-file": "client-ca.pem",
            "peer-cert-file": "peer.pem",
            "peer-key-file": "peer-key.pem",
            "peer-trusted-ca-file": "peer-ca.pem",
        }
        flags = [f"--{flag}={self.certificates / file}" for flag, file in files.items()]
        if "policy.toml" in self._files:
            flags.append(f"--policy-file={self._folder.name}/policy.toml")
        return flags

    @property
    def endpoints(self) -> list[str]:
        """Where they serve clients, in the order of their ids."""
        return [f"127.0.0.1:{port}" for port in self._clients]

    @property
    def running(self) -> list[int]:
        """The ids of those that run."""
        return sorted(self._processes)

    def start(self, replica: int) -> None:
        """Starts one replica, on the data that it has."""
        own = replica - 1
        peers = ",".join(f"{i + 1}=127.0.0.1:{port}" for i, port in enumerate(self._peers))
        log = Path(self._folder.name, f"{replica}.log").open("ab")
        self._processes[replica] = subprocess.Popen(
            [
                BINARY,
                "serve",
                f"--replica-id={replica}",
                "--cluster-name=conformance",
                f"--data-dir={self._folder.name}/{replica}",
                f"--replicas={peers}",
                f"--listen-client=127.0.0.1:{self._clients[own]}",
                f"--listen-peer=127.0.0.1:{self._peers[own]}",
                f"--listen-metrics=127.0.0.1:{self._metrics[own]}",
                *self._security(),
                *self._flags,
            ],
            stdout=log,
            stderr=log,
            env=os.environ | self._variables(),
        )
        log.close()

    def _variables(self) -> dict[str, str]:
        return {} if self.machine_version is None else {"SYNOD_TEST_MACHINE_VERSION": str(self.machine_version)}

    def start_all(self) -> None:
        """Starts every replica that does not run, and waits until each answers."""
        for replica in (1, 2, 3):
            if replica not in self._processes:
                self.start(replica)
        for endpoint in self.endpoints:
            self.wait_for(endpoint)

    def let_writes_land_soon(self) -> None:
        """Says that a write lands within a second, so that nobody waits longer for what was written before a test."""
        with synod.Client(self.endpoints, timeout=60.0, tls=self.tls) as client:
            client.cluster.update_settings(patch=v1.SettingsPatch(write_grace_ms=1_000))

    def wait_for(self, endpoint: str) -> None:
        """Waits until the replica at an endpoint answers what only a quorum can know."""
        with synod.Client([endpoint], timeout=60.0, tls=self.tls) as client:
            client.cluster.get_settings()

    def kill(self, replica: int) -> None:
        """Kills a replica as `kill -9` does."""
        process = self._processes.pop(replica)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def kill_all(self) -> None:
        """Kills every replica."""
        for replica in list(self._processes):
            self._processes[replica].send_signal(signal.SIGKILL)
        for replica in list(self._processes):
            self._processes.pop(replica).wait()

    def leader(self) -> int:
        """The id of the leader, as those that run see it: one that is left alone still knows it."""
        while True:
            for replica in self.running:
                with synod.Client([self.endpoints[replica - 1]], timeout=60.0, tls=self.tls) as client:
                    leader = client.status().leader_id
                if leader is not None and leader in self._processes:
                    return leader

    def close(self) -> None:
        """Ends it, and removes what was stored."""
        self.kill_all()
        self._folder.cleanup()
