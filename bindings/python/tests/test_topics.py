"""Topics by their texts, which the clients of all languages read alike."""

import json
from pathlib import Path

import pytest
import synod
from synod import v1

_FOLDER = Path(__file__).resolve().parents[3] / "tests" / "conformance"
_TEXTS = json.loads((_FOLDER / "topics.json").read_text())


@pytest.mark.parametrize("row", _TEXTS["topics"], ids=lambda row: row["text"])
def test_a_topic_is_known_by_its_text_and_by_its_resource(row: dict[str, str]) -> None:
    topic = synod.Topic.parse(row["text"])
    resource = v1.GroupResource(group=row["group"], resource=row["resource"])
    assert (topic.kind, topic.name, topic.resource) == (row["kind"], row["name"], resource)
    assert str(topic) == row["text"]
    assert synod.Topic.of(resource) == topic


@pytest.mark.parametrize("text", _TEXTS["refused"])
def test_what_is_no_topic_is_refused_with_the_rule(text: str) -> None:
    with pytest.raises(synod.InvalidArgumentError) as refused:
        synod.Topic.parse(text)
    assert len(refused.value.violations) == 1


def test_what_is_no_resource_is_no_topic() -> None:
    with pytest.raises(synod.InvalidArgumentError):
        synod.Topic.of(v1.GroupResource(resource="Pods!"))
