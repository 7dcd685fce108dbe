"""A relay of connections that can go silent, as a network does that has lost its way."""

from __future__ import annotations

import selectors
import socket
import threading

_SPEAK = b"+"


class Relay:
    """Passes bytes between clients and one address, until it is told to be silent: then connections stay open, and nothing
    comes through before it is told to speak again."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._silent = threading.Event()
        self._over = threading.Event()
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        host, port = self._listener.getsockname()
        return f"{host}:{port}"

    def silence(self) -> None:
        """Lets nothing through any more, in either direction, and says nothing of it."""
        self._silent.set()
        self._wake.send(b"!")

    def speak(self) -> None:
        """Lets everything through again, and first what came meanwhile."""
        self._wake.send(_SPEAK)

    def close(self) -> None:
        """Ends it."""
        self._over.set()
        self._wake.send(b"!")
        self._thread.join()

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            pairs: dict[socket.socket, socket.socket] = {}
            held: list[socket.socket] = []
            while not self._over.is_set():
                for key, _ in selector.select():
                    ready = key.fileobj
                    assert isinstance(ready, socket.socket)
                    if ready is self._woken:
                        if ready.recv(1) == _SPEAK:
                            self._silent.clear()
                            while held:
                                selector.register(held.pop(), selectors.EVENT_READ)
                    elif ready is not self._listener and ready not in pairs:
                        # It was closed with its other end in this round.
                        pass
                    elif self._silent.is_set():
                        selector.unregister(ready)
                        held.append(ready)
                    elif ready is self._listener:
                        self._connect(selector, pairs)
                    else:
                        self._pass(selector, ready, pairs)
            for each in pairs:
                each.close()
            for each in (self._listener, self._wake, self._woken):
                each.close()

    def _connect(self, selector: selectors.BaseSelector, pairs: dict[socket.socket, socket.socket]) -> None:
        near, _ = self._listener.accept()
        try:
            far = socket.create_connection(self._address)
        except OSError:
            near.close()
            return
        pairs[near], pairs[far] = far, near
        selector.register(near, selectors.EVENT_READ)
        selector.register(far, selectors.EVENT_READ)

    def _pass(
        self, selector: selectors.BaseSelector, ready: socket.socket, pairs: dict[socket.socket, socket.socket]
    ) -> None:
        other = pairs[ready]
        try:
            data = ready.recv(65_536)
            if data:
                other.sendall(data)
                return
        except OSError:
            pass
        for each in (ready, other):
            if each in pairs:
                selector.unregister(each)
                del pairs[each]
                each.close()
