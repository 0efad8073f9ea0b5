"""Old shapes of events, lifted one version at a time where the log is read.

A step is a pure function from the fields of version `v` to those of `v + 1`; it never sees a file. `v` grows only
when a field is renamed or split; a changed meaning is a new type, and names on disk never change.
"""

from collections.abc import Callable, Mapping

Fields = dict[str, object]
Upcast = Callable[[Fields], Fields]

STEPS: Mapping[tuple[str, int], Upcast] = {}


def upcast(fields: Fields, steps: Mapping[tuple[str, int], Upcast] = STEPS) -> Fields:
    """The same event in the newest shape there is a step to; the argument is not changed."""
    version = fields.get("v", 1)
    while isinstance(version, int) and (step := steps.get((str(fields.get("type")), version))):
        version += 1
        fields = {**step(fields), "v": version}
    return _summary_saved_as_fact(fields)


def _summary_saved_as_fact(fields: Fields) -> Fields:
    """Earlier memory tools saved stage summaries as facts of type `S`; they never count among facts."""
    if fields.get("type") != "fact" or fields.get("memory_type") != "S":
        return fields
    rest = {name: value for name, value in fields.items() if name not in ("memory_type", "content", "scope")}
    return {**rest, "type": "stage_summary", "summary": fields.get("content")}
