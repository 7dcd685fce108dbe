"""Backups: what a program writes, the command line reads."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from replicas import BINARY, Replicas

import synod


def a_backup_is_what_the_command_line_verifies(client: synod.Client, replicas: Replicas, tmp_path: Path) -> None:
    path = tmp_path / "a.backup"
    written = client.back_up(path)
    assert path.stat().st_size == written.size
    assert path.stat().st_mode & 0o777 == 0o600
    words = [BINARY, "backup", "verify", str(path), "-o", "json"]
    verified = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    assert verified["revision"] == str(written.revision)
    assert verified["clusterId"] == written.cluster_id
    assert verified["sha256"] == written.sha256
    with pytest.raises(synod.InvalidArgumentError) as caught:
        client.back_up(path)
    assert [violation.field for violation in caught.value.violations] == ["path"]

    async def again() -> synod.BackupWritten:
        async with synod.AsyncClient(replicas.endpoints, timeout=60.0) as other:
            return await other.back_up(path, replace=True)

    assert asyncio.run(again()).revision >= written.revision
    assert [file.name for file in tmp_path.iterdir()] == ["a.backup"]
