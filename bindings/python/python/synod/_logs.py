"""What the client says of itself, given to `logging`."""

from __future__ import annotations

import logging
import os
import threading

from synod import _synod

logger = logging.getLogger("synod")

_thread: threading.Thread | None = None
_lock = threading.Lock()


def begin() -> None:
    """Has records of the client go to the logger `synod` and those below it, from its present level on."""
    global _thread
    _synod._set_log_level(min(max(logger.getEffectiveLevel(), 1), 255))
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_give, name="synod-logs", daemon=True)
            _thread.start()


def end() -> None:
    """Waits for the last records."""
    if _thread is not None:
        _thread.join(2.0)


def _give() -> None:
    while True:
        records = _synod._next_logs()
        if records is None:
            return
        for level, target, message in records:
            name = ".".join(["synod", *target.split("::")[1:]])
            logging.getLogger(name).log(level, "%s", message)


def _forked() -> None:
    global _thread, _lock
    _thread = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)
