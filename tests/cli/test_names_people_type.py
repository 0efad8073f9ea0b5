"""Verbs, options, topics and what a shell completes: a slip of the finger is asked about, help is where one looks."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from unittest import mock

import pytest

import eventlog
from eventlog.app.naming.names import INSTALL
from eventlog.cli.verbs import VERBS
from tests.support import builders
from tests.support.command_line import call

PAGES = sorted(page for page in Path(eventlog.__file__).with_name("docs").glob("*.md") if page.stem != "index")
E42A = "e42af0ad-aa06-410e-9e13-c17ade27a4f1"


@pytest.fixture
def store(tmp_path):
    builders.write(tmp_path / "log", builders.line(1, conversation_id=E42A, project="/src/shop") + b"\n")
    return tmp_path


# ------------------------------------------------------------------------------------------------ slips


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        (("sesions",), "no verb 'sesions'\n  did you mean sessions"),
        (("quer",), "no verb 'quer'\n  did you mean query"),
        (("version",), "did you mean --version?"),
        (("list",), "did you mean sessions or query?"),
        (("query", "--sesion", "x"), "no option --sesion\n  did you mean --session or --since?"),
        (("install", "claud"), "no 'claud'\n  did you mean claude?"),
        (("query", "--format", "tabel"), "no 'tabel'\n  did you mean table?"),
        (("help", "formt"), "did you mean format or forget?"),
    ],
)
def test_a_slip_is_asked_about(args, asked):
    ran = call(*args)

    assert (2, "") == (ran.code, ran.out)
    assert asked in ran.err


def test_an_agent_to_install_goes_by_either_of_its_names(home):
    call("install", "claude-code", "--no-allow")

    assert (home / ".claude" / "settings.json").exists()


@pytest.mark.parametrize("args", [("query",), ("show", "last"), ("why", "--session", "last"), ("undo", "8d21c0")])
def test_a_store_without_events_says_so_in_one_way(tmp_path, args):
    said = call(*args, "--store", str(tmp_path)).err.splitlines()

    assert [f"eventlog: nothing has happened yet in {tmp_path}", f"  {INSTALL}"] == said


def test_recall_is_explained_for_a_session_that_the_log_has_by_part_of_its_id(store):
    explain = ("recall", "--explain", "x", "--store", str(store), "--session")
    ran = call(*explain, "e42b")

    assert (0, "") == (call(*explain, "e42a").code, ran.out)
    assert ran.err.startswith("eventlog: no session 'e42b'")


# ------------------------------------------------------------------------------------------------ help


@pytest.mark.parametrize(
    "args", [("-h",), ("query", "-h"), ("hook", "-h"), ("lifecycle", "run", "-h"), ("help",), ("help", "query")]
)
def test_help_is_where_people_look_for_it(args):
    ran = call(*args)

    assert (0, "") == (ran.code, ran.err)
    assert ran.out.startswith("Usage: eventlog")


@pytest.mark.slow
@pytest.mark.parametrize("verb", [*VERBS, "sync start", "backup restore", "lifecycle run", "team trust"])
def test_help_of_a_verb_is_its_own(verb):
    assert call("help", *verb.split()).out.startswith(call(*verb.split(), "--help").out)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_of_the_documentation_is_a_topic(page):
    assert call("help", page.stem).out.endswith(page.read_text(encoding="utf-8"))


def test_help_lists_the_topics():
    listed = call("help").out.rpartition("Topics: ")[2].strip().split(", ")

    assert [page.stem for page in PAGES] == listed


# ------------------------------------------------------------------------------------------------ completion


def _completed(store, *words):
    line = " ".join(["eventlog", *words])
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), "EVENTLOG_HOME": str(store)}
    with mock.patch.dict(os.environ, _EVENTLOG_COMPLETE="bash_complete", **asked):
        ran = call()
    return [said.removeprefix("plain,") for said in ran.out.splitlines() if said]


def test_a_shell_completes_verbs_projects_sessions_ids_and_agents(store):
    assert ["sessions"] == _completed(store, "sess")
    assert ["shop"] == _completed(store, "query", "--project", "sh")
    assert ["last", "e42af0"] == _completed(store, "query", "--session", "''")
    assert [builders.fact(1)["id"][-6:]] == _completed(store, "query", "--id", "''")
    assert ["cursor"] == _completed(store, "sessions", "--agent", "cur")
    assert (
        _completed(store, "query", "--id", "''") == _completed(store, "undo", "''") == _completed(store, "forget", "''")
    )


@pytest.mark.parametrize("name", ["$(touch x)", "a;touch x", "`x`", "o'neil", "my shop", "商店", "shop-1.2"])
def test_what_a_shell_completes_is_one_word_that_runs_nothing(tmp_path, name):
    """A repository or a session may have any name; bash takes a completion into its command line as it is."""
    builders.write(tmp_path / "log", builders.line(1, conversation_id=name, project=f"/src/{name}") + b"\n")

    assert [name] == shlex.split(" ".join(_completed(tmp_path, "query", "--project", "''")))
    assert ["last", name] == shlex.split(" ".join(_completed(tmp_path, "query", "--session", "''")))


def test_an_id_of_several_lines_is_no_completion(tmp_path):
    builders.write(tmp_path / "log", builders.line(1, conversation_id="a\nplain,$(touch x)") + b"\n")

    assert ["last"] == _completed(tmp_path, "query", "--session", "''")


def test_a_completion_never_complains(tmp_path):
    (tmp_path / "log").write_text("in the way")

    assert [] == _completed(tmp_path, "query", "--project", "sh")


@pytest.mark.parametrize(
    ("shell", "place"),
    [
        ("bash", ".local/share/bash-completion/completions/eventlog"),
        ("zsh", ".local/share/zsh/site-functions/_eventlog"),
        ("fish", ".config/fish/completions/eventlog.fish"),
    ],
)
def test_completion_is_installed_where_the_shell_looks_and_twice_is_once(home, monkeypatch, shell, place):
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    printed = call("completion", shell).out
    told = call("completion", shell, "--install"), call("completion", shell, "--install")

    assert (home / place).read_text() == printed.removesuffix("\n")
    assert "_EVENTLOG_COMPLETE" in printed
    assert str(home / place) in told[0].out == told[1].out


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="no bash on this machine")
def test_bash_understands_the_script():
    checked = subprocess.run(
        ["bash", "-n"], input=call("completion", "bash").out.encode(), capture_output=True, check=False
    )

    assert (0, b"") == (checked.returncode, checked.stderr)
