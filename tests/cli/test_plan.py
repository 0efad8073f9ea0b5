"""plan, validate, apply, status, resolve and config on the command line, from declaring to deciding."""

import json
from pathlib import Path

import pytest

from eventlog.format.errors import BadRequest
from eventlog.log.event_log import EventLog
from eventlog.settings.schema import Settings
from eventlog.store import Store
from tests.support import use_cases as module
from tests.support.bases import user_md, write_user
from tests.support.command_line import call

FILE = """version: '1.0.0'
source: from-file
entries:
  - key: {path: user, heading: A}
    content: one
  - key: {path: user, heading: B}
    operation: delete
"""


@pytest.fixture
def store(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return Store(str(tmp_path / "store"))


@pytest.fixture
def at(store):
    """The command line, on that store."""
    return lambda *args, **options: call(*args, "--store", store.root, **options)


def plan(at, content="new", *more, heading="S"):
    asked = ("--path", "user", "--heading", heading, "--content", content, "--session", "s")
    return json.loads(at("plan", *asked, *more).out)


def edited_and_planned_again(at):
    plan(at, "agent's")
    at("apply")
    write_user("## S\n\nby hand\n")
    return plan(at, "agent's again")["id"]


def events(store):
    return list(EventLog(store).read())


def test_a_plan_from_flags_is_in_the_log_at_once(at, store):
    told = plan(at, "new", "--reason", "said so", "--confidence", "0.4")
    [event] = events(store)

    assert {"status": "ok", "id": event.id} == told
    assert ("user", "S", 2, "said so", 0.4) == (
        event.key.path,
        event.key.heading,
        event.key.level,
        event.meta.reason,
        event.meta.confidence,
    )
    assert not user_md().exists()


@pytest.mark.parametrize(
    "args",
    [
        ["--heading", "S", "--content", "x"],
        ["--path", "user", "--content", "x"],
        ["--path", "user", "--heading", "S"],
        ["--path", "user", "--heading", "S", "--content", "x", "--clear"],
        ["--path", "user", "--heading", "S", "--clear", "--delete"],
        ["--path", "user", "--heading", "S", "--file", "x.yaml"],
        ["--path", "user", "--url", "https://x", "--heading", "S", "--content", "x"],
        ["--path", "../x", "--heading", "S", "--content", "x"],
        ["--path", "user", "--heading", "S", "--content", "# x"],
        ["--path", "user", "--heading", "S", "--content", "x", "--level", "7"],
    ],
)
def test_what_makes_no_sense_is_a_usage_error_and_stores_nothing(at, store, args):
    assert at("plan", *args, "--session", "s").code == 2
    assert events(store) == []


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_a_plan_from_a_file_is_one_batch_of_its_source(at, store, tmp_path, source):
    (tmp_path / "plan.yaml").write_text(FILE)
    ran = at("plan", "--file", "plan.yaml" if source == "file" else "-", stdin=FILE.encode())

    assert ["ok", "ok"] == [json.loads(line)["status"] for line in ran.out.splitlines()]
    assert [("from-file", None), ("from-file", "delete")] == [
        (one.conversation_id, one.operation) for one in events(store)
    ]
    assert len({one.batch for one in events(store)}) == 1


def test_a_dry_run_prints_the_events_and_creates_nothing(at, store, tmp_path):
    (tmp_path / "plan.yaml").write_text(FILE)
    ran = at("plan", "--file", "plan.yaml", "--dry-run")

    assert ["dry-run"] * 2 == [json.loads(line)["status"] for line in ran.out.splitlines()]
    assert not Path(store.root).exists()


def test_a_mistake_in_a_file_is_told_with_its_line(at, store, tmp_path):
    (tmp_path / "plan.yaml").write_text(FILE.replace("content: one", "content: 1"))
    ran = at("plan", "--file", "plan.yaml")

    assert (2, True) == (ran.code, "plan.yaml:5: entries[0].content: must be text" in ran.err)
    assert events(store) == []


def test_validate_tells_every_mistake_and_exits_with_1(at, tmp_path):
    (tmp_path / "good.yaml").write_text(FILE)
    (tmp_path / "bad.yaml").write_text(
        FILE.replace("heading: B", "heading: A").replace(
            "user, heading: A}\n    content", "x, heading: C}\n    content"
        )
        + "  - key: {path: user, heading: A}\n"
    )
    good, bad = at("validate", "good.yaml"), at("validate", "bad.yaml")
    as_json = json.loads(at("validate", "bad.yaml", "--json").out)

    assert (0, 1) == (good.code, bad.code)
    assert ["bad.yaml:4", "bad.yaml:8"] == [line.partition(": ")[0] for line in bad.out.splitlines()[:-1]]
    assert [4, 8] == [one["line"] for one in as_json["mistakes"]]


@pytest.mark.parametrize(
    "args", [("validate", "/dev/zero"), ("plan", "--file", "/dev/zero"), ("import", "last-word", "/dev/zero")]
)
def test_a_file_without_an_end_is_refused(at, args):
    found = at(*args)

    assert found.code
    assert "/dev/zero" in found.out + found.err


def test_a_file_may_begin_with_a_byte_order_mark(at, store, tmp_path):
    (tmp_path / "plan.yaml").write_text(FILE, encoding="utf-8-sig")

    assert [0, 0] == [at("validate", "plan.yaml").code, at("plan", "--file", "plan.yaml").code]
    assert events(store)


def test_validate_prints_the_schema(at):
    assert json.loads(at("validate", "--schema").out)["$defs"]["Entry"]
    assert at("validate").code == 2


def test_a_dry_run_of_apply_shows_the_diff_and_creates_not_even_a_directory(at, store):
    plan(at)
    before = sorted(Path(store.root).rglob("*")), sorted(Path.home().rglob("*"))
    ran = at("apply", "--dry-run")

    assert "+## S" in ran.out
    assert before == (sorted(Path(store.root).rglob("*")), sorted(Path.home().rglob("*")))


def test_apply_says_what_it_applied(at):
    plan(at)
    ran = at("apply", "--json")

    assert [("~/.config/agents/USER.md", "S", 2)] == [
        (one["file"], one["heading"], one["level"]) for one in json.loads(ran.out)["applied"]
    ]
    assert (0, "## S\n\nnew\n") == (ran.code, user_md().read_text())


def test_status_exits_with_1_while_anything_waits(at, store):
    Path(store.root).mkdir()
    nothing = at("status")
    plan(at)
    pending = at("status")
    at("apply")
    applied = at("status")
    write_user("## S\n\nby hand\n")
    drifted = at("status")

    assert [0, 1, 0, 1] == [one.code for one in (nothing, pending, applied, drifted)]
    assert ("nothing waits\n", True, True) == (
        nothing.out,
        pending.out.startswith("pending\t"),
        drifted.out.startswith("drifted\t"),
    )


def test_status_writes_nothing(at, store):
    edited_and_planned_again(at)
    before = {path: path.read_bytes() for path in Path(store.root).rglob("*") if path.is_file()}
    waiting = json.loads(at("status", "--json").out)

    assert ([1], 1) == ([len(waiting["staged"])], len(waiting["drifted"]))
    assert before == {path: path.read_bytes() for path in Path(store.root).rglob("*") if path.is_file()}


def test_apply_says_so_where_there_is_nothing_to_do(at, store):
    Path(store.root).mkdir()
    assert "nothing to apply\n" == at("apply").out


def test_resolve_shows_the_diff_and_decides_nothing(at, store):
    edited_and_planned_again(at)
    at("apply")
    count = len(events(store))
    ran = at("resolve")

    assert ("-by hand" in ran.out, "+agent's again" in ran.out, count) == (True, True, len(events(store)))


def test_resolve_apply_writes_the_entry(at, store):
    wanted = edited_and_planned_again(at)
    at("apply")
    ran = at("resolve", wanted[:20], "--apply")
    decision = next(one for one in events(store) if one.type == "entry_resolved")

    assert (0, "apply", wanted, "human") == (ran.code, decision.choice, decision.target, decision.agent)
    assert user_md().read_text() == "## S\n\nagent's again\n"
    assert ([], 0) == (list(Path(store.staging).iterdir()), at("status").code)


TWICE = "# App\n\n## Backend\n\n### Setup\n\nold\n\n## The Frontend\n\n### Setup\n\nold\n"


def planned_for_one_of_two(at):
    write_user(TWICE)
    return plan(at, "new", "--level", "3", heading="Setup")["id"]


def test_an_entry_that_means_several_sections_is_not_applied_and_the_way_out_is_named(at, store):
    wanted = planned_for_one_of_two(at)
    before = len(events(store))
    ran, shown = at("resolve", wanted, "--apply"), at("resolve")

    assert (1, "") == (ran.code, ran.out)
    assert "line 5 under App > Backend; line 11 under App > The Frontend" in ran.err
    assert "--under App --under Backend or --under App --under 'The Frontend'" in ran.err
    assert "--apply --under App --under 'The Frontend'\n" in shown.out
    assert (before, TWICE) == (len(events(store)), user_md().read_text())


def test_the_headings_above_tell_which_of_several_sections_an_entry_means(at, store):
    wanted = planned_for_one_of_two(at)
    ran = at("resolve", wanted, "--apply", "--under", "The Frontend")
    decision = next(one for one in events(store) if one.type == "entry_resolved")

    assert (0, ("The Frontend",)) == (ran.code, decision.under)
    assert TWICE[: TWICE.rindex("old")] + "new\n" == user_md().read_text()
    assert 0 == at("status").code


@pytest.mark.parametrize(("under", "code", "said"), [("Nowhere", 2, "under App > Backend"), ("App", 1, "2 sections")])
def test_headings_that_do_not_tell_one_section_decide_nothing(at, store, under, code, said):
    wanted = planned_for_one_of_two(at)
    ran = at("resolve", wanted, "--apply", "--under", under)

    assert (code, True) == (ran.code, said in ran.err)
    assert TWICE == user_md().read_text()


def test_sections_whose_headings_above_are_the_same_are_told_apart_by_hand(at):
    write_user("# A\n\n## Setup\n\n## Setup\n")
    ran = at("resolve", plan(at, "new", heading="Setup")["id"], "--apply")

    assert (1, True) == (ran.code, "give one of them another heading" in ran.err)
    assert "--under" not in at("resolve").out


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (("--content", "new"), "@@ -1,3 +1,3 @@\n ## `S` *1*\n \n-by hand\n+new\n"),
        (("--clear",), "@@ -1,3 +1 @@\n ## `S` *1*\n-\n-by hand\n"),
        (("--delete",), "@@ -1,6 +0,0 @@\n-## `S` *1*\n-\n-by hand\n-\n-### T\n-below\n"),
    ],
)
def test_the_diff_of_a_waiting_entry_shows_the_heading_as_the_file_has_it(at, change, shown):
    write_user("## `S` *1* ##\n\nby hand\n\n### T\nbelow\n")
    at("plan", "--path", "user", "--heading", "S 1", "--session", "s", *change)
    at("apply")

    assert shown in at("resolve").out


def test_the_newest_entry_that_waits_is_meant_by_last(at, store):
    planned_for_one_of_two(at)
    newest = plan(at, "newer", "--level", "3", heading="Setup")["id"]
    at("resolve", "last", "--discard")

    assert [newest] == [one.target for one in events(store) if one.type == "entry_resolved"]


def test_resolve_discard_keeps_what_is_there(at, store):
    wanted = edited_and_planned_again(at)
    at("resolve", wanted, "--discard")

    assert user_md().read_text() == "## S\n\nby hand\n"
    assert ("discard", 0) == (
        next(one.choice for one in events(store) if one.type == "entry_resolved"),
        at("status").code,
    )


@pytest.mark.slow
def test_resolve_edit_opens_the_editor(at, store, monkeypatch, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/again/and mine/' \"$1\"\ntouch -d '+1 hour' \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    wanted = edited_and_planned_again(at)
    at("resolve", wanted, "--edit")
    decision = next(one for one in events(store) if one.type == "entry_resolved")

    assert ("edited", "agent's and mine") == (decision.choice, decision.content.strip())
    assert user_md().read_text() == "## S\n\nagent's and mine\n"


@pytest.mark.slow
def test_what_was_written_in_the_editor_and_cannot_be_applied_is_kept(at, store, monkeypatch, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho '# a heading' >> \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    wanted = edited_and_planned_again(at)
    ran = at("resolve", wanted, "--edit")
    [staged] = Path(store.staging).iterdir()

    assert (2, True) == (ran.code, staged.name in ran.err)
    assert "# a heading" in staged.read_text()
    assert "+# a heading" in at("resolve", wanted).out


def test_two_decisions_at_once_are_none(at, store):
    wanted = edited_and_planned_again(at)
    at("apply")
    before = events(store)
    ran = at("resolve", wanted, "--apply", "--discard")

    assert (2, True, before) == (ran.code, "only one of --apply, --discard, --edit" in ran.err, events(store))


@pytest.mark.slow
def test_an_editor_left_without_saving_decides_nothing(at, store, monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("VISUAL", raising=False)
    wanted = edited_and_planned_again(at)

    assert at("resolve", wanted, "--edit").code == 2
    assert not any(one.type == "entry_resolved" for one in events(store))


@pytest.mark.slow
def test_a_staged_file_survives_being_edited_and_is_what_resolve_applies(at, store):
    edited_and_planned_again(at)
    at("apply")
    [staged] = Path(store.staging).iterdir()
    staged.write_text(staged.read_text().replace("agent's again", "edited in the file"))
    at("replay")
    at("resolve", staged.name, "--apply")

    assert user_md().read_text() == "## S\n\nedited in the file\n"
    assert "edited" in [one.choice for one in events(store) if one.type == "entry_resolved"]


@pytest.mark.parametrize(
    ("broken", "said"), [("entries: [", ".yaml:1: not YAML"), ("version: '1.0.0'\nentries: []\n", "its one entry")]
)
def test_a_staged_file_that_makes_no_sense_is_told_and_stays(at, store, broken, said):
    wanted = edited_and_planned_again(at)
    at("apply")
    [staged] = Path(store.staging).iterdir()
    staged.write_text(broken)
    ran = at("resolve", wanted, "--apply")

    assert (2, True, broken) == (ran.code, said in ran.err, staged.read_text())


def test_resolve_needs_to_know_which_one(at):
    unknown = at("resolve", "nothing", "--apply")
    for heading in "AB":
        at("plan", "--path", "soul", "--heading", heading, "--content", "x", "--session", "s")

    assert (2, 2) == (unknown.code, at("resolve", "--apply").code)


def test_a_staged_file_has_the_declared_format_and_the_reason(at, store):
    wanted = edited_and_planned_again(at)
    at("replay")
    [staged] = Path(store.staging).iterdir()

    assert staged.name.endswith(f"-{wanted}.yaml")
    assert staged.name[8] == "-"
    assert (
        "error: 'would remove 1 line you wrote: by hand'\ntarget_file: ~/.config/agents/USER.md\n" in staged.read_text()
    )
    assert at("validate", str(staged)).code == 0


def test_what_cannot_be_a_base_can_only_be_discarded(at, store):
    at(
        "append",
        "plan_entry",
        "--session",
        "s",
        "--json",
        json.dumps({"key": {"path": "/etc/passwd", "heading": "S"}, "content": "x"}),
    )
    entry = events(store)[0].id
    applied, discarded = at("resolve", entry, "--apply"), at("resolve", entry, "--discard")

    assert (2, 0, 0) == (applied.code, discarded.code, at("status").code)
    at("undo", "--yes")
    assert 1 == at("status").code


def test_what_was_applied_or_plans_nothing_does_not_wait_where_its_base_is_none_any_more(at, store):
    plan(at)
    at("apply")
    at("append", "plan_entry", "--session", "s", "--json", json.dumps({"key": {"path": "user", "heading": "T"}}))
    Path(store.config).write_text("knowledge_bases: {soul: {path: ~/SOUL.md}}\n")

    assert (0, "nothing to apply\n") == (at("status").code, at("apply").out)


def test_replay_applies_and_reports_and_a_second_one_writes_nothing(at, store):
    plan(at)
    first = at("replay", "--json")
    files = {path: path.stat().st_mtime_ns for path in [*Path(store.knowledge).rglob("*"), user_md()] if path.is_file()}
    log = events(store)
    second = at("replay")

    assert len(json.loads(first.out)["knowledge_bases"]["applied"]) == 1
    assert (log, files) == (events(store), {path: path.stat().st_mtime_ns for path in files})
    assert " 0 files changed" in second.out
    assert not (Path(store.knowledge) / "bases").exists()


def test_replay_into_a_directory_renders_the_bases_and_touches_nothing_else(at, store, tmp_path):
    plan(at)
    at("replay", "--out", "out")

    assert (tmp_path / "out" / "bases" / "user.md").read_text().startswith("## S\n\nnew\n")
    assert not user_md().exists()
    assert [one.type for one in events(store)] == ["plan_entry"]


def test_replay_check_finds_what_is_pending_and_writes_nothing(at, store):
    plan(at)
    at("replay", "--projection", "sessions")
    before = len(events(store))

    assert at("replay", "--check", "--projection", "knowledge").code == 1
    assert (before, False) == (len(events(store)), user_md().exists())


def test_a_deleted_file_is_rebuilt_by_replay(at):
    edited_and_planned_again(at)
    at("replay")
    user_md().unlink()
    at("replay")

    assert user_md().read_text() == "## S\n\nby hand\n"


def test_mistakes_in_the_settings_stop_views_and_not_recordings(at, store):
    Path(store.root).mkdir()
    Path(store.config).write_text("locale: zh\nnonsense: 1\n")

    assert [2, 2, 2, 2] == [at(verb).code for verb in ("config", "apply", "status", "replay")]
    assert f"{store.config}:2: nonsense: unknown key" in at("config").err
    assert [0, 0] == [
        at("fact", "x", "--session", "s").code,
        at("plan", "--path", "user", "--heading", "S", "--content", "x", "--session", "s").code,
    ]


def test_config_prints_every_setting_and_its_origin(at, store):
    Path(store.root).mkdir()
    Path(store.config).write_text("locale: zh\n")
    told = json.loads(at("config", "--json").out)

    assert {"value": "zh", "from": f"{store.config}:1"} == told["locale"]
    assert {"value": 200, "from": "default"} == told["memory.max_lines"]


@pytest.mark.parametrize(
    ("hooks", "named"),
    [
        ("{nope: true}", "session_hooks.nope: there is no such hook"),
        ("{git_cleanup: {enable: true}}", "auto_delete_merged_branches"),
    ],
)
def test_a_mistake_in_the_settings_of_session_hooks_is_named_and_stops_no_other_verb(at, store, hooks, named):
    Path(store.root).mkdir()
    Path(store.config).write_text(f"locale: zh\nsession_hooks: {hooks}\n")
    told, checked = at("config"), at("doctor")

    assert (2, 1) == (told.code, checked.code)
    assert f"{store.config}:2: session_hooks." in told.err
    assert named in told.err
    assert named in checked.out
    assert at("fact", "Prices are integers", "--session", "s").code == at("replay").code == 0


def test_a_decision_that_no_file_could_take_is_refused(at, store, monkeypatch):
    wanted = edited_and_planned_again(at)
    log = EventLog(store)
    [staged] = module.waiting(log, Settings(), wanted)

    with pytest.raises(BadRequest, match="heading"):
        module.decide(log, Settings(), staged, "edited", "# no")


def test_why_tells_the_entry_behind_a_section_and_knows_what_is_a_persons(at):
    write_user("# Mine\n")
    entry = plan(at)["id"]
    at("apply")
    write_user(user_md().read_text().replace("# Mine", "# Mine, too"))

    assert entry in at("why", f"{user_md()}:5").out
    assert "by hand" in at("why", f"{user_md()}:1").out


def test_why_and_forget_know_a_persons_line_that_an_entry_repeats(at):
    write_user("## S\n\n- mine\n")
    entry = plan(at, "- mine\n- agent's")["id"]
    at("apply")
    of_person, of_agent = (json.loads(at("why", f"user:{line}", "--json").out)["events"] for line in (3, 4))

    assert ["knowledge_edited"] == [event["type"] for event in of_person]
    assert [entry] == [event["id"] for event in of_agent]
    assert "your own words" in at("forget", "user:3", "--yes").err
    assert 0 == at("forget", "user:4", "--yes").code
    assert "## S\n\n- mine\n" == user_md().read_text()


def test_what_is_replaced_is_told_with_the_way_back_and_a_decision_is_behind_its_line(at, store):
    user_md().parent.mkdir(parents=True)
    user_md().write_text("## S\n\n- mine\n")
    plan(at)
    waits = at("apply")
    told = at("resolve", "--apply")
    why = at("why", str(user_md()), "--json")
    decided = next(event for event in events(store) if event.type == "entry_resolved")

    assert "would remove 1 line you wrote: - mine" in waits.out
    assert "replaced 1 line: - mine" in told.out
    assert "to undo: eventlog undo " in told.out
    assert ("human", True) == (decided.agent, decided.id in why.out)


def test_a_text_that_goes_with_its_withdrawn_entry_is_told_with_the_id_that_brings_it_back(at):
    entry = plan(at)["id"]
    at("apply")
    at("append", "retraction", f"target={entry}", "--session", "s")
    told = at("replay").out
    way_back = told.partition("to undo: eventlog ")[2].partition("\n")[0].split()

    assert not user_md().read_text()
    assert 0 == at(*way_back, "--yes").code
    assert user_md().read_text()


def test_one_of_two_equal_headings_is_named_by_the_one_above(at):
    user_md().parent.mkdir(parents=True)
    user_md().write_text("# A\n\n## S\n\n# B\n\n## S\n")
    at("plan", "--path", "USER.md", "--heading", "S", "--under", "B", "--content", "x", "--session", "s")
    at("plan", "--path", "user", "--heading", "None", "--delete", "--session", "s")
    told = at("apply")

    assert user_md().read_text() == "# A\n\n## S\n\n# B\n\n## S\n\nx\n"
    assert "unchanged  ~/.config/agents/USER.md ## None" in told.out


@pytest.mark.parametrize("where", [["--heading", "### S"], ["--heading", "T", "--under", "### S"]])
def test_a_heading_with_its_signs_is_refused_and_the_right_way_named(at, store, where):
    refused = at("plan", "--path", "user", *where, "--content", "x", "--session", "s")

    assert refused.code == 2
    assert "eventlog: heading: leave the ### out, the level says it: 'S' of level 3" in refused.err
    assert not events(store)


def test_a_section_whose_heading_has_such_signs_can_be_deleted(at):
    write_user("## ## S\n\n")
    planned = at("plan", "--path", "user", "--heading", "## S", "--delete", "--session", "s")

    assert planned.code == 0


def test_a_text_that_its_section_has_already_is_not_called_applied(at):
    plan(at, "- a")
    at("apply")
    plan(at, "- a")
    status, again = at("status"), at("apply")

    assert "nothing to change" in status.out
    assert again.out.startswith("unchanged  ~/.config/agents/USER.md ## S  [")
    assert "applied" not in again.out
    assert "nothing waits" in at("status").out


def test_what_is_withdrawn_from_a_base_leaves_the_copies_of_contexts_too(store, at):
    plan(at, "POISON")
    at("apply")
    at("context")
    copies = Path(store.cache, "context")
    assert [path for path in copies.iterdir() if "POISON" in path.read_text()]

    at("append", "retraction", "--session", "h", "conversation=s")
    at("replay")
    assert not [path for path in copies.iterdir() if "POISON" in path.read_text()]


def test_stats_count_what_was_planned(home):
    for heading in ("Communication", "Tools"):
        call("plan", "--path", "user", "--heading", heading, "--content", "- x", "--session", "s")
    weeks = json.loads(call("stats", "--json").out)
    none = json.loads(call("stats", "--json", "--until", "2020-01-01").out)

    assert ([2, 2], [0]) == ([week["planned"] for week in weeks], [week["planned"] for week in none])
