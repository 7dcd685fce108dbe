"""Topics: what members agree on, encodings and all else."""

from __future__ import annotations

import json
from dataclasses import dataclass

from synod import _synod, v1


@dataclass(frozen=True)
class Topic:
    """What members agree on: the encoding of a resource, the key that encrypts its objects, whether a version is served, or the
    level of a feature.

    `Topic.parse("keys/secrets")` is the key of secrets. Its `resource` goes into entries, permits, checks and migrations like
    any other resource: its versions are keys.
    """

    kind: str
    """`encoding`, `keys`, `served` or `features`."""
    name: str
    """Its name within its kind: `secrets`, `deployments.apps`."""
    resource: v1.GroupResource
    """The resource that it is."""

    @classmethod
    def parse(cls, text: str) -> Topic:
        """The topic with this text: `encoding/<name>`, `keys/<name>`, `served/<name>` or `features/<name>`.

        Raises `InvalidArgumentError` for any other text.
        """
        return cls._read(_synod.topic(text))

    @classmethod
    def of(cls, resource: v1.GroupResource) -> Topic:
        """The topic that a resource is.

        Raises `InvalidArgumentError` for what is no resource.
        """
        return cls._read(_synod.topic_of(resource.to_json()))

    @classmethod
    def _read(cls, document: str) -> Topic:
        told = json.loads(document)
        resource = v1.GroupResource.from_json(json.dumps(told["resource"]))
        return cls(kind=told["kind"], name=told["name"], resource=resource)

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"
