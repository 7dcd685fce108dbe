"""Topics by their texts: the rules are those of the Rust client."""

import pytest
import synod
from synod import v1

TOPICS = [
    ("keys/secrets", "keys", "secrets", v1.GroupResource(group="keys.synod", resource="secrets")),
    (
        "keys/deployments.apps",
        "keys",
        "deployments.apps",
        v1.GroupResource(group="apps.keys.synod", resource="deployments"),
    ),
    ("features/locks", "features", "locks", v1.GroupResource(group="features.synod", resource="locks")),
    ("encoding/pods", "encoding", "pods", v1.GroupResource(resource="pods")),
]


@pytest.mark.parametrize(("text", "kind", "name", "resource"), TOPICS)
def test_a_topic_is_known_by_its_text_and_by_its_resource(
    text: str, kind: str, name: str, resource: v1.GroupResource
) -> None:
    topic = synod.Topic.parse(text)
    assert (topic.kind, topic.name, topic.resource) == (kind, name, resource)
    assert str(topic) == text
    assert synod.Topic.of(resource) == topic


@pytest.mark.parametrize("text", ["secrets", "key/secrets", "keys/", "encoding/secrets.keys.synod"])
def test_what_is_no_topic_is_refused_with_the_rule(text: str) -> None:
    with pytest.raises(synod.InvalidArgumentError) as refused:
        synod.Topic.parse(text)
    assert len(refused.value.violations) == 1


def test_what_is_no_resource_is_no_topic() -> None:
    with pytest.raises(synod.InvalidArgumentError):
        synod.Topic.of(v1.GroupResource(resource="Pods!"))
