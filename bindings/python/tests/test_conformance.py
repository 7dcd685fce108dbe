"""The conformance cases, which the clients of all languages must pass alike."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml
from conformance.steps import Run
from replicas import Replicas

import synod

FOLDER = Path(__file__).resolve().parents[3] / "tests" / "conformance"


def _cases(folder: Path) -> list[Any]:
    cases: list[Any] = []
    for path in sorted(folder.glob("*.yaml")):
        for case in yaml.safe_load(path.read_text())["cases"]:
            cases.append(pytest.param(case, id=f"{path.stem}: {case.get('case')}"))
    return cases


def _run(case: Any, shared: Replicas) -> None:
    assert set(case) <= {"case", "cluster", "steps"}, f"these keys are not known: {set(case)}"
    assert case.get("cluster", "own") == "own", "a cluster is `own`"
    own = Replicas() if "cluster" in case else None
    if own:
        own.let_writes_land_soon()
    endpoints = (own or shared).endpoints

    async def live() -> None:
        async with synod.AsyncClient(endpoints, timeout=30.0) as client:
            await Run(client, own).case(case["steps"])

    try:
        asyncio.run(live())
    finally:
        if own is not None:
            own.close()


@pytest.mark.parametrize("case", _cases(FOLDER))
def a_case_holds(case: Any, replicas: Replicas) -> None:
    _run(case, replicas)


@pytest.mark.parametrize("case", _cases(FOLDER / "failing"))
def a_case_that_must_fail_fails(case: Any, replicas: Replicas) -> None:
    with pytest.raises(Exception):
        _run(case, replicas)


def there_are_cases_of_both_kinds() -> None:
    assert len(_cases(FOLDER)) > 50
    assert len(_cases(FOLDER / "failing")) > 10
