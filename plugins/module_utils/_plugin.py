# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What plugins that run inside of Ansible share: from their options to a client that reads. Private: not for use outside of the collection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from ._client import Client
from ._connection import resolve_connection
from ._errors import GarageError, InputError, SetupError
from ._pods import PodConnection
from ._transport import REQUESTS_ERROR
from ._transports import AutoTransport, open_transport

CONNECTION = ("api_url", "api_token", "api_token_file", "validate_certs", "ca_path", "client_cert", "client_key", "timeout", "retries", "retry_delay",
              "transport", "kubernetes")


class Plugin(Protocol):
    """What is needed of a lookup or inventory plugin whose options are set."""

    option_definitions: Mapping[str, Any]

    def get_option_and_origin(self, option: str) -> tuple[Any, str | None]: ...


def connection_options(plugin: Plugin, given: Iterable[str]) -> dict:
    """The options of the connection. Raises InputError for names in ``given`` that are no options: Ansible drops those, and a misspelt one with them.

    What Ansible took from the environment is None here: the environment comes in one place, where an option of either kind beats it as a whole.
    """
    unknown = sorted(set(given) - set(plugin.option_definitions))
    if unknown:
        raise InputError([f"{name}: there is no such option" for name in unknown])
    found = {name: plugin.get_option_and_origin(name) for name in CONNECTION}
    return {name: None if str(origin).startswith("env:") else value for name, (value, origin) in found.items()}


@contextmanager
def connected(options: Mapping, warn: Callable[[str], None], tell: Callable[[str], None] = lambda text: None) -> Iterator[Client]:
    """A client for these options and the environment. Raises InputError; a plugin writes nothing, least of all to the layout.

    ``tell`` hears which transport was chosen, where one was.
    """
    connection = resolve_connection(options, os.environ, _read_file)
    if REQUESTS_ERROR and not isinstance(connection, PodConnection):
        raise SetupError("the Python library requests is needed where Ansible runs, and cannot be imported", hint="install it: pip install requests")
    client = Client(open_transport(connection), site_role="follower", retries=options["retries"], retry_delay=options["retry_delay"])
    try:
        yield client
    finally:
        for text in client.warnings:
            warn(text)
        if isinstance(client.transport, AutoTransport) and client.transport.decision:
            tell(f"transport: {client.transport.decision}")
        client.close()


def told(error: GarageError) -> str:
    """The one sentence or two that a user sees of an error."""
    return f"{error.message}. What to do: {error.hint}." if error.hint else error.message


def _read_file(path: str) -> str:
    with open(path, encoding="utf-8") as handle:
        return handle.read()
