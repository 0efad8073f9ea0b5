import threading
from datetime import UTC, datetime

import pytest

from eventlog.app.watch import LiveContext, LoadState
from eventlog.errors import BadRequest
from eventlog.projections.context.agent_context import AgentContext, SessionType
from tests.support.context_scene import history


def made(version="1"):
    return AgentContext("s", SessionType.MAIN, datetime(2026, 2, 21, tzinfo=UTC), version=version)


class Source:
    """Hands out versions; fails where it is told to; tells in which state it was asked."""

    def __init__(self, *versions):
        self.versions = list(versions)
        self.states = []
        self.live = LiveContext(self)

    def __call__(self):
        self.states.append(self.live.state)
        version = self.versions.pop(0)
        if version is None:
            raise OSError("gone")
        return made(version)


def test_a_context_is_initial_then_loading_then_ready():
    source = Source("1")
    before = source.live.state
    source.live.load()

    assert (LoadState.INITIAL, [LoadState.LOADING], LoadState.READY) == (before, source.states, source.live.state)


def test_then_reloading_then_ready_again():
    source = Source("1", "2")
    source.live.load()
    source.live.reload()

    assert ([LoadState.LOADING, LoadState.RELOADING], LoadState.READY, "2") == (
        source.states,
        source.live.state,
        source.live.context.version,
    )


def test_asking_for_it_loads_it_once():
    source = Source("1")

    assert source.live.context is source.live.context


def test_a_load_that_fails_leaves_it_initial():
    source = Source(None, "1")
    with pytest.raises(OSError, match="gone"):
        source.live.load()

    assert source.live.state is LoadState.INITIAL
    assert source.live.context.version == "1"


def test_a_reload_that_fails_keeps_the_last_good_one():
    source = Source("1", None)
    source.live.load()
    with pytest.raises(OSError, match="gone"):
        source.live.reload()

    assert (LoadState.READY, "1") == (source.live.state, source.live.context.version)


def test_a_context_in_someones_hands_does_not_change(tmp_path):
    scene = history(tmp_path)
    live = LiveContext(lambda: scene.ask().context)
    held = live.context
    (scene.project / "AGENTS.md").write_text("Changed")
    live.reload()

    assert "Prices are integers" in held.text
    assert "Changed" in live.context.text


def test_loads_take_turns():
    inside, most = [], []

    def load():
        inside.append(1)
        most.append(len(inside))
        inside.pop()
        return made()

    live = LiveContext(load)
    threads = [threading.Thread(target=live.load) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert ({1}, LoadState.READY) == (set(most), live.state)


def first_change(live, nudge):
    """What a watcher gives first, while it is nudged until it is up and sees it."""
    stop = threading.Event()
    timers = [threading.Timer(wait / 4, nudge, [wait]) for wait in range(1, 30)]
    for one in timers:
        one.daemon = True
        one.start()
    fresh = next(live.watch(stop))
    stop.set()
    for one in timers:
        one.cancel()
    return fresh


def test_a_changed_file_is_noticed(tmp_path):
    pytest.importorskip("watchfiles")
    scene = history(tmp_path)
    live = LiveContext(lambda: scene.ask().context)
    fresh = first_change(live, lambda wait: (scene.project / "AGENTS.md").write_text(f"Changed {wait}"))

    assert "Changed" in fresh.text


def test_a_new_event_is_noticed_where_the_log_is_watched(tmp_path):
    pytest.importorskip("watchfiles")
    scene = history(tmp_path)
    live = LiveContext(lambda: scene.ask().context, [scene.log.store.log])
    fresh = first_change(live, lambda wait: scene.tell(("21 11:00", "now", "fact", {"content": f"Said {wait}"})))

    assert "Said" in fresh.text


def test_without_the_extra_watching_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "watchfiles", None)

    with pytest.raises(BadRequest) as caught:
        next(LiveContext(made).watch())
    assert "agent-eventlog[watch]" in caught.value.hint
