"""The hook that allows an agent's saving commands: those, and nothing that could be anything else."""

import json
import shlex
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.hosts.copilot.permit import answer
from eventlog.hosts.save_commands import NotPlain, read_commands
from tests.support.command_line import call, surroundings

OURS, STORE = "/opt/venv/bin/eventlog", "/home/ada/.eventlog"
SAVE = f'{OURS} summary --session s-1 --topic "The cart" --summary "Done. Prices are integers!"'
FACT = f"{OURS} fact 'It costs $5' --entity='the cart' --session s-1"


def _asked(line, tool="bash", key="command"):
    payload = {"hookName": "permissionRequest", "sessionId": "c", "toolName": tool, "toolInput": {key: line}}
    return json.dumps(payload).encode()


@pytest.mark.parametrize(
    "line",
    [
        SAVE,
        FACT,
        f"{SAVE} && {FACT}",
        f"{SAVE};\n{FACT}\n",
        f"'{OURS}' fact a\\ b --session s-1",
        f"{OURS} summary \\\n  --topic x --summary 'y'",
        f"{OURS} fact x --store {STORE}",
        f"{OURS} fact x --store={STORE}",
        f"{OURS} fact 'a `touch x` $(ls) $5 ; && | > <(ls)\nb' --session s-1",
        f"{OURS} fact - --session s-1 <<'EOF'\nit's `touch x` $(ls) $5 ; && | > <(ls) \" \\\nEOF\n",
        f"{OURS} fact - <<'EOF' --session s-1\n\n EOF\nEOF",
        f"{OURS} summary --topic t --summary - <<'END1' && {FACT}\nit's\nEND1\n{FACT}",
        f"{OURS} fact - <<'A'; {OURS} fact y\nx\nA\n{OURS} fact - <<'B'\ny\nB",
    ],
)
def test_a_line_that_only_saves_is_allowed(line):
    assert {"behavior": "allow"} == json.loads(answer(_asked(line), OURS, STORE))


@pytest.mark.parametrize(
    ("tool", "is_allowed"),
    [
        ("eventlog/remember", True),
        ("eventlog/why", True),
        ("eventlog/forget", False),
        ("other/remember", False),
        ("remember", False),
    ],
)
def test_our_tools_that_destroy_nothing_are_allowed(tool, is_allowed):
    assert is_allowed == (answer(_asked("x", tool=tool, key="content"), OURS, STORE) != b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "",
        "ls",
        f"{OURS} uninstall claude",
        f"{OURS}",
        "/tmp/eventlog summary --topic x",
        "eventlog summary --topic x",
        f"PYTHONPATH=/tmp {OURS} summary --topic x",
        f"{OURS} --store /tmp/x summary --topic x",
        f"{OURS} fact x --store /tmp/x",
        f"{OURS} fact x --sto=/tmp/x",
        f"{OURS} fact x --store",
        f"{SAVE} && rm -rf /",
        f"{SAVE}; ls",
        f"{SAVE} | tee /tmp/x",
        f"{SAVE} || ls",
        f"{SAVE} & ls",
        f"{SAVE} &&",
        f"{SAVE} &&\n",
        f"{SAVE} > /tmp/x",
        f"{SAVE}\nls",
        f'{OURS} fact "$(ls)"',
        f'{OURS} fact "`ls`"',
        f"{OURS} fact $(ls)",
        f"{OURS} fact `ls`",
        f"{OURS} fact $HOME",
        f'{OURS} fact "!!"',
        f"{OURS} fact <(ls)",
        f"{OURS} fact *",
        f"{OURS} fact ~",
        f"{OURS} fact {{a,b}}",
        f"({SAVE})",
        f'{OURS} fact "open',
        f"{OURS} fact 'open",
        f"{OURS} fact x\\",
        f"{OURS} fact x # {OURS}",
        f"{OURS} fact - <<EOF\n$(ls)\nEOF",
        f"{OURS} fact - <<EOF\nx\nEOF",
        f'{OURS} fact - <<"EOF"\nx\nEOF',
        f"{OURS} fact - <<E'OF'\nx\nEOF",
        f"{OURS} fact - <<'E'OF\nx\nE",
        f"{OURS} fact - <<'E'$(ls)\nx\nE",
        f"{OURS} fact - <<-'EOF'\nx\nEOF",
        f"{OURS} fact - <<<'EOF'\nx\nEOF",
        f"{OURS} fact - << 'EOF'\nx\nEOF",
        f"{OURS} fact -<<'EOF'\nx\nEOF",
        f"{OURS} fact - 2<<'EOF'\nx\nEOF",
        f"<<'EOF' {OURS} fact -\nx\nEOF",
        f"{OURS} fact - <<''\nx\n\nls",
        f"{OURS} fact - <<'EOF'\nx\n",
        f"{OURS} fact - <<'EOF'",
        f"{OURS} fact - <<'EOF\nx\nEOF",
        f"{OURS} fact - <<'EOF'\nx\nEOF ",
        f"{OURS} fact - <<'EOF'\nx\nEOF\nls",
        f"{OURS} fact - <<'EOF'\nx\nEOF\nEOF",
        f"{OURS} fact - <<'EOF'\nEOF\ntouch x\nEOF",
        f"{OURS} fact - <<'EOF'; ls\nx\nEOF",
        f"{OURS} fact - <<'EOF' | sh\nx\nEOF",
        f"{OURS} fact - <<'EOF' > /tmp/x\nx\nEOF",
        f"{OURS} fact - <<'EOF' & ls\nx\nEOF",
        f"{OURS} fact - <<'EOF' <<'E2'\nx\nEOF\ny\nE2",
        f"{OURS} fact - <<'EOF' 'a\nEOF\nls\n'\nEOF",
        f"{OURS} fact - <<'EOF' \\\nEOF\nls\nEOF",
        f"{OURS} fact - <<'EOF'\nthe !last\nEOF",
        "cat <<'EOF'\nx\nEOF",
        f"bash <<'EOF' && {OURS} fact x\nls\nEOF",
        f"{OURS} fact - < /etc/passwd",
        f"{OURS} fact ; ls",
        f"{OURS} fact $5",
        f'{OURS} fact "$5"',
    ],
)
def test_what_may_do_more_is_asked_about(line):
    assert b"" == answer(_asked(line), OURS, STORE)


@pytest.mark.parametrize("asked", [_asked(SAVE, tool="write"), _asked(SAVE, key="path"), b"[]", b"{}"])
def test_another_tool_is_asked_about(asked):
    assert b"" == answer(asked, OURS, STORE)


@given(st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=4), min_size=1, max_size=4))
def test_quoted_words_are_read_as_they_were_meant(commands):
    meant = [[word.replace("!", "") for word in words] for words in commands]

    assert meant == read_commands(" && ".join(map(shlex.join, meant)))


@pytest.mark.slow
@given(st.text(alphabet="ab \t\\'\";&$`|<>()!#~*=", max_size=12))
@example('a\'b c\'"d\\"\\a"\\ e')
@example(";;")
@example("&&")
def test_plain_words_are_those_a_shell_reads(text):
    try:
        commands = read_commands(f"x {text}")
    except NotPlain:
        return
    if len(commands) == 1:
        ran = subprocess.run(["/bin/sh", "-c", f"printf '%s\\0' x {text}"], capture_output=True, check=True)

        assert [*commands[0], ""] == ran.stdout.decode().split("\0")


@pytest.mark.slow
def test_the_registered_command_allows_and_keeps_silent(home):
    call("install", "copilot", "--allow")
    (handler,) = json.loads((home / ".copilot/hooks/eventlog-permit.json").read_text())["hooks"]["permissionRequest"]
    program, store = shlex.split(handler["bash"].partition(" 2>")[0])[-2:]

    def ask(line):
        return subprocess.run(
            ["/bin/sh", "-c", handler["bash"]], input=_asked(line), capture_output=True, env=surroundings(), check=False
        )

    ours, others, broken = ask(f"{program} fact x"), ask("ls"), ask("\udcff".encode("utf-8", "replace").decode())
    gone = subprocess.run(
        ["/bin/sh", "-c", handler["bash"].replace(sys.executable, "/nowhere/python")],
        input=b"",
        capture_output=True,
        check=False,
    )

    assert store == str(home / ".eventlog")
    assert b'{"behavior":"allow"}' == ours.stdout
    assert [(0, b"", b"")] * 3 == [(one.returncode, one.stdout, one.stderr) for one in (others, broken, gone)]
