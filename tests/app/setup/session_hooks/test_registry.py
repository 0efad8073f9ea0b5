import threading
import time

import pytest
from msgspec import to_builtins

from eventlog.app.setup.session_hooks import (  # fmt: skip
    HookContext,
    HookRegistry,
    HookResult,
    HookStatus,
    SessionLifecycleHook,
    get_registry,
)
from eventlog.app.setup.session_hooks.run import registry as configured_registry

CONTEXT = HookContext(session_id="s", cwd="/p")


class Hook(SessionLifecycleHook):
    """Does what it is told at either moment, and remembers the moments."""

    def __init__(self, act=HookResult.success, name="hook"):
        self._act = act
        self._name = name
        self.seen = []

    @property
    def name(self):
        return self._name

    def on_session_start(self, context):
        self.seen.append(("start", context.session_id))
        return self._act()

    def on_session_end(self, context):
        self.seen.append(("end", context.session_id))
        return self._act()


def registered(*hooks, **options):
    registry = HookRegistry()
    for hook in hooks:
        registry.register(hook, **options)
    return registry


def statuses(outcomes):
    return [(one.hook, str(one.result.status)) for one in outcomes]


def test_hooks_run_in_the_order_they_were_registered():
    registry = registered(Hook(name="b"), Hook(name="a"))

    assert [("b", "success"), ("a", "success")] == statuses(registry.run("start", CONTEXT))


@pytest.mark.parametrize("moment", ["start", "end"])
def test_a_hook_is_told_of_the_moment_and_the_session(moment):
    hook = Hook()
    registered(hook).run(moment, CONTEXT)

    assert [(moment, "s")] == hook.seen


def test_a_second_hook_of_the_same_name_replaces_the_first():
    first, second = Hook(), Hook()
    registered(first, second).run("start", CONTEXT)

    assert ([], 1) == (first.seen, len(second.seen))


@pytest.mark.parametrize("given", [Hook, "logging", None, lambda context: None])
def test_what_is_no_hook_is_refused_and_told_what_to_do(given):
    registry = HookRegistry()
    with pytest.raises(TypeError, match="register"):
        registry.register(given)

    assert [] == registry.names()


def test_a_class_is_told_how_it_is_registered():
    with pytest.raises(TypeError, match=r"register\(Hook\(\)\)"):
        HookRegistry().register(Hook)  # type: ignore[arg-type]


def test_a_cleared_registry_is_empty():
    registry = registered(Hook(name="a"), Hook(name="b"))
    registry.clear()

    assert [] == registry.names()


def test_a_hook_that_is_not_enabled_is_listed_and_does_not_run():
    registry, off = registered(Hook(name="on")), Hook(name="off")
    registry.register(off, enabled=False)

    assert (["on", "off"], ["on"]) == (registry.names(), registry.names(enabled_only=True))
    assert [("on", "success")] == statuses(registry.run("start", CONTEXT))
    assert [] == off.seen


def test_hooks_a_program_registers_for_itself_run_after_those_of_the_settings(tmp_path):
    own, configured = Hook(name="own"), Hook(name="logging")
    get_registry().register(own)
    get_registry().register(configured)
    try:
        found = configured_registry({"logging": True})
        assert ["logging", "own"] == found.names()
        assert configured is not found.get("logging")
        found.run("end", HookContext(session_id="s", cwd="/p", store=str(tmp_path)))
    finally:
        get_registry().clear()

    assert [("end", "s")] == own.seen
    assert get_registry() is get_registry()


def _exit():
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (_exit, "SystemExit: 3"),
        (lambda: None, "gave NoneType, not a HookResult"),
    ],
    ids=["raises", "exits", "says nothing"],
)
def test_a_failing_hook_costs_only_its_own_result(act, message):
    outcomes = registered(Hook(act, "bad"), Hook(name="good")).run("end", CONTEXT)

    assert [("bad", "failure"), ("good", "success")] == statuses(outcomes)
    assert message == outcomes[0].result.message


def test_a_hanging_hook_is_left_alone_and_the_next_one_runs():
    release = threading.Event()
    registry = registered(Hook(release.wait, "hangs"), time_limit=0.05)
    registry.register(Hook(name="next"))
    outcomes = registry.run("end", CONTEXT)
    release.set()

    assert [("hangs", "failure"), ("next", "success")] == statuses(outcomes)
    assert outcomes[0].result.message == "not done after 0.05 seconds; left alone"


def _slow():
    time.sleep(0.05)
    return HookResult.success("slow")


def test_a_hook_within_its_limit_is_waited_for():
    registry = registered(Hook(_slow), time_limit=20)

    assert registry.run("end", CONTEXT)[0].result.message == "slow"


@pytest.mark.parametrize("status", list(HookStatus))
def test_a_result_carries_status_message_and_details(status):
    result = getattr(HookResult, str(status))("because", branch="b")

    assert {"status": str(status), "message": "because", "details": {"branch": "b"}} == to_builtins(result)


@pytest.mark.parametrize("details", [{"thing": object()}, {"text": "\udc80"}])
def test_a_result_that_cannot_be_written_down_is_a_failure(details):
    (outcome,) = registered(Hook(lambda: HookResult.success("x", **details))).run("start", CONTEXT)

    assert HookStatus.FAILURE is outcome.result.status
    assert "cannot be written down" in outcome.result.message


def test_a_result_of_any_length_is_told_in_short():
    (outcome,) = registered(Hook(lambda: HookResult.warning("y" * 2_000_000, more="z" * 2_000_000))).run("end", CONTEXT)

    assert (HookStatus.WARNING, 1000, {}) == (
        outcome.result.status,
        len(outcome.result.message),
        outcome.result.details,
    )
