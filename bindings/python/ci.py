#!/usr/bin/env python3
"""Builds the Python package and holds it to everything that is promised of it.

It needs Python 3.10 or later with its `venv`, a Rust toolchain, and the package registries; everything else it installs under
the target folder. Steps may be named, to run those alone: `python3 bindings/python/ci.py build pytest`.

The program `synod` that the tests run is named by SYNOD_BINARY; else it is built here. SYNOD_LIBRARY names a
library that was built before, which is installed for the tests with the package's files; without it, a wheel is built as for a release.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", CHECKOUT / "target"))
VENV = TARGET / "python" / "venv"
CLEAN = TARGET / "python" / "clean"
WHEELS = TARGET / "python" / "wheels"

TOOLS = [
    "grpcio==1.85.3",
    "maturin==1.16.0",
    "mypy==2.4.1",
    "opentelemetry-proto==1.45.2",
    "opentelemetry-sdk==1.45.2",
    "pdoc==16.0.0",
    "pyright==1.1.414",
    "pytest==9.2.0",
    "pytest-timeout==2.4.0",
    "pyyaml==6.0.3",
    "types-grpcio==1.85.0.20261028",
    "types-pyyaml==6.0.12.20250915",
]


def run(*words: str | Path, **variables: str) -> None:
    """Runs a program in the folder of the package; what it fails with ends this one."""
    line = [str(word) for word in words]
    print("+", " ".join(line), flush=True)
    subprocess.run(line, cwd=HERE, env={**os.environ, **variables}, check=True)


def tool(name: str) -> Path:
    """A program of the tools' environment."""
    return VENV / "bin" / name


def setup() -> None:
    """Makes the environment of the tools, unless it is there with the versions named above."""
    mark = VENV / "tools.txt"
    if mark.exists() and mark.read_text().split() == TOOLS:
        return
    if importlib.util.find_spec("ensurepip") is None:
        install_venv()
    shutil.rmtree(VENV, ignore_errors=True)
    run(sys.executable, "-m", "venv", VENV)
    run(tool("python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS)
    mark.write_text("\n".join(TOOLS))


def install_venv() -> None:
    """Debian has a part of Python's own library in a package of its own."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.exit("this Python has no `venv`: install it, on Debian as the package python3-venv, and run this again")
    run("apt-get", "update", "--quiet")
    run("apt-get", "install", "--yes", "--quiet", "python3-venv", DEBIAN_FRONTEND="noninteractive")


def build() -> None:
    """Installs the package for the tests: as a wheel that is built here, or with a library that was built before."""
    library = os.environ.get("SYNOD_LIBRARY")
    if library is not None:
        install_files(Path(library))
        return
    shutil.rmtree(WHEELS, ignore_errors=True)
    run(tool("maturin"), "build", "--locked", "--profile", "bindings", "--out", WHEELS, VIRTUAL_ENV=str(VENV))
    run(
        tool("python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--force-reinstall", "--no-deps", wheel(),
    )  # fmt: skip


def install_files(library: Path) -> None:
    """Copies the files of the package and the library to where the tools' environment looks for packages."""
    (packages,) = (VENV / "lib").glob("python3*/site-packages")
    shutil.rmtree(packages / "synod", ignore_errors=True)
    shutil.copytree(HERE / "python" / "synod", packages / "synod")
    shutil.copy2(library, packages / "synod" / "_synod.so")


def wheel() -> Path:
    """The wheel that was built."""
    (found,) = WHEELS.glob("synod-*.whl")
    return found


def types() -> None:
    """Checks the types: of the package, of its tests and recipes, and of the stub against the module itself."""
    # The package as it is installed, with its `py.typed`.
    run(tool("mypy"), "-p", "synod", "--config-file", HERE / "pyproject.toml")
    run(tool("mypy"), "tests", "bench.py", CHECKOUT / "examples" / "python", "--config-file", HERE / "pyproject.toml")
    run(tool("pyright"), "--project", HERE, "--pythonpath", tool("python"))
    run(tool("python"), "-m", "mypy.stubtest", "synod._synod")


def pytest() -> None:
    """Runs the tests, against replicas that run as processes."""
    run(tool("python"), "-m", "pytest", "--quiet", SYNOD_BINARY=binary())


def binary() -> str:
    """The program `synod`."""
    named = os.environ.get("SYNOD_BINARY")
    if named is None:
        run("cargo", "build", "--locked", "--package", "synod")
        named = str(TARGET / "debug" / "synod")
    return named


def package() -> None:
    """Installs the wheel as a user would, into an environment that has nothing else, and runs a program with it."""
    shutil.rmtree(CLEAN, ignore_errors=True)
    run(sys.executable, "-m", "venv", CLEAN)
    python = CLEAN / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel())
    run(python, HERE / "tests" / "installed.py", SYNOD_BINARY=binary())


def docs() -> None:
    """Writes the documentation of the package."""
    run(tool("pdoc"), "--output-directory", TARGET / "python" / "docs", "synod")


STEPS: list[Callable[[], None]] = [setup, build, types, pytest, package, docs]


def main() -> None:
    """Runs the steps that are named, or all of them."""
    wanted = sys.argv[1:] or [step.__name__ for step in STEPS]
    known = {step.__name__: step for step in STEPS}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"there is no step {unknown[0]!r}; there are: {', '.join(known)}")
    for name in wanted:
        try:
            known[name]()
        except subprocess.CalledProcessError as error:
            sys.exit(f"the step {name!r} failed: {error}")


if __name__ == "__main__":
    main()
