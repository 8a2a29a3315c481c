# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults against the JSON Schema, in plain words. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from .._errors import GarageError

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "site.schema.json"
_TYPES = {"object": "a mapping", "array": "a list", "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


@dataclass(frozen=True)
class Fault:
    """Something wrong at ``path``. With ``blocks`` the value there must not be looked at further."""

    path: tuple[str | int, ...]
    text: str
    blocks: bool = True

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.text}"


@lru_cache(maxsize=1)
def site_schema() -> dict:
    """The schema that is shipped for editors as well."""
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def schema_faults(document: Mapping) -> list[Fault]:
    """All faults of ``document``, each once. Raises GarageError when the Python library jsonschema is missing."""
    if jsonschema is None:
        raise GarageError("the Python library jsonschema is missing", hint="install it for the Python that runs ansible-playbook")
    validator = jsonschema.validators.extend(jsonschema.Draft7Validator, {"pattern": _pattern})
    found = validator(site_schema()).iter_errors(document)
    return list(dict.fromkeys(fault for error in found for fault in _explain(error)))


def _pattern(dummy: Any, pattern: str, value: Any, rule: Mapping) -> Iterator[Any]:
    # Python's $ matches before a line feed at the end, which a text of several lines in YAML has, and other languages' does not.
    if isinstance(value, str) and (value.endswith("\n") or not re.search(pattern, value)):
        yield jsonschema.ValidationError(f"does not match {pattern}")


def with_defaults(value: Any, schema: Mapping) -> Any:
    """A copy of ``value`` in which what is not set has the default that the schema states (TD-14). ``value`` has no faults."""
    if "$ref" in schema:
        schema = {**_referred(schema["$ref"]), **{name: item for name, item in schema.items() if name != "$ref"}}
    if isinstance(value, Mapping):
        known = schema.get("properties", {})
        given = {name: rule["default"] for name, rule in known.items() if "default" in rule} | dict(value)
        return {name: with_defaults(item, known.get(name, {})) for name, item in given.items()}
    if isinstance(value, list):
        return [with_defaults(item, schema.get("items", {})) for item in value]
    return value


def _referred(reference: str) -> Mapping:
    found: Any = site_schema()
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found


def dotted(path: tuple[str | int, ...]) -> str:
    """``garage_site.layout.nodes[1].capacity``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _explain(error: Any) -> Iterator[Fault]:
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        yield from (Fault((*path, name), _unknown(name, known, _hints(error.schema)), blocks=False) for name in error.instance if name not in known)
    elif error.validator == "required":
        yield from (Fault((*path, name), "is missing" + _purpose(error.schema, name)) for name in error.validator_value if name not in error.instance)
    else:
        yield Fault(path, _WORDS[error.validator](error))


def _hints(schema: Mapping) -> Mapping[str, str]:
    """What to do instead of options that people look for here and that are refused on purpose."""
    return schema.get("hints") or site_schema()["definitions"].get(schema.get("hintsFrom"), {}).get("hints", {})


def _unknown(name: str, known: list[str], hints: Mapping[str, str]) -> str:
    if hint := hints.get(name) or hints.get("<ordinal>" if name.isdecimal() else ""):
        return f"is no option here: {hint}"
    near = get_close_matches(str(name).lower(), known, n=1)
    if near:
        return f"unknown option, did you mean {near[0]}?"
    return f"unknown option; known are {', '.join(known)}" if known else "unknown option; there is none here"


def _purpose(schema: Mapping, name: str) -> str:
    text = schema.get("properties", {}).get(name, {}).get("description", "")
    return f"; it is the {text[0].lower()}{text[1:].rstrip('.')}" if text else ""


def _type(error: Any) -> str:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    found = next((words for kind, words in _TYPES.items() if jsonschema.Draft7Validator({"type": kind}).is_valid(error.instance)), "nothing")
    quote = "; put it in quotes" if wanted == ["string"] and not isinstance(error.instance, (Mapping, list)) and error.instance is not None else ""
    return f"must be {' or '.join(_TYPES[kind] for kind in wanted)}, not {found}{quote}"


def _shown(error: Any) -> str:
    return "the value" if error.schema.get("writeOnly") else repr(error.instance)[:100]


def _enum(error: Any) -> str:
    return f"{_shown(error)} must be one of {', '.join(error.validator_value)}"


def _at_least(error: Any) -> str:
    return f"{_shown(error)} must be {error.validator_value:g} or more"


# Every keyword the schema uses to refuse a value; a test holds the two together.
_WORDS: dict[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": _enum,
    "minLength": lambda error: "must not be empty",
    "maxLength": lambda error: f"must have at most {error.validator_value} characters",
    "minItems": lambda error: f"needs at least {error.validator_value} entry",
    "maxItems": lambda error: f"has {len(error.instance)} entries; at most {error.validator_value} are taken",
    "minimum": _at_least,
    "maximum": lambda error: f"{_shown(error)} must be {error.validator_value:g} or less",
    "exclusiveMinimum": lambda error: f"{_shown(error)} must be more than {error.validator_value:g}",
    "pattern": lambda error: f"{_shown(error)} {error.schema['patternErrorMessage']}",
    "anyOf": lambda error: f"{_shown(error)} {error.schema['errorMessage']}",
}
