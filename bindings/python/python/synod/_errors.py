"""The exceptions of this package: one base, and one class for each kind of error."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from synod import v1
from synod._message import Message


class Violation(NamedTuple):
    """A field of a request that breaks a rule."""

    field: str
    """The path of the field in the request's JSON form, as in `entries[3].decodableVersions[0]`."""
    rule: str
    """The rule that it breaks, and what to do."""


class SynodError(Exception):
    """Why something was not done as asked.

    Decide by the class, or by `code` and `execution`; the message is for people and may change.
    """

    code = "UNKNOWN_OUTCOME"
    """What a program decides on: the name of the error's kind."""

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        execution: str = "refused",
        retryable: bool = False,
        violations: Sequence[Violation] = (),
        metadata: Mapping[str, str] | None = None,
        current: Message | None = None,
        request_key: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """The object, the rule, and what to do, as a sentence for people."""
        if code is not None:
            self.code = code
        self.execution = execution
        """`refused` by a rule, certainly `not_executed`, or `unknown`: then it may have been carried out, and may still be."""
        self.retryable = retryable
        """Whether the same call may succeed later without the danger of being carried out twice."""
        self.violations = tuple(violations)
        """Every broken rule of an invalid request."""
        self.metadata = dict(metadata or {})
        """Facts for programs, such as `oldest_revision` and `retry_after_ms`."""
        self.current = current
        """The object as it stands, where a comparison was lost: a message of `synod.v1`."""
        self.request_key = None if request_key is None else dict(request_key)
        """By what `Client.sessions.get_outcome` can be asked what became of a change whose outcome is unknown."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (type(self), self.message, self.__dict__))

    def __str__(self) -> str:
        return self.message


def _restored(kind: type[SynodError], message: str, state: dict[str, Any]) -> SynodError:
    error = kind(message)
    error.__dict__.update(state)
    return error


class InvalidArgumentError(SynodError, ValueError):
    """The request breaks a rule of form: `violations` names each field and rule."""

    code = "INVALID_ARGUMENT"


class NotFoundError(SynodError, LookupError):
    """There is no such object."""

    code = "NOT_FOUND"


class AlreadyExistsError(SynodError):
    """There is such an object already."""

    code = "ALREADY_EXISTS"


class ConflictError(SynodError):
    """The object is not as the request expects: `current` holds it as it is."""

    code = "CONFLICT"


class NotAMemberError(SynodError):
    """The caller is not a member, or not any more."""

    code = "NOT_A_MEMBER"


class StaleEpochError(SynodError):
    """Another instance has taken the member's id: stop."""

    code = "STALE_EPOCH"


class NotDecodableError(SynodError):
    """A member cannot decode a version that it must be able to decode."""

    code = "NOT_DECODABLE"


class EncodingNotSelectedError(SynodError):
    """The object is not encoded in the selected version."""

    code = "ENCODING_NOT_SELECTED"


class ImmutableError(SynodError):
    """The field can never change."""

    code = "IMMUTABLE"


class NoAgreementError(SynodError):
    """The members do not agree on a version."""

    code = "NO_AGREEMENT"


class DrainingError(SynodError):
    """Writes in another version may still land: `metadata` may say for how long."""

    code = "DRAINING"


class RequestExpiredError(SynodError):
    """The session is unknown, or what became of the request was forgotten."""

    code = "REQUEST_EXPIRED"


class CompactedError(SynodError):
    """The revision is older than what is kept: list again."""

    code = "COMPACTED"


class FutureRevisionError(SynodError):
    """The revision does not exist yet."""

    code = "FUTURE_REVISION"


class TooLargeError(SynodError):
    """The request is larger than a limit allows."""

    code = "TOO_LARGE"


class QuotaError(SynodError):
    """A quota of the cluster is used up."""

    code = "QUOTA"


class OverloadedError(SynodError):
    """The replica has too much to do; the request was not carried out."""

    code = "OVERLOADED"


class UnavailableError(SynodError, ConnectionError):
    """No leader or no quorum could be reached; the request was not carried out."""

    code = "UNAVAILABLE"


class UnknownOutcomeError(SynodError):
    """The request may have been carried out, or may still be."""

    code = "UNKNOWN_OUTCOME"


class DeadlineExceededError(SynodError, TimeoutError):
    """The deadline passed: `execution` says whether the request may have been carried out."""

    code = "DEADLINE_EXCEEDED"


class UnauthenticatedError(SynodError, PermissionError):
    """The caller did not prove who it is."""

    code = "UNAUTHENTICATED"


class PermissionDeniedError(SynodError, PermissionError):
    """The caller may not do this."""

    code = "PERMISSION_DENIED"


class DataLossError(SynodError):
    """The replica found its data damaged and has stopped."""

    code = "DATA_LOSS"


class SwitchedOffError(SynodError):
    """What the request is about is switched off by the setting `metadata["setting"]`; nothing was changed."""

    code = "SWITCHED_OFF"


class ClosedError(SynodError, RuntimeError):
    """What was called is closed, belongs to the process that this one was forked from, or the interpreter is ending.

    No replica was asked. It is the one error that this package makes by itself.
    """

    code = "CLOSED"


_CLASSES: dict[str, type[SynodError]] = {
    kind.code: kind
    for kind in (
        InvalidArgumentError,
        NotFoundError,
        AlreadyExistsError,
        ConflictError,
        NotAMemberError,
        StaleEpochError,
        NotDecodableError,
        EncodingNotSelectedError,
        ImmutableError,
        NoAgreementError,
        DrainingError,
        RequestExpiredError,
        CompactedError,
        FutureRevisionError,
        TooLargeError,
        QuotaError,
        OverloadedError,
        UnavailableError,
        UnknownOutcomeError,
        DeadlineExceededError,
        UnauthenticatedError,
        PermissionDeniedError,
        DataLossError,
        SwitchedOffError,
    )
}


def error_of(failure: str) -> SynodError:
    """The exception for a failure of the client, in JSON: the class is the one of its kind."""
    told: dict[str, Any] = json.loads(failure)
    kind: str = told["code"]
    current = told.get("current")
    message = getattr(v1, told.get("currentType", ""), None)
    return _CLASSES.get(kind, SynodError)(
        told["message"],
        code=kind,
        execution=told["execution"],
        retryable=told["retryable"],
        violations=[Violation(each["field"], each["rule"]) for each in told.get("violations", ())],
        metadata=told.get("metadata"),
        current=message.from_dict(current) if message and current else None,
        request_key=told.get("requestKey"),
    )
