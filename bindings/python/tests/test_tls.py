"""Connections behind transport security."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import pytest
from replicas import Replicas

import synod


@pytest.fixture(scope="module")
def secured() -> Iterator[Replicas]:
    replicas = Replicas(secured=True)
    yield replicas
    replicas.close()


def _tls(replicas: Replicas) -> synod.Tls:
    assert replicas.tls is not None
    return replicas.tls


def files_and_bytes_are_taken_alike(secured: Replicas) -> None:
    files = _tls(secured)
    as_bytes = synod.Tls(
        ca=(secured.certificates / "server-ca.pem").read_bytes(),
        certificate=(secured.certificates / "admin.pem").read_bytes(),
        key=(secured.certificates / "admin-key.pem").read_bytes(),
    )
    as_texts = replace(files, ca=str(files.ca), server_name="127.0.0.1")
    for each in (files, as_bytes, as_texts):
        with synod.Client(secured.endpoints, timeout=60.0, tls=each) as client:
            assert len(client.status().replicas) == 3
    assert "PRIVATE KEY" not in repr(as_bytes)


def event_loops_have_it_too(secured: Replicas) -> None:
    async def asked() -> int:
        endpoints = [f"https://{endpoint}" for endpoint in secured.endpoints]
        async with synod.AsyncClient(endpoints, timeout=60.0, tls=_tls(secured)) as client:
            return len((await client.status()).replicas)

    assert asyncio.run(asked()) == 3


def files_that_are_replaced_are_read_again(secured: Replicas, tmp_path: Path) -> None:
    def show(name: str) -> None:
        for part in ("", "-key"):
            copyfile(secured.certificates / f"{name}{part}.pem", tmp_path / f"shown{part}.pem")

    # The certificate of a server proves no client.
    show("server")
    shown = replace(_tls(secured), certificate=tmp_path / "shown.pem", key=tmp_path / "shown-key.pem")
    with synod.Client(secured.endpoints, timeout=60.0, tls=shown) as client:
        with pytest.raises(synod.SynodError):
            client.status(timeout=3.0)
        show("admin")
        assert len(client.status().replicas) == 3


def who_shows_nothing_is_not_served(secured: Replicas) -> None:
    nobody = replace(_tls(secured), certificate=None, key=None)
    for each in (nobody, None):
        with synod.Client(secured.endpoints, timeout=1.0, tls=each) as client, pytest.raises(synod.SynodError):
            client.status()


def what_cannot_be_used_is_named(secured: Replicas) -> None:
    good = _tls(secured)
    faults = {
        "tls.ca": replace(good, ca=b"no PEM"),
        "tls.certificate": replace(good, certificate=secured.certificates / "server.pem"),
        "tls.key": replace(good, key=None),
        "tls.serverName": replace(good, server_name="no name"),
    }
    for field, each in faults.items():
        with pytest.raises(synod.InvalidArgumentError) as caught:
            synod.Client(secured.endpoints, tls=each)
        assert field in [violation.field for violation in caught.value.violations]
    with pytest.raises(synod.InvalidArgumentError, match="https://"):
        synod.Client([f"https://{secured.endpoints[0]}"])
