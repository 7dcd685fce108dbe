"""The programs of `docs/guides/python.md` do what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from replicas import Replicas
from replicas import free_ports as ports

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "python.md"
LINES_MAX = 25

PROGRAMS = dict(re.findall(r"^## (.+?)$.*?^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE))
"""By the headings above them."""


def every_program_is_run() -> None:
    assert sorted(PROGRAMS) == ["A configuration", "A lock", "A server behind the gate", "An election"]
    for heading, program in PROGRAMS.items():
        assert program.count("\n") <= LINES_MAX, heading


def a_lock_is_held(replicas: Replicas) -> None:
    assert re.fullmatch(r"held with fencing token \d+\n", printed("A lock", replicas))


def a_leader_leads(replicas: Replicas) -> None:
    assert printed("An election", replicas).endswith(" leads\n")


def a_configuration_is_changed_and_watched(replicas: Replicas) -> None:
    lines = printed("A configuration", replicas).splitlines()
    assert lines[0] == "2 replicas"
    assert re.fullmatch(r"revision \d+ created web", lines[1])


def a_write_passes_the_gate(replicas: Replicas) -> None:
    (port,) = ports(1)
    program = [sys.executable, "-c", PROGRAMS["A server behind the gate"], str(port), *replicas.endpoints]
    with subprocess.Popen(program) as server:
        try:
            url = f"http://127.0.0.1:{port}/apis/example.io/v1/widgets"
            retry = ["--retry", "40", "--retry-delay", "1", "--retry-all-errors"]
            write = ["curl", "--silent", "--show-error", "--fail", *retry, "--request", "POST", url]
            answer = subprocess.run(write, capture_output=True, text=True, timeout=100.0)
        finally:
            server.kill()
    assert (answer.returncode, answer.stdout) == (0, "stored in example.io/v1"), answer.stderr


def printed(heading: str, replicas: Replicas) -> str:
    """What the program below a heading prints."""
    program = [sys.executable, "-c", PROGRAMS[heading], *replicas.endpoints]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=100.0)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
