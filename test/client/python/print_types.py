"""Prints the members of each type of the Python client, and the values of its enumerations."""

import json
from typing import get_args, get_type_hints

from causeway import types


def values(hint):
    """The literals of a hint, also in lists, unions and optional members."""
    found = [hint] if isinstance(hint, str) else []
    return sorted({*found, *(value for part in get_args(hint) for value in values(part))})


def enumerations(cls):
    named = {member: values(hint) for member, hint in get_type_hints(cls).items()}
    return {member: found for member, found in named.items() if found}


members = {
    name: {
        "required": sorted(cls.__required_keys__),
        "optional": sorted(cls.__optional_keys__),
        "values": enumerations(cls),
    }
    for name, cls in vars(types).items()
    if hasattr(cls, "__required_keys__") and not name.startswith("_")
}
print(json.dumps(members))
