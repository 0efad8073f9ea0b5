"""A project's own session hooks: no byte of them runs that a person has not agreed to."""

import io
from pathlib import Path
from unittest import mock

import pytest

from eventlog.app.setup.session_hooks import HookContext, HookResult, HookStatus, get_registry
from eventlog.app.setup.session_hooks.built_in import PLACE, OwnHooks, ProjectHooks
from eventlog.app.setup.session_hooks.run import registry
from eventlog.store import Store
from tests.support.command_line import call

HOOKS = """
from dataclasses import dataclass
from pathlib import Path
from eventlog.app.setup.session_hooks import HookResult, SessionLifecycleHook

Path("{ran}").touch()

@dataclass
class Note:
    text: "str"

class Greets(SessionLifecycleHook):
    def on_session_start(self, context):
        return HookResult.success(Note(f"hello {{context.session_id}}").text)

    def on_session_end(self, context):
        return HookResult.skipped("nothing")

class Breaks(SessionLifecycleHook):
    def on_session_start(self, context):
        raise ValueError("broken")

    def on_session_end(self, context):
        return HookResult.warning("careful")
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    _write(tmp_path / "shop", HOOKS.format(ran=tmp_path / "ran"))
    return tmp_path / "shop"


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


def _write(project, source):
    file = project / PLACE
    file.parent.mkdir(exist_ok=True)
    file.write_text(source)


def _agree(store, project):
    own = OwnHooks(str(project))
    own.approve(store, own.read())


def _run(store, project, moment="start", settings=None):
    context = HookContext(session_id="s1", cwd=str(project), project=str(project), store=store.root)
    return [outcome.result for outcome in registry(settings or {}, str(project)).run(moment, context)]


def _has_run(project):
    return (project.parent / "ran").exists()


def test_a_projects_own_hook_does_not_run_without_consent(store, project):
    (result,) = _run(store, project)

    assert HookStatus.SKIPPED is result.status
    assert "not trusted; `eventlog lifecycle trust`" in result.message
    assert not _has_run(project)


def test_with_consent_it_runs_and_one_that_fails_costs_no_other(store, project):
    _agree(store, project)
    (start,), (end,) = _run(store, project), _run(store, project, "end")

    assert (HookStatus.FAILURE, "Greets: hello s1; Breaks: ValueError: broken") == (start.status, start.message)
    assert (HookStatus.WARNING, "Greets: nothing; Breaks: careful") == (end.status, end.message)
    assert "success" == start.details["Greets"]["status"]


def test_its_hooks_tell_the_state_of_an_issue_only_with_consent(store, project):
    answers = "\n    def issue_state(self, context):\n        return 'open'\n"
    _write(project, HOOKS.format(ran=project.parent / "ran") + answers)
    context = HookContext(session_id="s1", cwd=str(project), project=str(project), store=store.root, issue="9")

    assert registry({}, str(project)).issue_state(context) is None
    assert not _has_run(project)
    _agree(store, project)
    assert "open" == registry({}, str(project)).issue_state(context)


def test_a_file_that_changed_since_is_asked_for_anew(store, project):
    _agree(store, project)
    _write(project, HOOKS.format(ran=project.parent / "ran") + "# one byte more")
    (result,) = _run(store, project)

    assert (HookStatus.WARNING, True) == (result.status, "changed since it was trusted" in result.message)
    assert not _has_run(project)


def test_consent_to_one_project_is_none_to_another_with_the_same_file(store, project, tmp_path):
    _agree(store, project)
    (tmp_path / "fork" / ".git").mkdir(parents=True)
    _write(tmp_path / "fork", (project / PLACE).read_text())
    (result,) = _run(store, tmp_path / "fork")

    assert HookStatus.SKIPPED is result.status
    assert not _has_run(project)


def test_consent_taken_back_is_none(store, project):
    _agree(store, project)

    assert OwnHooks(str(project)).revoke(store)
    assert not OwnHooks(str(project)).revoke(store)
    assert [HookStatus.SKIPPED] == [result.status for result in _run(store, project)]


@pytest.mark.parametrize("data", [b"", b"[1]", b"\xff", b'{"x": 1'])
def test_a_damaged_record_of_consents_holds_none(store, project, data):
    _agree(store, project)
    Path(store.trusted).write_bytes(data)

    assert [HookStatus.SKIPPED] == [result.status for result in _run(store, project)]


def test_a_file_that_leads_out_of_the_project_is_not_read(store, project, tmp_path):
    _agree(store, project)
    (tmp_path / "outside.py").write_bytes((project / PLACE).read_bytes())
    (project / PLACE).unlink()
    (project / PLACE).symlink_to(tmp_path / "outside.py")
    (result,) = _run(store, project)

    assert (HookStatus.SKIPPED, True) == (result.status, "leads out of" in result.message)
    assert not _has_run(project)


def test_the_settings_can_turn_it_off_whoever_agreed(store, project):
    _agree(store, project)

    assert [] == _run(store, project, settings={"project": False})
    assert not _has_run(project)


def test_without_such_a_file_there_is_no_such_hook(store, tmp_path):
    assert [] == _run(store, tmp_path)


def test_outside_of_any_project_nothing_is_looked_for(store, project, monkeypatch):
    _agree(store, project)
    monkeypatch.chdir(project)
    result = ProjectHooks().on_session_end(HookContext(session_id="s1", cwd="/", store=store.root))

    assert HookResult.skipped("in no project") == result


@pytest.mark.parametrize(("source", "said"), [("x = 1", "defines no hook"), ("x = (", "SyntaxError")])
def test_a_file_without_a_hook_says_so(store, project, source, said):
    _write(project, source)
    _agree(store, project)
    (result,) = _run(store, project)

    assert (HookStatus.FAILURE, True) == (result.status, said in result.message)


def test_loading_it_registers_nothing_for_the_rest_of_the_program(store, project):
    _agree(store, project)
    _run(store, project)

    assert [] == get_registry().names()


# ---------------------------------------------------------------------------------------------------------- the verbs


class _Keyboard(io.TextIOWrapper):
    """A terminal where a person has typed something."""

    def __init__(self, typed):
        super().__init__(io.BytesIO(typed), encoding="utf-8")

    def isatty(self):
        return True


def _on_terminal(*args, typed):
    with mock.patch("tests.support.command_line._stream", lambda data=b"", **_: _Keyboard(data)):
        return call(*args, stdin=typed)


def test_without_a_terminal_nobody_can_agree(store, project):
    ran = call("lifecycle", "trust", project, "--store", store.root, stdin=b"y\n")

    assert (2, True) == (ran.code, "only a person can consent" in ran.err)
    assert not Path(store.trusted).exists()


@pytest.mark.parametrize(("typed", "code", "runs"), [(b"y\n", 0, True), (b"\n", 1, False), (b"n\n", 1, False)])
def test_on_a_terminal_the_file_is_shown_and_asked_for(store, project, typed, code, runs):
    ran = _on_terminal("lifecycle", "trust", project / PLACE, "--store", store.root, typed=typed)
    _run(store, project)

    assert code == ran.code
    assert "    class Greets(SessionLifecycleHook):" in ran.out
    assert runs == _has_run(project)


def test_who_agrees_to_code_sees_the_code_as_it_stands(store, project):
    long = "return HookResult.success(" + ", ".join(f"{number}" for number in range(60)) + ")"
    _write(project, f"\tif True:  {long}\n# \u202egnp.\x1b[2J\u2028x = 1\n\n\tx\n")
    ran = _on_terminal("lifecycle", "trust", project, "--store", store.root, typed=b"n\n")

    assert f"    \tif True:  {long}\n    # \\u202egnp.\\x1b[2J\u2028x = 1\n    \n    \tx\n" in ran.out


def test_a_consent_is_given_once_and_can_be_taken_back(store, project, monkeypatch):
    monkeypatch.chdir(project)
    _agree(store, project)
    said = [call("lifecycle", "trust", *more, "--store", store.root) for more in ([], ["--withdraw"], ["--withdraw"])]
    (result,) = _run(store, project)

    assert ["is trusted until it changes", "is not trusted any more", "was not trusted"] == [
        ran.out.strip().partition(f"{project / PLACE} ")[2] for ran in said
    ]
    assert HookStatus.SKIPPED is result.status


def test_a_project_without_hooks_has_nothing_to_agree_to(store, tmp_path):
    ran = call("lifecycle", "trust", tmp_path, "--store", store.root)

    assert (2, True) == (ran.code, ".eventlog/session_hooks.py of its root" in ran.err)


def test_the_hooks_of_a_session_are_listed_with_what_keeps_them_from_running(store, project):
    listed = [call("lifecycle", "hooks", "--project", project, "--store", store.root).out]
    _agree(store, project)
    listed.append(call("lifecycle", "hooks", "--project", project, "--store", store.root).out)

    assert ["logging       on", "git_cleanup   off", "project       on   not trusted"] == [
        line.rstrip() for line in listed[0].splitlines()
    ]
    assert "project       on   trusted" == listed[1].splitlines()[-1]
