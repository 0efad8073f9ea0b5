"""The lines agents save with, filled in as they are told to: a shell runs nothing of a text, and it is stored to the byte."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from eventlog.app.setup.install import parts
from eventlog.format.codec import to_fields
from eventlog.format.events import Fact, StageSummary
from eventlog.hooks import prompts
from eventlog.hosts.call import HookCall
from eventlog.hosts.save_commands import only_saves
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from tests.support.command_line import call

NASTY = [
    "After a schema change run `touch ran` first; it costs $5 per run", "a $(touch ran) b", "${HOME} $HOME $5 $$ $?",
    "x; touch ran", "x && touch ran", "x | touch ran", "x > ran", "x <(touch ran)", "x & touch ran &", "!! !touch !-1",
    "don't `touch ran`", "it's $(touch ran) \"quoted\" 'both'", "'; touch ran; '", "' $(touch ran) '", "''", "\\' \\\\ \\n",
    "two\nlines\n`touch ran`", "EOF's\n EOF\nEOF \n$(touch ran)", "~ * ? [a] {a,b} # no comment", "- one\n- it's two\n",
    "端口是 8443：`touch ran`", "tab\tand  two spaces", "<b>it's</b> <<'X'",
]  # fmt: skip
_RECORDER = """#!/bin/sh
at="$0.$(ls "$0".* 2>/dev/null | wc -l)"
printf '%s\\0' "$@" > "$at"
for word do [ "$word" = - ] && cat > "$at.stdin"; done
exit 0
"""


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """A directory with a program in our place: it writes down what a shell gives it."""
    program = tmp_path / "eventlog"
    program.write_text(_RECORDER)
    program.chmod(0o755)
    monkeypatch.setattr(prompts, "program", lambda: str(program))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENTLOG_HOME", str(tmp_path / "store"))
    return program


def filled(line, example, text):
    """The line with a text in the place of an example, as `prompts.QUOTING` tells."""
    quoted = f"'{example}'"
    assert quoted in line
    if "'" not in text:
        return line.replace(quoted, f"'{text}'")
    return f"{line.replace(quoted, '-')} <<'EOF'\n{text}\nEOF"


def ran(program, line):
    """The words and the stdin a real shell gives for that line."""
    subprocess.run(
        ["/bin/sh", "-c", line], check=True, capture_output=True, cwd=program.parent, stdin=subprocess.DEVNULL
    )
    words, *said = sorted(program.parent.glob("eventlog.*"))
    given = words.read_bytes().decode().split("\0")[:-1], said[0].read_bytes() if said else b""
    for file in (words, *said):
        file.unlink()
    assert not (program.parent / "ran").exists()
    return given


def save_lines(text):
    return [line.strip() for line in text.splitlines() if re.match(r"    \S*eventlog (fact|summary) ", line)]


@pytest.mark.slow
@pytest.mark.parametrize("locale", ["en", "zh"])
def test_a_text_in_the_given_line_is_run_by_no_shell_and_stored_to_the_byte(shell, locale):
    told = prompts.start(Store(str(shell.parent / "store")), HookCall("codex", "Stop", {}, session="c"), locale)
    summary, fact = save_lines(told)
    fact_text, summary_text = shlex.split(fact)[4], shlex.split(summary)[-1]
    log = EventLog(shell.parent / "store")
    for number, text in enumerate(NASTY):
        line = filled(fact, fact_text, text)
        words, said = ran(shell, line)
        assert only_saves(line, str(shell), str(shell.parent / "store")) or "!" in text or "EOF" in text
        assert 0 == call(*words, stdin=said).code
        assert text == [event for event in log.read() if isinstance(event, Fact)][-1].content

        words, said = ran(shell, filled(summary, summary_text, f"{number} {text}"))
        assert 0 == call(*words, stdin=said).code
        assert f"{number} {text}" == [event for event in log.read() if isinstance(event, StageSummary)][-1].summary


@pytest.mark.parametrize("locale", ["en", "zh"])
@pytest.mark.parametrize("said", [prompts.start, prompts.ask, prompts.flush])
def test_no_line_that_agents_are_given_has_a_text_in_double_quotes(said, locale, tmp_path):
    for name in ("Stop", "UserPromptSubmit"):
        told = said(Store(str(tmp_path)), HookCall("codex", name, {}, session="c"), locale)

        assert not re.search(r'"[^"]*"', told)
        assert prompts.QUOTING[locale] in told
        assert not {"<", ">"} & {*told}


@pytest.mark.parametrize("locale", ["en", "zh"])
def test_after_a_compaction_no_sentence_is_told_twice(locale, tmp_path):
    told = prompts.start(Store(str(tmp_path)), HookCall("codex", "SessionStart", {}, session="c"), locale, "compact")
    sentences = [sentence for sentence in re.split(r"(?<=[.。])\s*|\n", told) if sentence.strip()]

    assert sorted({*sentences}) == sorted(sentences)
    assert prompts.QUOTING[locale] in told


def test_nor_has_a_rule_file_or_the_help_of_the_verbs():
    texts = [text for locale, text in parts._TEXT.items() if prompts.QUOTING[locale]]
    texts += [call(verb, "--help").out for verb in ("fact", "summary", "plan")]

    assert not [
        line for text in texts for line in text.splitlines() if re.search(r"eventlog|program", line) and '"' in line
    ]


@pytest.mark.parametrize("verb", ["fact", "summary", "plan"])
def test_stdin_is_read_to_the_byte_and_the_end_of_its_last_line_is_not_in_it(home, monkeypatch, tmp_path, verb):
    text = "  two\r\n lines\t\n\n"
    args = {
        "fact": ["fact", "-"],
        "summary": ["summary", "--topic", "t", "--summary", "s", "--todo", "-"],
        "plan": ["plan", "--path", "user", "--heading", "H", "--content", "-"],
    }[verb]
    done = call(*args, "--session", "s", stdin=f"{text}\n".encode())
    (event,) = EventLog(home / ".eventlog").read()

    assert 0 == done.code
    fields = to_fields(event)
    assert text == fields.get("content") or [text] == fields.get("todos")


def test_one_text_is_read_from_stdin_and_only_as_text(home):
    twice = call("summary", "--topic", "-", "--summary", "-", "--session", "s", stdin=b"x")
    broken = call("fact", "-", "--session", "s", stdin=b"\xff\xfe")

    assert (2, 2) == (twice.code, broken.code)
    assert "give `-` once" in twice.err
    assert "stdin" in broken.err
    assert not Path(home / ".eventlog" / "log").exists()


# ------------------------------------------------------------------------------------------------ by tool


HOSTS = {"claude": "claude-code", "codex": "codex", "gemini": "gemini", "copilot": "copilot", "qwen": "qwen-code"}
_SAYS = (prompts.start, prompts.ask, prompts.flush)


def told(home, agent, says, locale="en", where="/"):
    return says(Store(str(home / ".eventlog")), HookCall(agent, "Stop", {"cwd": str(where)}, session="c"), locale)


@pytest.mark.slow
@pytest.mark.parametrize("locale", ["en", "zh"])
@pytest.mark.parametrize(("host", "agent"), [*HOSTS.items(), ("opencode", "opencode"), ("cursor", "cursor")])
def test_where_a_host_starts_our_server_every_text_names_its_tools_first(home, host, agent, locale):
    call("install", host)
    texts = [told(home, agent, says, locale) for says in _SAYS]
    texts.append(call("context", "--session", "c", "--agent", host).out)
    call("install", host, "--no-mcp")

    assert not [text for text in texts if "`remember`" not in text or re.search(r"eventlog (summary|plan)", text)]
    assert all(text.index("`remember`") < text.find("eventlog fact") for text in (texts[0], texts[3]))
    assert not [text for text in texts[1:3] if "eventlog fact" in text]
    assert "`recall`" in texts[0]
    assert not [says for says in _SAYS if "`remember`" in told(home, agent, says, locale)]


def test_a_server_of_one_project_is_named_in_that_project_only(home, tmp_path):
    call("install", "codex", "--project")
    (tmp_path / "other" / ".git").mkdir(parents=True)

    assert "`remember`" in told(home, "codex", prompts.start, where=tmp_path / "project")
    assert "`remember`" not in told(home, "codex", prompts.start, where=tmp_path / "other")


def test_a_server_that_a_person_takes_out_is_named_no_more(home):
    call("install", "claude")
    (home / ".claude.json").write_text("{}")

    assert "`remember`" not in told(home, "claude-code", prompts.start)


@pytest.mark.parametrize("by_tool", ["--mcp", "--no-mcp"])
def test_a_start_tells_in_one_sentence_how_the_users_own_file_is_changed(home, by_tool):
    call("install", "codex", by_tool)
    [sentence] = [one for one in re.split(r"\.\s", told(home, "codex", prompts.start)) if "USER.md" in one]

    assert len(sentence) <= 200
    assert "section" in sentence


def test_rules_name_the_tools_first_where_the_host_has_them(home, tmp_path):
    skill, shared = home / ".claude/skills/eventlog/SKILL.md", tmp_path / "project" / "AGENTS.md"
    call("install", "claude", "--with-rules")
    by_tool = skill.read_text()
    call("install", "claude", "--with-rules", "--no-mcp")
    call("install", "codex", "--project", "--with-rules")
    call("install", "copilot", "--project", "--with-rules")  # it reads the same file, and has no tools in a project

    assert by_tool.index("`remember`") < by_tool.index("eventlog fact")
    assert all("plan" in text or "section" in text for text in (by_tool, skill.read_text()))
    assert "`remember`" not in skill.read_text()
    assert "`remember`" in shared.read_text()


@pytest.mark.parametrize("how", [prompts._BY_TOOL, prompts._BY_SHELL], ids=["by tool", "by shell"])
def test_what_is_said_of_the_knowledge_bases_takes_few_characters_of_a_start(how):
    english, chinese = (how[locale]["how"] for locale in ("en", "zh"))
    [said] = re.findall(r"What is lastingly true of the user.*?\.(?=\n\n|$)", english, re.DOTALL)
    [also] = re.findall(r"用户长期不变的情况.*?。(?=\n\n|$)", chinese, re.DOTALL)

    assert "USER.md" in said
    assert "USER.md" in also
    assert max(len(said), len(also)) <= 200
