# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one place that talks to AnsibleModule: in, out, and the words of every failure. Private: not for use outside of the collection."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ._argspec import connection_spec
from ._client import Client
from ._connection import AnyConnection, resolve_connection, resolve_pods, resolve_site_role, together
from ._errors import GarageError, GateClosed, InputError, PartlyFailed
from ._executor import Outcome, Task, converge
from ._kubernetes import KUBERNETES_ERROR
from ._plan import resolve
from ._pods import PodConnection, Pods
from ._transport import HIDDEN, REQUESTS_ERROR
from ._transport_exec import ExecTransport
from ._transports import AutoTransport, open_transport


def run_task(name: str, argument_spec: Mapping, build: Callable[[Mapping], Task], **constraints: Any) -> None:
    """A module that declares something. ``build`` turns options into a Task and raises InputError; ``name`` is the key of the result."""
    run_job(argument_spec, lambda params, context: _converge(name, *together(lambda: build(params), context.client), context), **constraints)


def run_info(name: str, argument_spec: Mapping, read: Callable[[Client, Mapping], Any], **constraints: Any) -> None:
    """A module that only reads: never changed, also in check mode. Secrets that ``read`` returns are opened."""
    run_job(argument_spec, lambda params, context: {"changed": False, name: resolve(read(context.client(), params), {})}, **constraints)


def run_job(argument_spec: Mapping, job: Callable[[Mapping, Context], dict], **constraints: Any) -> None:
    """Anything else: ``job`` gets the options and a Context and returns the result."""
    module = AnsibleModule(argument_spec={**connection_spec(), **argument_spec}, supports_check_mode=True, **constraints)
    context = Context(module)
    try:
        _refuse_printing(module)
        result = job(module.params, context)
    except GarageError as error:
        context.finish()
        module.fail_json(**_failure(error, context), **context.chosen())
    except (KeyError, TypeError, AttributeError) as error:
        # JSON of another shape than Garage's: models take fields for granted. The trace is for -vvv.
        context.finish()
        strange = GarageError(f"an answer of the server does not have the shape of Garage's ({type(error).__name__}: {error})",
                              hint="see that api_url is the Admin API of a Garage; if it is, this is a fault of the collection: please report it")
        module.fail_json(**_failure(strange, context), **context.chosen(), exception=traceback.format_exc())
    context.finish()
    module.exit_json(**result, **_reveal(module), **context.chosen())


class Context:
    """What a job may use of the module: a client (made at first use, so that bad input fails before anything is opened)."""

    def __init__(self, module: AnsibleModule) -> None:
        self._module = module
        self._clients: list[Client] = []
        self.check = module.check_mode
        self.no_log = bool(module.no_log)

    def client(self, params: Mapping | None = None, where: str = "") -> Client:
        """A client for ``params`` (default: the module's own connection options), which stand at ``where``. Raises InputError."""
        params = self._module.params if params is None else params
        environ = os.environ if params is self._module.params else {}
        connection, site_role = together(lambda: resolve_connection(params, environ, _read_file, where), lambda: resolve_site_role(params, environ))
        self._need_library(connection)
        # The token may come from a file or the environment, where AnsibleModule does not know it to be secret.
        self._module.no_log_values.update({connection.token} - {""})
        client = Client(open_transport(connection), site_role=site_role, retries=params.get("retries", 3), retry_delay=params.get("retry_delay", 1.0))
        if (params.get("site_role"), site_role) == ("writer", "follower"):
            client.warnings.append("site_role: writer is refused: the connection's profile (GARAGE_SITE_ROLE) says follower, which holds")
        self._clients.append(client)
        return client

    def bearing(self, client: Client, token: str, source: str) -> Client:
        """``client`` with another token, by which the server can be asked about that token itself. It comes from ``source``."""
        other = Client(client.transport.bearing(token, source), site_role=client.site_role, retries=client.retries, retry_delay=client.retry_delay)
        self._clients.append(other)
        return other

    def pods(self) -> tuple[Pods, Callable[[str], Client]]:
        """The pods that the option ``kubernetes`` means, and a client for the Garage in one of them, by its name. Raises InputError."""
        params = self._module.params
        connection, site_role = together(lambda: resolve_pods(params), lambda: resolve_site_role(params, os.environ))
        self._need_library(connection)
        pods = Pods(connection)

        def client(pod: str) -> Client:
            made = Client(ExecTransport(pods.at(pod), chosen=True), site_role=site_role, retries=params["retries"], retry_delay=params["retry_delay"])
            self._clients.append(made)
            return made

        return pods, client

    def hide(self, secret: str) -> None:
        """Have a secret struck from messages, and from the whole result unless that was asked to hold it."""
        if not self._module.params.get("return_secret"):
            self._module.no_log_values.add(secret)

    def warn(self, text: str) -> None:
        self._module.warn(text)

    def finish(self) -> None:
        for client in self._clients:
            for text in client.warnings:
                self._module.warn(text)
            client.close()

    def chosen(self) -> dict:
        """Where a transport was chosen, which one and why, for the result."""
        told = [client.transport.decision for client in self._clients if isinstance(client.transport, AutoTransport) and client.transport.decision]
        return {"transport": told[0]} if told else {}

    def _need_library(self, connection: AnyConnection) -> None:
        name, error = ("kubernetes", KUBERNETES_ERROR) if isinstance(connection, PodConnection) else ("requests", REQUESTS_ERROR)
        if error:
            self._module.fail_json(msg=missing_required_lib(name), exception=error)

    @property
    def secrets(self) -> list[str]:
        return [secret for client in self._clients for secret in client.secrets]


def _refuse_printing(module: AnsibleModule) -> None:
    """A secret in a result is printed by -v and by a failing loop, unless the task says no_log."""
    if module.params.get("return_secret") and not module.no_log:
        raise InputError("return_secret: the task must have `no_log: true`, or its result would be printed with the secret in it")


def _reveal(module: AnsibleModule) -> dict:
    """AnsibleModule strikes the value of an option that is a secret from the whole result. Where ``return_secret`` asks for that very value,
    let it pass, and keep it out of the options that are returned beside the result."""
    secret = module.params.get("secret_access_key")
    if not secret or not module.params.get("return_secret"):
        return {}
    module.no_log_values.discard(secret)
    return {"invocation": {"module_args": {**module.params, "secret_access_key": HIDDEN}}}


def _converge(name: str, task: Task, client: Client, context: Context) -> dict:
    return present(name, converge(task, client, context.check), context)


def present(name: str, outcome: Outcome, context: Context) -> dict:
    """The result of a converged subject: the same keys in check mode, when changed and when not."""
    for note in outcome.plan.notes:
        context.warn(note)
    if outcome.failed:
        raise _partly(name, outcome)
    return {"changed": outcome.plan.changed, name: outcome.result, "diff": outcome.plan.diff, "actions": list(outcome.plan.would)}


def _partly(name: str, outcome: Outcome) -> GarageError:
    """A run that went on after errors fails in the end, with the state as it is now and every error by its subject."""
    errors = outcome.failed
    whole = PartlyFailed(f"{len(errors)} of {len(outcome.plan.before)} subjects failed: " + "; ".join(
        f"{subject}: {error.message}" for subject, error in errors.items()), hint="mend these, then run this again; the others are done")
    whole.done = outcome.done
    whole.result = {name: outcome.result, "failures": [{"subject": subject, "msg": error.message, "error": error.data()}
                                                       for subject, error in errors.items()]}
    return whole


def _failure(error: GarageError, context: Context) -> dict:
    parts = [error.message]
    if error.done:
        parts.append(f"Done before that: {'; '.join(error.done)}.")
    if error.left:
        parts.append(f"Not done: {'; '.join(error.left)}. A further run goes on from there.")
    if error.hint:
        parts.append(f"What to do: {error.hint}.")
    text = " ".join(part if part.endswith((".", "!", "?")) else part + "." for part in parts)
    for secret in context.secrets:
        text = text.replace(secret, "********")
    failure = {**error.result, "msg": text, "error": error.data(), "changed": bool(error.done)}
    if isinstance(error, GateClosed):
        failure["pending"] = True
    return failure


def _read_file(path: str) -> str:
    with open(path, encoding="utf-8") as handle:
        return handle.read()
