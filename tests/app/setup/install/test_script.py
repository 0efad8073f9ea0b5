"""A host that runs plugins gets one: a file of ours, with its commands, that comes and goes whole."""

import json
import shutil
import subprocess

import pytest

from eventlog.app.setup.install.hook_entries import value_of
from eventlog.hooks.command import HookCommand
from eventlog.hosts.profile import profiles
from eventlog.hosts.transcripts.draw import draw
from eventlog.hosts.transcripts.read import logged_steps
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from tests.support.command_line import call

PLUGIN = ".config/opencode/plugins/eventlog.js"
NODE = shutil.which("node")
PLAY = """
import { pathToFileURL } from "node:url"
const { EventLog } = await import(pathToFileURL(process.argv[1]).href)
const plugin = await EventLog({ directory: process.argv[2] })
const say = (type, properties) => plugin.event({ event: { type, properties } })
const text = (words) => [{ type: "text", text: words }]
await say("session.created", { info: { id: "ses_1" } })
await say("session.created", { info: { id: "ses_2", parentID: "ses_1" } })
await plugin["chat.message"]({ sessionID: "ses_2" }, { message: { id: "msg_0" }, parts: text("Look.") })
await plugin["chat.message"]({ sessionID: "ses_1" }, { message: { id: "msg_1" }, parts: text("Fix the cart") })
const told = { system: [] }
await plugin["experimental.chat.system.transform"]({ sessionID: "ses_1" }, told)
await plugin["tool.execute.after"]({ tool: "write", sessionID: "ses_2", callID: "c1", args: { filePath: "/a" } }, {})
await plugin["tool.execute.after"]({ tool: "read", sessionID: "ses_1", callID: "c2", args: { filePath: "/a" } }, {})
await say("message.part.updated", { part: { type: "text", sessionID: "ses_1", text: "Fixed.", time: { end: 1 } } })
await say("session.idle", { sessionID: "ses_2" })
await say("session.idle", { sessionID: "ses_1" })
const shell = { env: {} }
await plugin["shell.env"]({ sessionID: "ses_1" }, shell)
await plugin.dispose()
console.log(JSON.stringify([told.system, shell.env]))
"""
WORK = """
import { pathToFileURL } from "node:url"
const { EventLog } = await import(pathToFileURL(process.argv[1]).href)
const plugin = await EventLog({ directory: process.argv[2] })
const run = (tool, args, result) => plugin["tool.execute.after"]({ tool, sessionID: "ses_1", callID: tool + args.command, args }, result)
const commit = (title) => ({ command: `git commit -m "${title}"` })
await plugin["chat.message"]({ sessionID: "ses_1" }, { message: { id: "msg_1" }, parts: [{ type: "text", text: "Fix it" }] })
await run("apply_patch", { patchText: "*** Begin Patch\\n*** Add File: cart.py\\n+x = 1\\n*** End Patch" }, { output: "Success." })
await run("bash", commit("Round up"), { output: "hook: style\\n", metadata: { exit: 1 } })
await run("bash", commit("Round in halves"), { output: "", metadata: { exit: null } })
await run("bash", commit("Round down"), { output: "[main 1a2b3c4] Round down\\n", metadata: { exit: 0 } })
await run("todowrite", { todos: [{ content: "release", status: "pending" }] }, undefined)
console.log("1")
"""


def test_a_plugin_calls_every_event_and_goes_with_its_directory(home):
    call("install", "opencode")
    commands = value_of((home / PLUGIN).read_text())["hooks"]
    again = call("install", "opencode").out
    call("uninstall", "opencode")

    assert {*profiles()["opencode"].hooks.events} == commands.keys()
    assert all(HookCommand(one["command"]).is_own for entries in commands.values() for one in entries)
    assert again.startswith("unchanged")
    assert not (home / ".config").exists()


def test_a_plugin_of_the_users_own_comes_back(home):
    (home / PLUGIN).parent.mkdir(parents=True)
    (home / PLUGIN).write_text("// mine\n")
    call("install", "opencode")
    call("uninstall", "opencode")

    assert "// mine\n" == (home / PLUGIN).read_text()


@pytest.mark.parametrize(("agent", "path"), [("opencode", PLUGIN), ("kilo", ".config/kilo/plugin/eventlog.js")])
def test_a_plugin_of_the_users_own_is_neither_replaced_nor_a_mistake(home, agent, path):
    (home / path).parent.mkdir(parents=True)
    (home / path).write_text(mine := "export const Mine = async () => ({})\n")
    ran = call("install", agent)
    found = call("doctor").out
    left = call("uninstall", agent)

    assert (2, 0) == (ran.code, left.code)
    assert f"{path}: a plugin of yours has the name of ours\n  rename it, then do it again" in ran.err
    assert "not JSON" not in found
    assert mine == (home / path).read_text()


def test_an_older_plugin_is_replaced(home):
    call("install", "opencode")
    path = home / PLUGIN
    new = path.read_text()
    path.write_text(new.replace("const ASKS", "const OLD = 1\nconst ASKS"))
    call("install", "opencode")

    assert new == path.read_text()


def test_a_damaged_plugin_is_told_by_doctor(home):
    call("install", "opencode")
    (home / PLUGIN).write_text((home / PLUGIN).read_text().replace('"Stop"', '"Stopp"', 1))
    agents = json.loads(call("doctor", "--json").out)["agents"]
    (found,) = [one for one in agents if one["agent"] == "opencode"]

    assert any("lacks Stop" in problem["what"] for problem in found["problems"])


def _play(home, tmp_path, program=PLAY):
    plugin = shutil.copy(home / PLUGIN, tmp_path / "plugin.mjs")
    assert NODE
    command = [NODE, "--input-type=module", "-e", program, plugin, str(tmp_path)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="the plugin is a program for Node or Bun")
def test_the_plugin_tells_what_happens_and_gives_the_session_its_context(home, tmp_path):
    call("install", "opencode")
    system, environment = _play(home, tmp_path)
    told = [json.loads(line) for line in call("query", "--session", "ses_1", "--format", "jsonl").out.splitlines()]
    happened = [
        (one.get("name") or one["type"], one.get("subagent")) for one in told if one["type"] != "context_injected"
    ]

    assert [True] == [text.startswith("# Memory (eventlog)") for text in system]
    assert {"OPENCODE_SESSION_ID": "ses_1"} == environment
    assert [
        ("session_start", None),
        ("SubagentStart", "ses_2"),
        ("UserPromptSubmit", None),
        ("PostToolUse", "ses_2"),
        ("AfterAgentResponse", None),
        ("turn_end", None),
        ("session_end", None),
    ] == happened


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="the plugin is a program for Node or Bun")
def test_a_plugin_without_an_installation_says_nothing(home, tmp_path):
    call("install", "opencode")
    path = home / PLUGIN
    path.write_text(path.read_text().replace("hook.py", "gone.py"))

    assert [[], {"OPENCODE_SESSION_ID": "ses_1"}] == _play(home, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="the plugin is a program for Node or Bun")
def test_what_failed_in_a_host_of_plugins_is_not_told_as_done(home, tmp_path):
    call("install", "opencode")
    _play(home, tmp_path, WORK)
    drawing = draw(logged_steps(EventLog(Store(home / ".eventlog")).session("ses_1")), str(tmp_path))

    assert drawing
    assert "Changed cart.py. Committed “Round down”." == drawing.summary
    assert ["release"] == drawing.todos
