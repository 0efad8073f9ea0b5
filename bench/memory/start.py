"""What a session is given at its start: is the line it will need literally there?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from bench.memory.earlier import earlier
from bench.memory.metrics import Interval, interval
from bench.memory.world import Need
from eventlog import Machine, Memory, Store
from eventlog.app.open_store import OpenStore, open_store
from eventlog.app.serve.bearing import with_bearings
from eventlog.app.serve.session_context import request_of, session_context

BUDGETS = (9000, 3000)  # characters: the default, and a third of it


Start = Callable[[OpenStore, Need, int], str]
Found = dict[str, list[list[float]]]


def presence(needs: Iterable[Need], store: Path, start: Start) -> dict[str, list[Interval]]:
    """By group, the share of needed lines that stand in the start of a session, for each budget."""
    return shares([looked_for(needs, store, start)])


def shares(found: Iterable[Found]) -> dict[str, list[Interval]]:
    """The same of several stores."""
    rows: dict[str, list[list[float]]] = {}
    for group, more in (pair for one in found for pair in one.items()):
        rows.setdefault(group, []).extend(more)
    return {group: [interval(column) for column in zip(*given, strict=True)] for group, given in rows.items()}


def looked_for(needs: Iterable[Need], store: Path, start: Start) -> Found:
    """By group, whether each line is there, for each budget.

    Knowledge files are rebuilt first, as they are at the end of a session; a store that does not exist stays so.
    """
    opened = _opened(store)
    told = cache(lambda need, budget: start(opened, need, budget)) if opened else lambda *_: ""
    found: Found = {}
    for need in needs:
        asked = need._replace(group="", line="")  # contexts of one place are the same
        found.setdefault(need.group, []).append([float(need.line in told(asked, budget)) for budget in BUDGETS])
    return found


def _opened(store: Path) -> OpenStore | None:
    if not store.exists():
        return None
    memory = Memory(store)
    memory.replay()
    memory.search("anything", everywhere=True)  # the index is made
    machine = Machine.here()._replace(home=str(store.parent), program="eventlog")
    return open_store(Store(str(store)), machine)


def newest_first(opened: OpenStore, need: Need, budget: int) -> str:
    """As it was."""
    return earlier(opened, request_of(opened, need.project), budget)


def ours(opened: OpenStore, need: Need, budget: int) -> str:
    """As it is, where nothing is known of what the session is about."""
    return session_context(opened, request_of(opened, need.project, budget=budget)).text


def on_branch(opened: OpenStore, need: Need, budget: int) -> str:
    """As it is, on the branch of the task."""
    return _at_work(opened, need, budget, branch=need.branch)


def on_another(opened: OpenStore, need: Need, budget: int) -> str:
    """As it is, on a branch that has nothing to do with the task."""
    return _at_work(opened, need, budget, branch=need.other_branch)


def with_changes(opened: OpenStore, need: Need, budget: int) -> str:
    """As it is, where another file of the earlier work has been changed."""
    return _at_work(opened, need, budget, files=need.files)


def _at_work(opened: OpenStore, need: Need, budget: int, branch: str = "", files: Sequence[str] = ()) -> str:
    request = request_of(opened, need.project, budget=budget)
    work = with_bearings(opened.store, need.project, branch, files)
    request.work = work
    return session_context(opened, request).text


ON_A_TRUNK: Mapping[str, Start] = {"newest first, as it was": newest_first, "eventlog context, on a trunk": ours}
ARMS: Mapping[str, Start] = {
    **ON_A_TRUNK,
    "on the branch of the task": on_branch,
    "on the branch of another": on_another,
    "on a trunk, another file of that work changed": with_changes,
}
