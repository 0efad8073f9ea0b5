import importlib.metadata
import time

import pytest

from eventlog.app.setup.session_hooks import HookContext, HookOutcome, HookResult, HookStatus, SessionLifecycleHook
from eventlog.app.setup.session_hooks.run import GROUP, registry
from eventlog.settings.schema import Settings

CONTEXT = HookContext(session_id="s", cwd="/p")


class Foreign(SessionLifecycleHook):
    def __init__(self, url="none", patience=0):
        self.url = url
        time.sleep(patience)

    def on_session_start(self, context):
        return HookResult.success(self.url)

    def on_session_end(self, context):
        return HookResult.success(self.url)


@pytest.fixture
def foreign(monkeypatch):
    """A package that offers a hook `metrics`."""
    point = importlib.metadata.EntryPoint("metrics", f"{__name__}:Foreign", GROUP)
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda self: Foreign)
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda **asked: [point] if asked == {"group": GROUP, "name": "metrics"} else [],
    )


def test_by_default_sessions_are_logged_and_nothing_else_happens():
    assert ["logging"] == registry(Settings().session_hooks).names(enabled_only=True)


@pytest.mark.parametrize(
    ("chosen", "runs"),
    [(True, True), (False, False), ({}, True), ({"enabled": False}, False), ({"enabled": True, "keep": ["x"]}, True)],
)
def test_a_hook_is_turned_on_by_its_name(chosen, runs):
    assert (["git_cleanup"] if runs else []) == registry({"git_cleanup": chosen}).names(enabled_only=True)


def test_hooks_run_in_the_order_of_the_settings():
    assert ["git_cleanup", "logging"] == registry({"git_cleanup": True, "logging": True}).names()


@pytest.mark.parametrize(
    ("hooks", "where"),
    [
        ({"git_cleanup": {"main_brunch": "x"}}, "session_hooks.git_cleanup"),
        ({"git_cleanup": {"enabled": False, "keep": "develop"}}, "session_hooks.git_cleanup"),
        ({"logging": {"log_level": "LOUD"}}, "session_hooks.logging"),
        ({"logging": {"enabled": "yes"}}, "session_hooks.logging.enabled"),
        ({"logging": {"time_limit": "long"}}, "session_hooks.logging.time_limit"),
        ({"logging": {"time_limit": 0}}, "session_hooks.logging.time_limit"),
        ({"logging": {"time_limit": float("inf")}}, "session_hooks.logging.time_limit"),
        ({"unheard_of": True}, "session_hooks.unheard_of"),
    ],
)
def test_a_mistake_names_the_key_and_costs_no_other_hook(hooks, where, foreign):
    (broken, fine) = registry({**hooks, "metrics": {"url": "here"}}).run("start", CONTEXT)

    assert HookStatus.FAILURE is broken.result.status
    assert broken.result.message.startswith(f"{where}: ")
    assert HookStatus.SUCCESS is fine.result.status


def test_a_hook_of_another_package_gets_its_options(foreign):
    (outcome,) = registry({"metrics": {"enabled": True, "url": "here"}}).run("end", CONTEXT)

    assert HookOutcome("metrics", HookResult.success("here")) == outcome


def test_a_hook_of_another_package_that_is_not_named_does_not_run(foreign):
    assert ["logging"] == registry({"logging": True}).names()


def test_what_is_wrong_with_a_foreign_hook_is_its_own_failure(foreign):
    (outcome,) = registry({"metrics": {"colour": "red"}}).run("end", CONTEXT)

    assert HookStatus.FAILURE is outcome.result.status
    assert "colour" in outcome.result.message


def test_a_foreign_hook_that_hangs_when_it_is_made_is_left_alone(foreign):
    (outcome,) = registry({"metrics": {"patience": 60, "time_limit": 0.05}}).run("end", CONTEXT)

    assert "not done after 0.05 seconds" in outcome.result.message
