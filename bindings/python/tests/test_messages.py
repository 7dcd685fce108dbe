"""Messages are frozen values that can be written and read."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from synod import v1

WIDGETS = v1.GroupResource(group="example.io", resource="widgets")
OBJECT = v1.Object(
    metadata=v1.Metadata(name="a", resource_version=2**63, labels={"app": "web"}),
    resource=WIDGETS,
    content=v1.ObjectContent(encoding_version="example.io/v1", media_type="application/json", data=b"\xff\x00{}"),
)


def a_message_is_written_in_the_json_form_of_protobuf() -> None:
    assert OBJECT.to_dict() == {
        "metadata": {"name": "a", "resourceVersion": "9223372036854775808", "labels": {"app": "web"}},
        "resource": {"group": "example.io", "resource": "widgets"},
        "content": {"encodingVersion": "example.io/v1", "mediaType": "application/json", "data": "/wB7fQ=="},
    }


def what_was_written_is_read_as_it_was() -> None:
    assert v1.Object.from_dict(OBJECT.to_dict()) == OBJECT
    assert v1.Object.from_json(OBJECT.to_json()) == OBJECT


def a_message_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        WIDGETS.group = "other"  # type: ignore[misc]
    other = dataclasses.replace(WIDGETS, group="other")
    assert (other.group, other.resource, WIDGETS.group) == ("other", "widgets", "example.io")


def messages_are_equal_by_value_and_can_be_keys() -> None:
    assert v1.GroupResource(group="example.io", resource="widgets") == WIDGETS
    assert WIDGETS != v1.GroupResource(group="example.io", resource="gadgets")
    assert {WIDGETS: 1}[v1.GroupResource(group="example.io", resource="widgets")] == 1


def a_message_shows_what_is_set() -> None:
    assert repr(WIDGETS) == "GroupResource(group='example.io', resource='widgets')"
    assert repr(v1.Metadata(labels={})) == "Metadata()"
    assert eval(repr(OBJECT), dict(vars(v1))) == OBJECT


def a_message_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(OBJECT)) == OBJECT


def an_unset_choice_is_none_and_a_default_is_not_written() -> None:
    entry = v1.ReportEntry(resource=WIDGETS, preferred_version="example.io/v2")
    assert entry.encoding_version is None
    assert entry.to_dict() == {"resource": WIDGETS.to_dict(), "preferredVersion": "example.io/v2"}
    assert v1.ReportEntry(encoding_version="").to_dict() == {"encodingVersion": ""}


def what_a_newer_cluster_says_beside_is_passed_over() -> None:
    member = v1.Member.from_dict({"epoch": "7", "phase": "MEMBER_PHASE_RETIRED", "colour": "red"})
    assert member == v1.Member(epoch=7, phase=v1.MemberPhase.UNSPECIFIED)


def a_reason_of_a_newer_cluster_is_there_with_its_words() -> None:
    near = {"reason": 4711, "message": "a comet is near"}
    assumed = {"reason": 4712, "message": "no comet comes"}
    for safety in (v1.StorageVersionsCheckDropResponse, v1.StorageVersionsCheckBinaryResponse):
        answer = safety.from_dict({"dangers": [near], "assumptions": [assumed]})
        assert answer.dangers == (v1.Danger(reason=v1.DangerReason.UNSPECIFIED, message="a comet is near"),)
        assert [assumption.message for assumption in answer.assumptions] == ["no comet comes"]
    agreement = v1.StorageVersionsCheckAgreementResponse.from_dict({"obstacles": [near], "assumptions": [assumed]})
    assert [obstacle.message for obstacle in agreement.obstacles] == ["a comet is near"]
    assert [assumption.message for assumption in agreement.assumptions] == ["no comet comes"]
    upgrade = v1.StorageVersionsCheckUpgradeResponse.from_dict({"obstacles": [near], "assumptions": [assumed]})
    assert [obstacle.message for obstacle in upgrade.obstacles] == ["a comet is near"]
    assert [assumption.message for assumption in upgrade.assumptions] == ["no comet comes"]


def an_enum_is_written_by_its_full_name() -> None:
    assert v1.Member(phase=v1.MemberPhase.READY).to_dict() == {"phase": "MEMBER_PHASE_READY"}
    assert v1.WatchFilter(kinds=(v1.ObjectKind.MEMBER,)).to_dict() == {"kinds": ["OBJECT_KIND_MEMBER"]}
