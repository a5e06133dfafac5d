"""Prints the required and the optional members of each type of the Python client."""

import json

from causeway import types

members = {
    name: {"required": sorted(cls.__required_keys__), "optional": sorted(cls.__optional_keys__)}
    for name, cls in vars(types).items()
    if hasattr(cls, "__required_keys__") and not name.startswith("_")
}
print(json.dumps(members))
