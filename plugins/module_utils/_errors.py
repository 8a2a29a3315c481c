# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exception tree of the collection. Private: not for use outside of it.

Every error a user can meet is a :class:`GarageError`: a message in plain words, a ``kind`` that plays can branch on, and a
``hint`` that says what to do. Nothing here imports anything of ours, so every layer may raise these.
"""

from __future__ import annotations


class GarageError(Exception):
    """Base of all errors, and those of no other kind.

    ``done`` and ``left`` are filled in by the executor when a run stopped half-way: what was written, what was not. ``result`` holds
    what a failed module returns beside the error.
    """

    kind = "error"

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.done: tuple[str, ...] = ()
        self.left: tuple[str, ...] = ()
        self.result: dict = {}

    def data(self) -> dict:
        """What ``error`` in a module's result holds: kind, status, code, endpoint."""
        return {"kind": self.kind, "status": None, "code": None, "endpoint": None}


class InputError(GarageError):
    """Options or a document that cannot be carried out; all faults at once, nothing was sent."""

    kind = "invalid_input"

    def __init__(self, faults: list[str] | tuple[str, ...] | str, hint: str | None = None) -> None:
        self.faults = (faults,) if isinstance(faults, str) else tuple(faults)
        super().__init__("; ".join(self.faults), hint)


class PlanError(GarageError):
    """The live state does not allow what was asked; refused before the first write."""

    kind = "refused"


class Ambiguous(PlanError):
    """A name fits more than one thing."""

    kind = "ambiguous"


class NotDeclaredHere(PlanError):
    """Something a task refers to does not exist on the server."""

    kind = "not_found"


class CredentialLost(PlanError):
    """Something on the server whose secret, which was shown once, is not where it was put. Nothing but the user can mend it (TD-09, TD-44)."""

    kind = "credential_lost"


class StoreFault(GarageError):
    """A place for a credential that cannot be read or written, or that holds something else."""

    kind = "store"


class StoreChanged(StoreFault):
    """What is in a store is not what this run has read there: somebody else is at work on the same credential."""


class LibraryMissing(StoreFault):
    """A Python library that only this task needs is not there. The message says how to get it."""

    kind = "missing_library"

    def __init__(self, library: str, place: str) -> None:
        super().__init__(f"{place} needs the Python library {library} on the host where the module runs", hint=f"install {library}, as with pip")


class Unsupported(GarageError):
    """The server is too old for a feature."""

    kind = "unsupported"


class GateClosed(GarageError):
    """A layout write was asked of a follower; raised before any byte is sent (LW-13)."""

    kind = "layout_writer_only"


class VerifyMismatch(GarageError):
    """The server answered a write with success, but the state read back is not what was written."""

    kind = "not_reflected"

    def __init__(self, message: str, fields: tuple[str, ...] = (), hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.fields = fields


class PartlyFailed(GarageError):
    """Some subjects of a run that went on after errors failed."""

    kind = "partly_failed"


class WaitTimeout(GarageError):
    """A state that was waited for did not come in time."""

    kind = "timeout"


class NotReady(GarageError):
    """Pods that do not come up, each with what holds it up."""

    kind = "not_ready"


class NotConnected(GarageError):
    """Nodes that could not be connected, or remotes that did not answer; all else was done."""

    kind = "not_connected"


class TransportError(GarageError):
    """No usable answer. ``sent`` tells whether the request may have reached the server."""

    kind = "unreachable"

    def __init__(self, message: str, hint: str | None = None, sent: bool = False, endpoint: str | None = None) -> None:
        super().__init__(message, hint)
        self.sent = sent
        self.endpoint = endpoint

    def data(self) -> dict:
        return {**super().data(), "endpoint": self.endpoint}


class SetupError(TransportError):
    """The connection is set up wrongly (certificates, files, address): nothing was sent, and trying again cannot help."""


class NotAdminApi(TransportError):
    """Something answered, but not a Garage Admin API v2."""

    kind = "not_admin_api"

    def __init__(self, message: str, hint: str | None = None, endpoint: str | None = None, status: int | None = None) -> None:
        super().__init__(message, hint, sent=True, endpoint=endpoint)
        self.status = status

    def data(self) -> dict:
        return {**super().data(), "status": self.status}


class ApiError(GarageError):
    """An error answer of the Admin API (the server's ``code`` and ``message``)."""

    kind = "api"

    def __init__(self, message: str, hint: str | None = None, status: int = 0, code: str | None = None, endpoint: str | None = None,
                 server_message: str = "") -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code
        self.endpoint = endpoint
        self.server_message = server_message

    def data(self) -> dict:
        return {"kind": self.kind, "status": self.status, "code": self.code, "endpoint": self.endpoint}


class NotFound(ApiError):
    """404: the only answer that means "absent"."""

    kind = "not_found"


class Conflict(ApiError):
    """409."""

    kind = "conflict"


class Denied(ApiError):
    """401 or 403. Garage answers 403 for a missing, wrong, expired and out-of-scope token alike (GS-01)."""

    kind = "denied"


class Invalid(ApiError):
    """400."""

    kind = "invalid"


class Constraint(ApiError):
    """400 or 500 by which the layout engine refuses a layout (factor, zones, capacity; OP-112)."""

    kind = "layout_constraint"


class StaleVersion(ApiError):
    """500 by which ApplyClusterLayout refuses a version that is not the next one (OP-109)."""

    kind = "stale_layout_version"


class LayoutNotReady(ApiError):
    """500 of every table operation before the first layout is applied."""

    kind = "layout_not_ready"


class Unavailable(ApiError):
    """502, 503, 504: quorum, time-out, proxy. A write answered so may still have happened (seen on 2.5.0)."""

    kind = "unavailable"


class ServerFault(ApiError):
    """Any other 5xx."""

    kind = "server_fault"
