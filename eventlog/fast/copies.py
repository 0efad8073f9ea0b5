"""Copies of values with some fields changed: of msgspec's structs, and of plain objects that hooks make instead."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    _Value = TypeVar("_Value")


def replace(value: "_Value", **fields: object) -> "_Value":
    """Copy a value with these fields."""
    structs = sys.modules.get("msgspec.structs")
    if structs and hasattr(value, "__struct_fields__"):
        changed: _Value = structs.replace(value, **fields)
        return changed
    copy = object.__new__(type(value))
    for name in getattr(type(value), "__slots__", None) or vars(value):
        object.__setattr__(copy, name, fields.get(name, getattr(value, name)))
    return copy
