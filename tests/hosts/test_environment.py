"""What tells a command of an agent from one that a person types."""

import subprocess
import sys

import pytest

from eventlog import hosts
from eventlog.hosts import profile
from eventlog.hosts.profile import profiles
from tests.support.command_line import surroundings

MARKS = [mark for host in profiles().values() for mark in host.marks]
_ASKS = """
import subprocess, sys
from eventlog.hosts.profile import is_run_by_agent
print(is_run_by_agent({}))
"""
_STARTS = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {_ASKS!r}], check=True)
"""


def _above(monkeypatch, *commands):
    monkeypatch.setattr(profile, "_above", lambda: iter(commands))


@pytest.mark.parametrize("mark", [*MARKS, "CLAUDE_CODE_SESSION_ID", "QWEN_CODE_SESSION_ID"])
def test_an_agents_command_is_told_by_its_environment(monkeypatch, mark):
    _above(monkeypatch)

    assert profile.is_run_by_agent({mark: "1"})
    assert not profile.is_run_by_agent({"TERM_PROGRAM": "vscode", "PATH": "/bin"})


@pytest.mark.parametrize(
    ("commands", "is_agents"),
    [
        (["-bash", "sshd: ada"], False),
        (["/bin/zsh", "/usr/share/cursor/cursor\0--type=pty", "/usr/bin/code"], False),  # a terminal in an editor
        (["bash\0-lc\0codex", "tmux"], False),
        (["bash", "claude"], True),
        (["sh", "node\0/usr/local/bin/gemini\0-p", "bash"], True),
        (["node\0/opt/codex.js"], True),
        (["cursor-agent"], True),
    ],
)
def test_an_agents_command_is_told_by_the_programs_above_it(monkeypatch, commands, is_agents):
    _above(monkeypatch, *commands)

    assert is_agents == profile.is_run_by_agent({})


@pytest.mark.slow
def test_an_agent_is_found_above_the_shell_it_has_started(tmp_path):
    script = tmp_path / "gemini"
    script.write_text(_STARTS)
    ran = subprocess.run([sys.executable, str(script)], env=surroundings(), capture_output=True, check=True)

    assert b"True\n" == ran.stdout


@pytest.mark.slow
def test_without_proc_the_processes_are_those_that_ps_lists():
    me = profile._listed()

    assert not me or any("python" in command for _, command in me.values())


@pytest.mark.parametrize("agent", [agent for agent in hosts.ROOMS if hosts.protocol(agent).session_variable])
def test_a_conversation_is_known_by_the_variable_of_its_host(agent):
    variable = hosts.protocol(agent).session_variable

    assert hosts.named_conversations({variable: " s-1 ", "PATH": "/bin", "TERM_SESSION_ID": "t"}) == {agent: "s-1"}
