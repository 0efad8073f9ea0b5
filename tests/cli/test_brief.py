"""`eventlog` alone: where one stands in at most twelve lines, and on an empty store the three steps to a working one."""

import pytest

from tests.support.command_line import call, on_a_terminal


@pytest.fixture
def lines(home):
    def lines(*args):
        ran = call(*args)
        assert (0, "") == (ran.code, ran.err)
        assert 12 >= len(ran.out.splitlines())
        assert 80 >= max(map(len, ran.out.replace(str(home), "~").splitlines()))
        return ran.out

    return lines


def _worked(todos=(), **named):
    options = [part for todo in todos for part in ("--todo", todo)]
    call(
        "summary", "--topic", "Cart totals", "--summary", "Exact now", *options, "--session", "s1", "--agent", "claude"
    )
    call("fact", "Prices are integers in cents", "--category", "decision", "--session", "s1")


def test_an_empty_store_tells_the_four_steps_to_a_working_one(home, lines):
    (home / ".claude").mkdir()
    before = lines()
    call("install", "claude", "--no-allow")
    after = lines()

    assert [f"no memory yet in {home}/.eventlog", "1  eventlog install claude  (found here)"] == before.splitlines()[:2]
    assert ["1", "2", "3", "4"] == [line[0] for line in before.splitlines()[1:]]
    assert "2  eventlog import claude  (past conversations, each under its own date)" in before
    assert "1  ✓ hooks are installed: claude" in after
    assert not (home / ".eventlog" / "log").exists()


def test_the_brief_tells_what_was_done_last_what_is_open_and_what_is_new(home, lines):
    _worked(["Write the migration guide", "Tell ops"])
    said = lines()

    assert said.startswith("project  2 events, 1 session in all projects\n")
    assert "last   Cart totals – claude-code, just now" in said
    assert "open   Write the migration guide · Tell ops" in said
    assert "new    1 decision this week" in said
    assert said.splitlines()[-1].startswith("next   eventlog ")


def test_what_is_new_is_counted_by_what_its_category_means_in_any_language(home, lines):
    for text, category in (
        ("金额用分", "决策"),
        ("四舍五入一次", "Decisions"),
        ("退款要审核", "合规"),
        ("限额五万", "合规"),
    ):
        call("fact", text, "--category", category, "--session", "s1")

    assert "new    2 decisions, 2 合规 this week" in lines()


def test_decisions_of_summaries_are_new_too_and_each_is_counted_once(home, lines):
    _worked()
    decided = ("Round half even", "prices are integers in cents.")
    call(
        *("summary", "--topic", "T", "--summary", "S", "--session", "s2"),
        *(word for text in decided for word in ("--decision", text)),
    )

    assert "new    2 decisions this week" in lines()


def test_the_brief_tells_what_waits_for_the_person(home, lines):
    call("plan", "--path", "soul", "--heading", "Tone", "--content", "short", "--session", "s1")
    call("apply")

    assert "you    1 change of ~/.config/agents/SOUL.md waits: eventlog resolve" in lines()


def test_the_brief_tells_whether_hooks_work_and_what_they_need(home, lines):
    _worked()
    none = lines()
    call("install", "claude", "codex", "--no-allow")
    some = lines()

    assert "hooks  ! none installed: eventlog install" in none
    assert "hooks  ✓ claude installed\n       ! codex: run /hooks in Codex" in some


@pytest.mark.slow
def test_the_brief_stays_a_screen_whatever_there_is(home, lines):
    call("install", "claude", "cursor", "codex", "gemini", "copilot", "vscode", "--no-allow")
    _worked([f"第{number}件很长很长很长很长很长很长的事情" for number in range(9)])
    for base in ("soul", "user", "global-agents"):
        call("plan", "--path", base, "--heading", "H" * 90, "--content", "x", "--session", "s1")
    call("apply")

    assert " · 6 more" in lines()


def test_the_brief_tells_of_a_mistake_in_the_settings_and_goes_on(home, lines):
    _worked()
    (home / ".eventlog" / "config.yaml").write_text("timezone: Mars/Olympus\n")
    said = lines()

    assert "last   Cart totals" in said
    assert "config ! " in said
    assert "Mars/Olympus" in said


@pytest.mark.slow
def test_colours_are_for_terminals_that_want_them(home, monkeypatch):
    call("install", "claude", "--no-allow")
    _worked()

    assert "\x1b[32m" in on_a_terminal()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in on_a_terminal()
    assert "\x1b" not in call().out


@pytest.mark.slow
def test_no_escape_of_an_event_is_in_the_brief(home):
    call("summary", "--topic", "a\x1b[31mb\x07", "--summary", "x", "--todo", "c\x1b]0;t\x07", "--session", "s1")
    said = on_a_terminal()

    assert "\x07" not in said
    assert "\x1b[31m" not in said


@pytest.mark.parametrize("worked", [False, True])
def test_the_first_line_says_what_switches_memory_off_here(home, lines, monkeypatch, tmp_path, worked):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "shop")
    if worked:
        _worked()
    (tmp_path / "shop" / ".eventlog-disable").touch()
    by_file = lines()
    (tmp_path / "shop" / ".eventlog-disable").unlink()
    monkeypatch.setenv("EVENTLOG_DISABLED", "1")
    by_variable = lines()
    monkeypatch.delenv("EVENTLOG_DISABLED")

    said = "! memory is off here, by {}: hooks record nothing and add nothing"
    assert said.format(".eventlog-disable") == by_file.splitlines()[0]
    assert said.format("EVENTLOG_DISABLED") == by_variable.splitlines()[0]
    assert "memory is off" not in lines()
