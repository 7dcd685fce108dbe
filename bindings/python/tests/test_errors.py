"""Errors: a class for each kind, under one base."""

from __future__ import annotations

import pickle
import socket
from pathlib import Path

import pytest

import synod
from synod import v1

WIDGETS = v1.GroupResource(group="example.io", resource="widgets")


def every_kind_of_the_protocol_has_a_class_of_its_own() -> None:
    classes = [kind for kind in vars(synod).values() if isinstance(kind, type) and issubclass(kind, synod.SynodError)]
    codes = [kind.code for kind in classes if kind is not synod.SynodError]
    reasons = [reason.name for reason in v1.ErrorReason if reason is not v1.ErrorReason.UNSPECIFIED]
    assert sorted(codes) == sorted([*reasons, "CLOSED"])


def the_readme_has_a_row_for_every_class() -> None:
    text = (Path(__file__).resolve().parents[1] / "README.md").read_text()
    classes = [kind for kind in vars(synod).values() if isinstance(kind, type) and issubclass(kind, synod.SynodError)]
    for kind in classes:
        twins = [twin for twin in kind.__bases__ if twin is not synod.SynodError]
        also = f"`{twins[0].__name__}`" if twins else ""
        row = f"| `{kind.__name__}` | `{kind.code}` | {also} |".replace("|  |", "| |")
        assert kind is synod.SynodError or row in text, row


def an_invalid_request_names_every_field_at_fault(client: synod.Client) -> None:
    with pytest.raises(synod.InvalidArgumentError) as caught:
        client.collections.create(resource=v1.GroupResource(group="?", resource="?"))
    fields = {violation.field for violation in caught.value.violations}
    assert {"resource.group", "resource.resource", "kind"} <= fields
    assert all(violation.rule for violation in caught.value.violations)
    assert (caught.value.code, caught.value.execution, caught.value.retryable) == ("INVALID_ARGUMENT", "refused", False)
    assert isinstance(caught.value, ValueError)


def a_lost_comparison_has_the_object_as_it_is(client: synod.Client, name: str) -> None:
    resource = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    client.collections.create(resource=resource, kind="Widget")
    key = v1.ObjectKey(resource=resource, name="a")
    content = v1.ObjectContent(encoding_version="v1", data=b"{}")
    client.objects.create(key=key, content=content)
    with pytest.raises(synod.ConflictError) as caught:
        client.objects.update(key=key, content=content, preconditions=v1.Preconditions(resource_version=1))
    current = caught.value.current
    assert isinstance(current, v1.Object)
    assert current.metadata is not None and current.metadata.name == "a"
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), synod.ConflictError)
    with pytest.raises(LookupError):
        client.objects.get(key=v1.ObjectKey(resource=resource, name="b"))


def a_deadline_is_a_timeout_of_python() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        client = synod.Client([f"127.0.0.1:{listener.getsockname()[1]}"])
        with pytest.raises(TimeoutError) as caught:
            client.cluster.status(timeout=0.2)
        assert isinstance(caught.value, synod.DeadlineExceededError)
        assert caught.value.execution == "not_executed"


def a_client_without_a_legal_endpoint_is_refused() -> None:
    with pytest.raises(synod.InvalidArgumentError):
        synod.Client([])


def what_is_closed_says_so(client: synod.Client) -> None:
    reflector = client.reflect([v1.ObjectKind.MEMBER])
    reflector.close()
    with pytest.raises(synod.ClosedError, match="the reflector was closed"):
        reflector.list(v1.ObjectKind.MEMBER)
