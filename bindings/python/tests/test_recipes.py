"""The recipes in examples/python do what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from replicas import Replicas

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "python"

SAID = {
    "agreement": "all agree on v2",
    "controller": "second leads",
    "gated_server": "after the report, it is answered with 200, and stored in v2",
    "migration_worker": "persisted: v2 alone",
    "versions_table": "seen: ",
}


def every_recipe_is_run() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(SAID)


@pytest.mark.parametrize("recipe", sorted(SAID))
def a_recipe_does_what_it_says(recipe: str, replicas: Replicas) -> None:
    program = [sys.executable, str(FOLDER / f"{recipe}.py"), *replicas.endpoints]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=110.0)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert SAID[recipe] in ended.stdout, ended.stdout
