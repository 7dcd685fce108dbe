"""Backups, written to files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from synod._service import dumped


@dataclass(frozen=True)
class BackupWritten:
    """What a backup is of that was written to a file."""

    cluster_id: str
    """The id of the cluster."""
    cluster_name: str
    """The name that its replicas were started with."""
    revision: int
    """The revision that it is of, with every change up to it and none after."""
    size: int
    """The length of the file, in bytes."""
    sha256: str
    """The SHA-256 of the file but for its end, which holds it, in hexadecimal digits."""


def backup_options(path: str | os.PathLike[str], replace: bool) -> str:
    return dumped({"path": os.path.abspath(path), "replace": replace})


def written(document: str) -> BackupWritten:
    fields = json.loads(document)
    return BackupWritten(
        cluster_id=fields["clusterId"],
        cluster_name=fields["clusterName"],
        revision=int(fields["revision"]),
        size=int(fields["bytes"]),
        sha256=fields["sha256"],
    )
