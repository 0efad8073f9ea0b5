"""Values with named fields, as hooks make them, and copies with some fields changed, also of msgspec's structs."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar, dataclass_transform

    _Value = TypeVar("_Value")
else:

    def dataclass_transform():  # noqa: ANN201, D103 - of use to type checkers
        return lambda kind: kind


@dataclass_transform()
class Values:
    """Values by name, those a class annotates, in that order: to load `dataclasses` takes longer than a hook has."""

    def __init__(self, *values: object, **named: object) -> None:
        if values:
            named.update(zip(type(self).__annotations__, values, strict=False))
        self.__dict__ = named

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in {**vars(self), **vars(other)})

    __hash__ = None  # type: ignore[assignment]


def replace(value: "_Value", **fields: object) -> "_Value":
    """Copy a value with these fields."""
    structs = sys.modules.get("msgspec.structs")
    if structs and hasattr(value, "__struct_fields__"):
        changed: _Value = structs.replace(value, **fields)
        return changed
    copy = object.__new__(type(value))
    slots = getattr(type(value), "__slots__", None)
    before = {name: getattr(value, name) for name in slots} if slots else vars(value)
    for name, field in {**before, **fields}.items():
        object.__setattr__(copy, name, field)
    return copy
