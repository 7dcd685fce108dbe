"""Transport security, and what proves who a client is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TypeAlias

Pem: TypeAlias = str | os.PathLike[str] | bytes
"""A PEM text: the path of a file, or the text itself as bytes."""

Token: TypeAlias = str | os.PathLike[str] | bytes
"""The token of a Kubernetes service account: the path of its file, or the token itself as bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Transport security of a client: what it asks of replicas, and what it shows them.

    Files are read again at each new connection; one that cannot be used then is logged, and what was read before stays in
    use.
    """

    ca: Pem
    """The CAs that the replicas' certificates must be signed by."""
    certificate: Pem | None = None
    """What is shown to the replicas; it goes with `key`."""
    key: Pem | None = field(default=None, repr=False)
    """The private key of the certificate."""
    server_name: str | None = None
    """The name that the replicas' certificates must be for. If not set, the host of each endpoint."""


def tls_options(tls: Tls | None) -> dict[str, object] | None:
    if tls is None:
        return None
    return {
        "ca": _pem(tls.ca),
        "certificate": _pem(tls.certificate),
        "key": _pem(tls.key),
        "serverName": tls.server_name,
    }


def token_option(token: Token | None) -> dict[str, str] | None:
    if token is None:
        return None
    if isinstance(token, bytes):
        return {"text": token.decode("ascii", errors="replace")}
    return {"file": os.fspath(token)}


def _pem(pem: Pem | None) -> dict[str, str] | None:
    if pem is None:
        return None
    if isinstance(pem, bytes):
        # What is no text is no PEM either, which is said where it is read.
        return {"pem": pem.decode("ascii", errors="replace")}
    return {"file": os.fspath(pem)}
