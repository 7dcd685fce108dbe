"""A client works with replicas of the release before its own, and is told what they do not know."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from replicas import Replicas

import synod
from synod import v1


@pytest.fixture
def older() -> Iterator[Replicas]:
    replicas = Replicas(machine_version=1)
    yield replicas
    replicas.close()


@pytest.fixture
def client(older: Replicas) -> Iterator[synod.Client]:
    with synod.Client(older.endpoints, timeout=60.0) as client:
        yield client


def what_older_replicas_know_works(client: synod.Client, name: str) -> None:
    assert client.status().machine_version == 1
    widgets = v1.GroupResource(group=f"{name}.example.io", resource="widgets")
    key = v1.ObjectKey(resource=widgets, name="one")
    content = v1.ObjectContent(encoding_version="example.io/v1", media_type="text/plain", data=b"one")
    with client.watch() as watch:
        client.collections.create(resource=widgets, kind="Widget")
        client.objects.create(key=key, content=content)
        created = client.objects.get(key=key).object
        assert created is not None and created.content == content
        for message in watch:
            if not isinstance(message, synod.Bookmark) and any(event.stored_object for event in message.events):
                break
    with client.lock(v1.LeaseKey(namespace=name, name="lock")) as lock:
        lock.check()
    with client.join(name) as membership:
        entry = v1.ReportEntry(
            resource=widgets,
            kind="Widget",
            decodable_versions=("example.io/v1",),
            served_versions=("example.io/v1",),
            encoding_version="example.io/v1",
        )
        membership.report([entry])
        membership.ready()
        with membership.gate.permit(widgets) as permit:
            assert permit.encoding == "example.io/v1"


def a_setting_that_they_know_is_changed_and_one_with_a_switch_is_not_changed_in_part(client: synod.Client) -> None:
    client.cluster.update_settings(patch=v1.SettingsPatch(sessions_max=1_234))
    patch = v1.SettingsPatch(sessions_max=4_321, votes=v1.Switch.OFF)
    for dry_run in (True, False):
        with pytest.raises(synod.UnavailableError) as refused:
            client.cluster.update_settings(patch=patch, dry_run=dry_run)
        said = str(refused.value)
        assert "votes: switches come with machine version 2, and 1 is in force" in said
        assert "run the newer release on replica 1" in said
    settings = client.cluster.get_settings().settings
    assert settings is not None and settings.sessions_max == 1_234


def once_all_replicas_are_of_the_present_release_the_same_client_can_switch(older: Replicas, client: synod.Client) -> None:
    older.machine_version = None
    for replica in (1, 2, 3):
        older.kill(replica)
        older.start(replica)
        older.wait_for(older.endpoints[replica - 1])
    while client.status().machine_version == 1:
        # A replica that starts says what it knows, and the leader raises the version then.
        client.cluster.get_settings()
    client.cluster.update_settings(patch=v1.SettingsPatch(leases=v1.Switch.OFF))
    with pytest.raises(synod.SwitchedOffError) as refused:
        client.lock(v1.LeaseKey(namespace="default", name="lock"))
    assert refused.value.metadata["setting"] == "leases"
