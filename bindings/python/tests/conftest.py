"""What tests share: a cluster, and clients of it."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

import pytest
from replicas import Replicas

import synod


@pytest.fixture(scope="session")
def replicas() -> Iterator[Replicas]:
    """Three replicas that nobody kills."""
    cluster = Replicas()
    cluster.let_writes_land_soon()
    yield cluster
    cluster.close()


@pytest.fixture
def doomed() -> Iterator[Replicas]:
    """Three replicas of the test's own, to be killed."""
    cluster = Replicas()
    cluster.let_writes_land_soon()
    yield cluster
    cluster.close()


@pytest.fixture
def client(replicas: Replicas) -> Iterator[synod.Client]:
    """A client of the shared replicas."""
    with synod.Client(replicas.endpoints, timeout=60.0) as client:
        yield client


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return "t" + "".join(random.choices(string.ascii_lowercase + string.digits, k=12))
