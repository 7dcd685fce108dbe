"""Clients that prove who they are by a token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from replicas import Replicas

import synod

POLICY = """
[tokens]
issuer = "https://kubernetes.default.svc"
audiences = ["synod"]
jwks_file = "jwks.json"

[[grant]]
who = "spiffe://synod/admin"
role = "admin"

[[grant]]
who = "system:serviceaccount:ops:admin"
role = "admin"
"""

KEY = {
    "kty": "EC",
    "crv": "P-256",
    "kid": "example",
    "x": "e-YiIpNLt1ajGLVLZyjrM_onFxf_qxHlVfkCMBVsthc",
    "y": "WCWSpGDCI_h7TB7moV1cH2sMllvfKpVSapiQJSxfAyY",
}
"""The public part of a key whose private part is gone."""

TOKEN = ".".join(
    [
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImV4YW1wbGUifQ",
        "eyJhdWQiOlsic3lub2QiXSwiZXhwIjo0MTAyNDQ0ODAwLCJpc3MiOiJodHRwczovL2t1YmVybmV0ZXMuZGVmYXVsdC"
        "5zdmMiLCJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6b3BzOmFkbWluIn0",
        "dYcUBPyLzt4-DvUN5jt1v8UaZ1QW-P_EQpkpsdOLgPDvZ3Kb4kyfZdgTlZT43kL27_uYXmJ8wwIzm8hHcDBwzA",
    ]
)
"""What it has signed: a token of the service account `admin` in `ops`, until 2100."""


@pytest.fixture(scope="module")
def replicas() -> Iterator[Replicas]:
    files = {"policy.toml": POLICY, "jwks.json": json.dumps({"keys": [KEY]})}
    replicas = Replicas(secured=True, files=files)
    yield replicas
    replicas.close()


def _tls(replicas: Replicas) -> synod.Tls:
    assert replicas.tls is not None
    return replace(replicas.tls, certificate=None, key=None)


def a_token_may_be_a_file_or_bytes(replicas: Replicas, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", encoding="ascii")
    for token in (file, str(file), TOKEN.encode()):
        with synod.Client(replicas.endpoints, timeout=60.0, tls=_tls(replicas), token=token) as client:
            assert len(client.status().replicas) == 3


def event_loops_have_it_too(replicas: Replicas) -> None:
    async def asked() -> int:
        token = TOKEN.encode()
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0, tls=_tls(replicas), token=token) as client:
            return len((await client.status()).replicas)

    assert asyncio.run(asked()) == 3


def who_sends_no_good_token_is_told_so(replicas: Replicas) -> None:
    for token in (None, TOKEN[:-1].encode()):
        with synod.Client(replicas.endpoints, timeout=60.0, tls=_tls(replicas), token=token) as client:
            with pytest.raises(synod.UnauthenticatedError) as caught:
                client.cluster.get_settings()
        assert TOKEN[-20:-1] not in str(caught.value)


def a_token_that_cannot_be_used_is_named_and_not_shown(replicas: Replicas, tmp_path: Path) -> None:
    faults: list[tuple[synod.Tls | None, synod.Token]] = [
        (_tls(replicas), b"two words"),
        (_tls(replicas), tmp_path / "nothing"),
        (replicas.tls, TOKEN.encode()),
    ]
    for tls, token in faults:
        with pytest.raises(synod.InvalidArgumentError) as caught:
            synod.Client(replicas.endpoints, tls=tls, token=token)
        assert [violation.field for violation in caught.value.violations] == ["token"]
        assert "words" not in str(caught.value)
        assert TOKEN[-20:] not in str(caught.value)
    with pytest.raises(synod.InvalidArgumentError, match="unencrypted"):
        synod.Client(["replica:4600"], token=TOKEN.encode())
