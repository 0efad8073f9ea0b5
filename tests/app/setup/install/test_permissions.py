"""The leave to save: the narrowest rule each host has, given only with consent, and taken out to the byte."""

import json
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.setup.install.toml_edit import TomlText
from eventlog.format.errors import BadRequest
from eventlog.hooks import prompts
from eventlog.hosts.copilot import profile
from eventlog.hosts.profile import Grant
from tests.support.command_line import call, on_a_terminal

RULES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/policies/eventlog.toml",
    "copilot": ".copilot/hooks/eventlog-permit.json",
    "qwen": ".qwen/settings.json",
}
TABLE, KEY, ROOT = "sandbox_workspace_write", "writable_roots", "/home/ada/.eventlog"
TOML = {
    "empty": "",
    "another table": '# mine\nmodel = "x"\n\n[tools]\nweb = true\n',
    "no newline at the end": 'model = "x"',
    "the table": f"[{TABLE}]\nnetwork_access = true\n\n[tools]\nweb = true\n",
    "the table at the end": f"[{TABLE}]  # mine",
    "an empty list": f"[{TABLE}]\n{KEY} = []\n",
    "a list": f"[{TABLE}]\n{KEY} = ['/a', \"/b]\"]  # both\n[z]\n",
    "a list of lines": f'[{TABLE}]\n{KEY} = [\n    "/a",  # one, ]\n    "/b",\n]\nz = 1\n',
    "a byte order mark": '\ufeffmodel = "x"\n',
    "a byte order mark before the table": f"\ufeff[{TABLE}]\nnetwork_access = true\n",
    "a table in a line": f'{TABLE} = {{{KEY} = ["/a"]}}\n',
    "a key with dots": f'{TABLE}.{KEY} = ["/a"]\n',
    "CRLF": f'model = "x"\r\n[{TABLE}]\r\nnetwork_access = true\r\n',
}
JSON = {
    "hooks of others": '{"hooks": {"Stop": []}, "z": 1}',
    "rules of others": '{\n    "permissions": {\n        "allow": ["Bash(ls:*)"],\n        "deny": []\n    }\n}\n',
    "comments": '// mine\n{\n  "permissions": {\n    /* none */\n  }\n}\n',
    "CRLF and tabs": '{\r\n\t"permissions": {\r\n\t\t"allow": []\r\n\t}\r\n}',
}


def _put(home, agent, text):
    path = home / RULES[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def _grant(home):
    return Grant(prompts.program(), str(home / ".eventlog"))


def _saving(agent):
    agents = json.loads(call("doctor", "--json").out)["agents"]
    return next(one["saving"] for one in agents if one["agent"] == agent)


# ------------------------------------------------------------------------------------------------ every byte


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "text"),
    [*(("codex", text) for text in TOML.values()), *(("claude", text) for text in JSON.values())],
    ids=[*TOML, *JSON],
)
def test_every_byte_comes_back(home, agent, text):
    path = _put(home, agent, text)
    allowed = call("install", agent, "--allow")
    there = path.read_text()
    again = call("install", agent, "--allow")
    removed = call("uninstall", agent)

    assert (0, 0, 0) == (allowed.code, again.code, removed.code)
    assert text != there
    assert "installed" not in again.out
    assert text.encode() == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_what_others_wrote_meanwhile_stays_and_nothing_else(home, text):
    path = _put(home, "codex", text)
    call("install", "codex", "--allow")
    told = '\n[hooks.state."x"]\ntrusted_hash = "sha256:1"\n'
    path.write_bytes(path.read_bytes() + told.encode())
    call("uninstall", "codex")

    left = path.read_bytes().decode()

    assert tomllib.loads(text.lstrip("\ufeff") + "\n" + told) == tomllib.loads(left.lstrip("\ufeff"))
    assert text.rstrip() == left.replace(told, "").rstrip()


@pytest.mark.slow
@pytest.mark.parametrize("agent", RULES)
def test_files_made_for_it_go_with_it(home, agent):
    call("install", agent, "--allow")
    there = (home / RULES[agent]).exists()
    call("uninstall", agent)

    assert there
    assert not (home / RULES[agent]).exists()
    assert not (home / RULES[agent]).parent.exists()


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8), max_size=4),
    st.sampled_from(["", "\n", "# c ]\n"]),
    st.booleans(),
)
def test_an_item_comes_and_goes_in_any_list(items, between, trailing):
    listed = f",{between or ' '}".join(json.dumps(item, ensure_ascii=False) for item in items)
    text = f"a = 1\n[{TABLE}]\n{KEY} = [{between}{listed}{',' if trailing and items else ''}{between}]\n[b]\nc = 2\n"
    if ROOT in items:
        return
    there = TomlText(text).with_item(TABLE, KEY, ROOT)

    assert [*items, ROOT] == tomllib.loads(there)[TABLE][KEY]
    assert there == TomlText(there).with_item(TABLE, KEY, ROOT)
    assert tomllib.loads(text) == tomllib.loads(TomlText(there).without_item(TABLE, KEY, ROOT))


@pytest.mark.parametrize(
    "text",
    [
        f"{TABLE} = {{network_access = true}}\n",
        f"[[{TABLE}]]\n",
        f"[{TABLE}]\n{KEY} = 7\n",
        "= no TOML",
        "[a]\n[a]\n",
    ],
)
def test_what_is_written_in_another_way_is_left_alone(home, text):
    path = _put(home, "codex", text)
    ran = call("install", "codex", "--allow", "--no-mcp")

    assert 0 != ran.code
    assert text == path.read_text()
    with pytest.raises(BadRequest):
        TomlText(text).with_item(TABLE, KEY, ROOT)


def test_a_file_nobody_can_read_does_not_keep_the_hooks_in(home):
    path = _put(home, "codex", "= no TOML")
    call("install", "codex")
    ran = call("uninstall", "codex")

    assert (0, "= no TOML") == (ran.code, path.read_text())
    assert not (home / ".codex" / "hooks.json").exists()


# ------------------------------------------------------------------------------------------------ what is allowed


def test_only_saving_with_this_program_is_allowed(home):
    call("install", "claude", "--allow")
    allowed = json.loads((home / RULES["claude"]).read_text())["permissions"]["allow"]

    commands = [f"Bash({_grant(home).program} {verb}:*)" for verb in ("summary", "fact", "plan")]
    assert [*commands, *(f"mcp__eventlog__{tool}" for tool in ("remember", "recall", "why"))] == allowed


def test_another_installations_rule_is_replaced(home):
    path = _put(home, "claude", '{"permissions": {"allow": ["Bash(/old/bin/eventlog fact:*)", "Bash(make:*)"]}}')
    call("install", "claude", "--allow")
    allowed = json.loads(path.read_text())["permissions"]["allow"]

    assert "Bash(/old/bin/eventlog fact:*)" not in allowed
    assert "Bash(make:*)" in allowed


def test_the_store_is_the_one_place_that_becomes_writable(home):
    call("install", "codex", "--allow")

    assert [str(home / ".eventlog")] == tomllib.loads((home / RULES["codex"]).read_text())[TABLE][KEY]


def test_a_policy_allows_no_more_than_saving(home):
    call("install", "gemini", "--allow")
    rule, of_tools = tomllib.loads((home / RULES["gemini"]).read_text())["rule"]

    assert ("run_shell_command", "allow") == (rule["toolName"], rule["decision"])
    assert ("eventlog", ["remember", "recall", "why"]) == (of_tools["mcpName"], of_tools["toolName"])
    assert all(
        prefix.endswith(("eventlog summary", "eventlog fact", "eventlog plan")) for prefix in rule["commandPrefix"]
    )


def test_no_rule_lets_a_shell_expand_what_a_text_says(home):
    call("install", "qwen", "--allow", "--no-mcp")
    allowed = json.loads((home / RULES["qwen"]).read_text())["permissions"]["allow"]

    assert [f"mcp__eventlog__{tool}" for tool in ("remember", "recall", "why")] == allowed
    assert "asked" == _saving("qwen")["verdict"]
    assert "eventlog install qwen --allow" in _saving("qwen")["fix"]


@pytest.mark.parametrize("again", [(), ("--allow",)])
def test_a_rule_that_did_is_named_by_doctor_and_goes_with_the_next_install(home, again):
    old = [f"run_shell_command({_grant(home).program} {verb} *)" for verb in ("summary", "fact")]
    text = json.dumps({"permissions": {"allow": [*old, "run_shell_command(make *)", "mcp__eventlog__remember"]}})
    path = _put(home, "qwen", text)
    named = call("doctor")
    call("install", "qwen", *again)
    allowed = json.loads(path.read_text())["permissions"]["allow"]

    assert 1 == named.code
    assert "eventlog install qwen --allow" in named.out
    assert "run_shell_command(make *)" in allowed
    assert not {*old} & {*allowed}
    assert "lets its agent run more" not in call("doctor").out


# ------------------------------------------------------------------------------------------------ with consent


@pytest.mark.slow
@pytest.mark.parametrize("agent", RULES)
def test_in_a_pipe_nothing_is_allowed_unasked(home, agent):
    call("install", agent, "--no-mcp")

    assert "allowed" != _saving(agent)["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize("agent", [agent for agent in RULES if agent != "qwen"])
def test_a_leave_is_kept_until_it_is_taken_back(home, agent):
    call("install", agent, "--allow", "--no-mcp")
    call("install", agent, "--no-mcp")
    kept = _saving(agent)["verdict"]
    taken = call("install", agent, "--no-allow", "--no-mcp")

    assert "allowed" == kept
    assert "removed" in taken.out
    assert "allowed" != _saving(agent)["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "verdict"), [("\n", "allowed"), ("n\n", "asked")])
def test_on_a_terminal_the_user_is_asked(home, answer, verdict):
    said = on_a_terminal("install", "claude", typed=answer, HOME=str(home))

    assert "may Claude Code save, also in USER.md, without asking you? [Y/n]" in said
    assert verdict == _saving("claude")["verdict"]


@pytest.mark.slow
def test_who_has_agreed_is_not_asked_again(home):
    call("install", "claude", "--allow")
    said = on_a_terminal("install", "claude", typed="n\n", HOME=str(home))

    assert "without asking you?" not in said
    assert "unchanged  Claude Code permission" in said
    assert "allowed" == _saving("claude")["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize("agent", [agent for agent in RULES if agent != "qwen"])
def test_the_program_is_allowed_by_one_path_however_python_was_called(home, monkeypatch, agent):
    python = Path(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python.parent / ".." / python.parent.name / python.name))
    call("install", agent, "--allow")
    told = (home / RULES[agent]).read_text()

    assert "/../" not in told
    assert "allowed" == _saving(agent)["verdict"]
    monkeypatch.setattr(sys, "executable", str(python))
    assert "allowed" == _saving(agent)["verdict"]


def test_a_host_without_such_a_rule_says_so(home, monkeypatch):
    monkeypatch.setattr(profile, "PROFILE", profile.PROFILE._replace(permission=profile.NO_RULE))
    ran = call("install", "copilot", "--allow")

    assert 0 == ran.code
    assert "has no rule that would let it save" in ran.out


def test_a_hook_of_the_users_own_is_left_alone(home):
    path = home / RULES["copilot"]
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 1, "hooks": {"permissionRequest": [{"type": "command", "bash": "true"}]}}')
    before = path.read_bytes()
    call("install", "copilot", "--no-allow")
    call("uninstall", "copilot")

    assert before == path.read_bytes()


# ------------------------------------------------------------------------------------------------ what doctor says


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "text", "verdict"),
    [
        ("claude", "{}", "asked"),
        ("claude", '{"permissions": {"allow": ["Bash"]}}', "allowed"),
        ("claude", '{"permissions": {"allow": ["Bash"], "deny": ["Bash"]}}', "refused"),
        ("codex", "", "refused"),
        ("codex", 'sandbox_mode = "danger-full-access"', "allowed"),
        ("codex", "[sandbox_workspace_write]\nwritable_roots = ['/']", "allowed"),
        ("codex", "sandbox_mode = 'read-only'\n[sandbox_workspace_write]\nwritable_roots = ['/']", "refused"),
        ("gemini", "", "asked"),
        ("copilot", "", "asked"),
        ("qwen", "{}", "asked"),
        ("qwen", '{"permissions": {"allow": ["run_shell_command"]}}', "allowed"),
        ("qwen", '{"permissions": {"allow": ["run_shell_command"], "ask": ["run_shell_command"]}}', "asked"),
        ("copilot", '{"version": 1, "hooks": {}}', "asked"),
    ],
)
def test_doctor_says_what_becomes_of_a_save(home, agent, text, verdict):
    _put(home, agent, text)
    call("install", agent, "--no-mcp")

    assert verdict == _saving(agent)["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "text", "verdict"),
    [
        ("claude", "{}", "asked"),
        ("claude", '{"permissions": {"allow": ["Bash"]}}', "asked"),
        ("claude", '{"permissions": {"allow": ["mcp__eventlog"]}}', "allowed"),
        ("claude", '{"permissions": {"allow": ["mcp__eventlog"], "deny": ["mcp__eventlog__remember"]}}', "refused"),
        ("codex", "sandbox_mode = 'read-only'", "allowed"),
        ("gemini", '[[rule]]\nmcpName = "eventlog"\ntoolName = ["remember"]\ndecision = "allow"', "allowed"),
        ("gemini", '[[rule]]\nmcpName = "other"\ntoolName = ["remember"]\ndecision = "allow"', "asked"),
        ("copilot", "", "asked"),
        ("qwen", '{"permissions": {"allow": ["mcp__eventlog__*"], "ask": ["mcp__eventlog__*"]}}', "asked"),
    ],
)
def test_doctor_says_what_becomes_of_a_save_by_tool(home, agent, text, verdict):
    _put(home, agent, text)
    call("install", agent)
    line = next(line for line in call("doctor").out.splitlines() if f" {agent} " in line)

    assert verdict == _saving(agent)["verdict"]
    assert line.endswith(" by tool")


@pytest.mark.slow
@pytest.mark.parametrize("agent", RULES)
def test_what_is_allowed_lets_every_host_save_by_tool(home, agent):
    call("install", agent, "--allow")

    assert {"verdict": "allowed", "fix": ""} == _saving(agent)


@pytest.mark.slow
@pytest.mark.parametrize("agent", [agent for agent in RULES if agent != "qwen"])
def test_doctor_names_the_command_that_allows_it(home, agent):
    call("install", agent, "--no-mcp")
    call(*_saving(agent)["fix"].split()[1:])

    assert {"verdict": "allowed", "fix": ""} == _saving(agent)


def test_doctor_names_what_takes_the_leave_away(home):
    _put(home, "codex", "sandbox_mode = 'read-only'\n")
    call("install", "codex", "--allow", "--no-mcp")

    assert "sandbox_mode" in _saving("codex")["fix"]
    assert "may not save" in call("doctor").out


def test_doctor_names_the_options_of_a_host_without_rules(home, monkeypatch):
    monkeypatch.setattr(profile, "PROFILE", profile.PROFILE._replace(permission=profile.NO_RULE))
    call("install", "copilot")

    assert "--allow-tool" in _saving("copilot")["fix"]


# ------------------------------------------------------------------------------------------------ a list that is none


def test_a_list_of_rules_that_is_none_keeps_neither_hooks_out_nor_in(home):
    before = b'{"permissions": {"allow": null}}'
    path = _put(home, "claude", before.decode())

    installed = call("install", "claude", "--allow")
    assert installed.err.splitlines() == [
        f"eventlog: {path}: permissions.allow is not a list",
        "  correct the file by hand, then do it again; it was not changed",
    ]
    assert b"eventlog" in path.read_bytes()

    assert call("uninstall", "claude").code == 0
    assert path.read_bytes() == before
