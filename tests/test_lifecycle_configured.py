import importlib.metadata

import pytest

from eventlog.errors import BadSettings
from eventlog.lifecycle import HookResult, SessionLifecycleHook
from eventlog.lifecycle.configured import GROUP, registry
from eventlog.settings import Settings


class Foreign(SessionLifecycleHook):
    def __init__(self, url="none"):
        self.url = url

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
    assert ["logging"] == list(registry(Settings().session_hooks))


@pytest.mark.parametrize(
    ("chosen", "runs"),
    [(True, True), (False, False), ({}, True), ({"enabled": False}, False), ({"enabled": True, "keep": ["x"]}, True)],
)
def test_a_hook_is_turned_on_by_its_name(chosen, runs):
    assert (["git_cleanup"] if runs else []) == list(registry({"git_cleanup": chosen}))


def test_hooks_run_in_the_order_of_the_settings():
    assert ["git_cleanup", "logging"] == list(registry({"git_cleanup": True, "logging": True}))


@pytest.mark.parametrize(
    ("hooks", "where"),
    [
        ({"git_cleanup": {"main_brunch": "x"}}, "session_hooks.git_cleanup"),
        ({"git_cleanup": {"enabled": False, "keep": "develop"}}, "session_hooks.git_cleanup"),
        ({"logging": {"log_level": "LOUD"}}, "session_hooks.logging"),
        ({"logging": {"enabled": "yes"}}, "session_hooks.logging.enabled"),
        ({"logging": {"time_limit": "long"}}, "session_hooks.logging.time_limit"),
        ({"unheard_of": True}, "session_hooks.unheard_of"),
    ],
)
def test_a_mistake_names_the_key(hooks, where):
    with pytest.raises(BadSettings) as caught:
        registry(hooks)

    assert where == caught.value.where


def test_a_hook_of_another_package_gets_its_options(foreign):
    hook = registry({"metrics": {"enabled": True, "url": "here"}}).get("metrics")

    assert isinstance(hook, Foreign)
    assert hook.url == "here"


def test_a_hook_of_another_package_that_is_not_named_does_not_run(foreign):
    assert ["logging"] == list(registry({"logging": True}))


def test_options_a_foreign_hook_does_not_know_are_an_error_that_names_it(foreign):
    with pytest.raises(BadSettings) as caught:
        registry({"metrics": {"colour": "red"}})

    assert caught.value.where == "session_hooks.metrics"
