"""A context that stays current, for programs that live longer than a hook.

    INITIAL ── load ──▶ LOADING ──▶ READY ── reload ──▶ RELOADING ──▶ READY
                           │                                │
                           └──▶ INITIAL (failed)            └──▶ READY (failed: the last good context)

A context is a value: what a caller holds does not change under its hands, and one for a shared session is built from
nothing that was built for the main one.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from eventlog.errors import BadRequest
from eventlog.projections.context.agent_context import AgentContext

Load = Callable[[], AgentContext]


class LoadState(StrEnum):
    """Where a context is in its life."""

    INITIAL = "initial"
    LOADING = "loading"
    READY = "ready"
    RELOADING = "reloading"


_MAY_BECOME = {
    LoadState.INITIAL: {LoadState.LOADING},
    LoadState.LOADING: {LoadState.READY, LoadState.INITIAL},
    LoadState.READY: {LoadState.RELOADING},
    LoadState.RELOADING: {LoadState.READY},
}


class LiveContext:
    """Loads with `load`, one thread at a time; readers never wait for a reload.

    Beside the directories its files lie in, `places` are watched: the log of the store, say.
    """

    def __init__(self, load: Load, places: Iterable[str] = ()) -> None:
        self._load = load
        self._places = frozenset(places)
        self._lock = threading.Lock()
        self._context: AgentContext | None = None
        self.state = LoadState.INITIAL

    @property
    def context(self) -> AgentContext:
        """The last good one, loaded now where there is none yet."""
        return self._context or self.load()

    def load(self) -> AgentContext:
        """Load for the first time, or again; what `load` raises is passed on, and the last good context stays."""
        with self._lock, self._becoming(LoadState.RELOADING if self._context else LoadState.LOADING):
            self._context = self._load()
            return self._context

    reload = load

    def watch(self, stop: threading.Event | None = None) -> Iterator[AgentContext]:
        """Yield a new context whenever a change of a file has changed it; until `stop` is set.

        Needs the extra `watch`; raises BadRequest without it.
        """
        try:
            from watchfiles import watch
        except ImportError as error:
            hint = "pip install 'agent-eventlog[watch]'"
            raise BadRequest("watching files needs watchfiles, which is not installed", hint=hint) from error
        places = self._places | {result.file_path.rpartition("/")[0] for result in self.context.results}
        known = self.context.version
        for _ in watch(*sorted(filter(_is_directory, places)), stop_event=stop, recursive=False, debounce=100):
            if self.reload().version != known:
                known = self.context.version
                yield self.context

    @contextmanager
    def _becoming(self, busy: LoadState) -> Iterator[None]:
        before = self.state
        self._become(busy)
        try:
            yield
        except BaseException:
            self._become(before)
            raise
        self._become(LoadState.READY)

    def _become(self, state: LoadState) -> None:
        if state not in _MAY_BECOME[self.state]:
            raise AssertionError(f"{self.state} never becomes {state}")
        self.state = state


def _is_directory(path: str) -> bool:
    from pathlib import Path

    return Path(path).is_dir()
