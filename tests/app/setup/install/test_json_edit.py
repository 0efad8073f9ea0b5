"""A host's file with our entries in it and without: every other byte stays where it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.setup.install import hook_entries
from eventlog.app.setup.install.json_edit import JsonText, parse
from eventlog.format.errors import BadRequest
from eventlog.hosts.profile import profiles

JSON_HOSTS = {agent: host for agent, host in profiles().items() if not host.hooks.script}
COMMANDS = {
    agent: {
        event: f"/usr/bin/python3 -I -S /opt/eventlog/hook.py --agent {agent} --event {event}"
        for event in profile.hooks.events
    }
    for agent, profile in JSON_HOSTS.items()
}
NESTED = '"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]'
FLAT = '"stop": [{"command": "say done"}]'
TEXTS = {
    "nothing but hooks": '{"hooks": {}}',
    "other settings": '{\n  "model": "opus",\n  "list": [1, 2]\n}\n',
    "other tools' hooks": f'{{\n  "hooks": {{\n    {NESTED}\n  }},\n  "after": true\n}}\n',
    "CRLF": '{\r\n    "model": "opus",\r\n    "hooks": {\r\n        "Other": []\r\n    }\r\n}\r\n',
    "tabs": '{\n\t"hooks": {\n\t\t"Other": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}',
    "odd indentation": '{\n     "hooks":\n  {\n "Other" : [ ]   }\n ,"z":1}',
    "one line": '{"a":1,"hooks":{"Other":[{"command":"x"}]},"b":2}',
    "comments": '// mine\n{\n  /* a */ "model": "opus", // why\n  "hooks": {\n    // last\n  }\n  // end\n}\n// eof',
    "a comment behind the last": '{\n  "hooks": {\n    "Other": [\n      {"command": "x"} // note\n    ] // list\n  }\n}\n',
    "a byte order mark": '\ufeff{\n  "hooks": {}\n}\n',
    "strings that look like JSON": '{"a": "}]{[,\\"//", "hooks": {}}',
    "text in Chinese": '{\n  "说明": "记忆",\n  "hooks": {}\n}\n',
    "an empty object": "{}",
}


def _merged(agent, text):
    return hook_entries.merge(text, profiles()[agent].hooks, COMMANDS[agent])


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("agent", JSON_HOSTS)
def test_every_event_is_registered_once_and_nothing_else_changed(agent, text):
    merged = _merged(agent, text)
    found = [
        (event, command) for event, command in hook_entries.commands_in(parse(merged).value) if "hook.py" in command
    ]

    assert sorted(COMMANDS[agent].items()) == sorted(found)
    assert merged == _merged(agent, merged)
    assert parse(hook_entries.strip(merged)).value in (
        parse(text).value,
        _without_hooks(text),
        {**_without_hooks(text), **profiles()[agent].hooks.document},
        {**parse(text).value, **profiles()[agent].hooks.document},
    )
    for part in (
        text.replace("\r", "").replace("}", "\n").replace("{", "\n").replace("]", "\n").replace("[", "\n").split("\n")
    ):
        assert part.strip(" \t,") in merged


def _at(text, *names):
    """The value under these keys."""
    node = parse(text)
    for name in names:
        inner = node.get(name)
        assert inner is not None
        node = inner
    return node


def _without_hooks(text):
    value = parse(text).value
    return {name: one for name, one in value.items() if name != "hooks" or one}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        text
        for name, text in TEXTS.items()
        if "'" in name or name in ("CRLF", "tabs", "one line", "a comment behind the last")
    ],
)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_taking_out_what_was_put_in_gives_back_every_byte(agent, text):
    assert text == hook_entries.strip(_merged(agent, text))


@pytest.mark.parametrize(
    "text", ['{\n  "hooks": {\n    // mine\n  }\n}\n', '{\n  "hooks": {\n    "Stop": [ /* mine */ ]\n  }\n}\n']
)
def test_a_comment_in_what_we_leave_empty_stays(text):
    assert "mine" in hook_entries.strip(_merged("claude", text))


def test_other_tools_keep_their_positions():
    text = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "first"}]}]}}'
    merged = parse(_merged("codex", text)).value["hooks"]["Stop"]

    assert "first" == merged[0]["hooks"][0]["command"]
    assert 2 == len(merged)


def test_what_others_added_behind_us_stays():
    merged = _merged(
        "cursor", '{\n  "version": 1,\n  "hooks": {\n    "stop": [\n      {"command": "a"}\n    ]\n  }\n}\n'
    )
    later = merged.replace('"loop_limit": 1\n      }', '"loop_limit": 1\n      },\n      {"command": "b"}')

    assert '"stop": [\n      {"command": "a"},\n      {"command": "b"}\n    ]' in hook_entries.strip(later)


def test_a_command_of_another_version_is_replaced_in_its_place():
    text = _merged("codex", '{"hooks": {}}')
    later = JsonText(text).append(_at(text, "hooks", "Stop"), {"hooks": [{"type": "command", "command": "b"}]})
    moved = {event: command.replace("/opt/", "/usr/lib/") for event, command in COMMANDS["codex"].items()}
    commands = [
        one["hooks"][0]["command"]
        for one in parse(hook_entries.merge(later, profiles()["codex"].hooks, moved)).value["hooks"]["Stop"]
    ]

    assert [moved["Stop"], "b"] == commands


def test_a_copy_of_ours_is_taken_out():
    text = _merged("cursor", "{}")
    stop = _at(text, "hooks", "stop")
    twice = JsonText(text).append(stop, stop.parts[0].node.value)

    assert text == _merged("cursor", twice)


def test_ours_in_a_group_of_others_is_taken_out_alone():
    ours = COMMANDS["claude"]["Stop"]
    group = {"hooks": {"Stop": [{"matcher": "", "hooks": [{"command": "a"}, {"command": ours}, {"command": "b"}]}]}}

    assert ["a", "b"] == [
        command for _, command in hook_entries.commands_in(parse(hook_entries.strip(json.dumps(group))).value)
    ]


def test_a_hook_written_by_hand_is_not_ours_to_remove():
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "eventlog hook --agent claude"}]}]}}'

    assert text == hook_entries.strip(text)


@pytest.mark.parametrize("text", ["[]", "7", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_a_file_of_another_shape_is_refused(text):
    with pytest.raises(BadRequest):
        _merged("claude", text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,,}', "line 1, column 9"),
        ("{,}", "line 1, column 2"),
        ("[1 2]", "line 1, column 4"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1\n "b": 2}', "line 2, column 2"),
        ('{"a": }', "line 1, column 7"),
        ('{"a": 1} x', "line 1, column 10"),
        ("{", "line 1, column 2"),
        ("[" * 500, "nested too deeply"),
        ('{"a": "\\x"}', "line 1, column 7"),
        ('{"a": 1 /* open }', "line 1, column 9"),
        ('{"a": NaN}', "line 1, column 7"),
        ('{"hooks": 1, "hooks": 2}', "'hooks' occurs twice at line 1, column 14"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text, where):
    with pytest.raises(BadRequest, match=where):
        parse(text)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values, st.sampled_from([None, 2, 3, "\t"]), st.booleans())
def test_every_json_text_is_read_as_what_it_says(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert value == parse(text).value
    assert set() == JsonText(text).beyond_json


@given(
    st.lists(json_values, max_size=4), json_values, st.sampled_from([None, 2, 5, "\t"]), st.sampled_from(["\n", "\r\n"])
)
def test_an_item_added_and_removed_leaves_every_byte(items, value, indent, newline):
    text = json.dumps({"list": items}, indent=indent).replace("\n", newline)
    node = _at(text, "list")
    added = JsonText(text).append(node, value)

    assert {"list": [*items, value]} == parse(added).value
    assert text == JsonText(added).remove(_at(added, "list"), len(items))


@given(st.lists(json_values, min_size=1, max_size=5), st.data(), st.sampled_from([None, 2, "\t"]))
def test_any_item_can_be_removed(items, data, indent):
    index = data.draw(st.integers(0, len(items) - 1))
    text = json.dumps(items, indent=indent)

    assert items[:index] + items[index + 1 :] == parse(JsonText(text).remove(parse(text), index)).value
