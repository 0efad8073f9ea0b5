"""What a session is given at its start: is the line it will need literally there?"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from bench.memory.earlier import earlier
from bench.memory.metrics import Interval, interval
from bench.memory.world import Need
from eventlog import Machine, Memory, Store
from eventlog.app.open_store import OpenStore, open_store
from eventlog.app.session_context import request_of, session_context

BUDGETS = (9000, 3000)  # characters: the default, and a third of it


Start = Callable[[OpenStore, Need, int], str]


def presence(needs: Iterable[Need], store: Path, start: Start) -> dict[str, list[Interval]]:
    """By group, the share of needed lines that stand in the start of a session, for each budget.

    Knowledge files are rebuilt first, as they are at the end of a session; a store that does not exist stays so.
    """
    opened = _opened(store)
    told = cache(lambda need, budget: start(opened, need, budget)) if opened else lambda *_: ""
    found: dict[str, list[list[float]]] = {}
    for need in needs:
        asked = need._replace(group="", line="")  # contexts of one place are the same
        found.setdefault(need.group, []).append([float(need.line in told(asked, budget)) for budget in BUDGETS])
    return {group: [interval(shares) for shares in zip(*rows, strict=True)] for group, rows in found.items()}


def _opened(store: Path) -> OpenStore | None:
    if not store.exists():
        return None
    Memory(store).replay()
    machine = Machine.here()._replace(home=str(store.parent), program="eventlog")
    return open_store(Store(str(store)), machine)


def newest_first(opened: OpenStore, need: Need, budget: int) -> str:
    """As it was."""
    return earlier(opened, request_of(opened, need.project), budget)


def ours(opened: OpenStore, need: Need, budget: int) -> str:
    """As it is, where nothing is known of what the session is about."""
    return session_context(opened, request_of(opened, need.project, budget=budget)).context.text


ARMS: Mapping[str, Start] = {"newest first": newest_first, "eventlog context": ours}
