"""What a person does to a rendered MEMORY.md is in the log before the file is replaced; nothing they wrote is lost."""

import os
from pathlib import Path

import pytest

from eventlog import Fact, StageSummary
from eventlog.format import timestamps
from eventlog.format.events import Rejected, persons_conversation
from eventlog.projections.catalog import ALL
from eventlog.settings.schema import Settings
from eventlog.store.replica import replica_of
from tests.support.builders import DAY_NS, NOON, replay
from tests.support.use_cases import rebuild

SAVED = NOON + 3_600 * 10**9


@pytest.fixture
def memory(log, clock):
    """A MEMORY.md with four bullets, rendered at noon; it is now a day later."""
    log.append(Fact(conversation_id="c", content="Prefers tabs", memory_type="O"))
    log.append(Fact(conversation_id="c", content="Owns a boat", memory_type="B"))
    log.append(StageSummary(conversation_id="c", scope="session", summary="Chose", decisions=["Use RS256", "Use Go"]))
    path = rebuilt(log)
    clock.now = NOON + DAY_NS
    return path


def rebuilt(log):
    rebuild(log, Settings())
    return Path(log.store.knowledge) / "MEMORY.md"


def edit(path, change, saved=SAVED):
    path.write_text(change(path.read_text()))
    os.utime(path, ns=(saved, saved))


def texts(path):
    return [line for line in path.read_text().splitlines() if line.startswith("- ")]


def new_events(log, before):
    known = {event.id for event in before}
    return [event for event in log.read() if event.id not in known]


def aside(path):
    return sorted(one.name for one in path.parent.glob("*.edited-*"))


def test_what_a_person_writes_into_a_memory_is_of_the_conversation_of_what_they_say_by_a_verb(log, memory):
    before = list(log.read())
    edit(memory, lambda text: text.replace("- [2026-02-20] Prefers tabs\n", "- Prefers short answers\n"))
    rebuilt(log)
    by_hand = [event for event in new_events(log, before) if event.agent == "human"]

    assert {"fact", "retraction"} == {event.type for event in by_hand}
    assert {persons_conversation(timestamps.from_ns(SAVED), replica_of(log.store), None)} == {
        event.conversation_id for event in by_hand
    }


def test_a_decision_taken_out_stays_out_however_it_was_marked(log):
    log.append(StageSummary(conversation_id="c", topic="t", summary="s", decisions=["阶段摘要：Use zstd", "Use Go"]))
    path = rebuilt(log)
    edit(path, lambda text: "".join(line for line in text.splitlines(True) if "zstd" not in line))
    rebuilt(log)

    assert ["- [2026-02-20] Use Go"] == texts(path)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("- Deploys wait for Ada,\n  who reads the diff\n\tand the log", "- Deploys wait for Ada, who reads the diff and the log"),
        ("- 发版要等周航，\n  由他跑一遍冒烟测试", "- 发版要等周航，由他跑一遍冒烟测试"),
    ],
)  # fmt: skip
def test_a_bullet_that_goes_on_in_the_next_line_is_one_fact(log, memory, typed, meant):
    edit(memory, lambda text: text.replace("Owns a boat\n", f"Owns a boat\n{typed}\n"))
    rebuilt(log)

    assert meant.replace("- ", "- [2026-02-20] ", 1) in texts(memory)
    assert [] == aside(memory)


def test_words_added_below_a_bullet_are_its_new_wording(log, memory):
    edit(memory, lambda text: text.replace("Owns a boat\n", "Owns a boat\n  in Kiel\n"))
    rebuilt(log)

    [bullet] = [line for line in texts(memory) if "boat" in line]
    assert bullet.endswith("Owns a boat in Kiel")
    assert [] == aside(memory)


def test_items_and_code_below_a_bullet_are_kept_beside_the_file(log, memory):
    edit(memory, lambda text: text.replace("Owns a boat\n", "Owns a boat\n  - its name\n  ```\n  x\n  ```\n"))
    rebuilt(log)

    assert "- [2026-02-20] Owns a boat" in texts(memory)
    assert 1 == len(aside(memory))


def test_an_added_bullet_is_a_fact_of_the_kind_its_section_is_for(log, memory):
    before = list(log.read())
    edit(memory, lambda text: text.replace("tabs\n", "tabs\n- Prefers short answers\n"))
    rebuilt(log)
    [event] = new_events(log, before)

    assert ("human", "Prefers short answers", "O", "user") == (
        event.agent, event.content, event.memory_type, event.scope,
    )  # fmt: skip
    assert timestamps.from_ns(SAVED) == event.ts
    assert any("Prefers short answers" in line for line in texts(memory))
    assert aside(memory) == []


def test_a_removed_bullet_is_withdrawn_and_stays_away(log, memory):
    edit(memory, lambda text: text.replace("- [2026-02-20] Owns a boat\n", ""))
    rebuilt(log)
    log.append(Fact(conversation_id="d", content="Something new", memory_type="B"))
    rebuilt(log)

    assert "boat" not in memory.read_text()
    assert (["retraction"], []) == ([one.type for one in log.read() if one.type == "retraction"], aside(memory))


@pytest.mark.parametrize("ruin", [lambda path: path.write_text(""), Path.unlink], ids=["emptied", "deleted"])
def test_a_file_without_its_last_line_withdraws_nothing_and_without_its_bullets_all(log, memory, ruin):
    before, rendered = list(log.read()), memory.read_text()
    ruin(memory)
    rebuilt(log)

    assert rendered == memory.read_text()
    assert not new_events(log, before)

    edit(memory, lambda text: "\n".join(line for line in text.split("\n") if not line.startswith("- ")))
    rebuilt(log)

    assert not memory.exists()


def test_a_removed_decision_leaves_the_rest_of_its_summary(log, memory):
    edit(memory, lambda text: text.replace("- [2026-02-20] Use RS256\n", ""))
    rebuilt(log)

    assert ("RS256" in memory.read_text(), "Use Go" in memory.read_text()) == (False, True)
    assert '"summary":"Chose"' in (memory.parent / "sessions.jsonl").read_text()


def test_a_reworded_bullet_is_both(log, memory):
    edit(memory, lambda text: text.replace("Owns a boat", "Sold the boat"))
    rebuilt(log)

    assert ("Sold" in memory.read_text(), "Owns" in memory.read_text()) == (True, False)


def test_a_reworded_bullet_takes_its_place_under_its_key_and_no_earlier_wording_comes_back(log):
    said = [
        log.append(Fact(conversation_id="c", content=f"Deploy on {day}", key="deploy"))
        for day in ("fridays", "mondays")
    ]
    path = rebuilt(log)
    edit(path, lambda text: text.replace("Deploy on mondays\n", "Deploy on tuesdays\n- Deploy on weekdays\n"))
    rebuilt(log)
    written = {event.content: event for event in log.read() if event.type == "fact" and event.agent == "human"}
    reworded, added = written["Deploy on tuesdays"], written["Deploy on weekdays"]

    assert (reworded.key, reworded.replaces) == ("deploy", [said[-1].id])
    assert (added.key, added.replaces) == (None, [])
    assert {"Deploy on tuesdays", "Deploy on weekdays"} == {line.partition("] ")[2] for line in texts(path)}
    log.append(Fact(conversation_id="d", content="Deploy on sundays", key="deploy"))
    assert {"Deploy on sundays", "Deploy on weekdays"} == {line.partition("] ")[2] for line in texts(rebuilt(log))}


def test_a_removed_bullet_brings_back_nothing_that_it_had_replaced(log):
    for day in ("fridays", "mondays", "fridays", "sundays"):
        log.append(Fact(conversation_id="c", content=f"Deploy on {day}", key="deploy"))
    log.append(Fact(conversation_id="c", content="Owns a boat"))
    path = rebuilt(log)
    edit(path, lambda text: text.replace("- [2026-02-20] Deploy on sundays\n", ""))

    assert ["- [2026-02-20] Owns a boat"] == texts(rebuilt(log))


@pytest.mark.parametrize("after_the_last_line", [True, False])
def test_notes_at_the_end_are_kept_verbatim(log, memory, after_the_last_line):
    notes = "## Notes\n\nmine,  *as it is*\n\n### Deeper\n\n- not a fact\n"

    def add(text):
        above, mark, stamp = text.rpartition("<!-- eventlog")
        return text + "\n" + notes if after_the_last_line else above + notes + "\n" + mark + stamp

    edit(memory, add)
    rebuilt(log)
    log.append(Fact(conversation_id="d", content="Something new"))
    rebuilt(log)
    first = memory.read_text()
    memory.unlink()

    assert notes in first
    assert first == rebuilt(log).read_text()
    assert [one.content for one in log.read() if one.type == "fact"] == ["Prefers tabs", "Owns a boat", "Something new"]
    assert aside(memory) == []


def test_notes_can_be_changed_and_removed_again(log, memory):
    edit(memory, lambda text: text + "\n## Notes\n\none\n")
    rebuilt(log)
    edit(memory, lambda text: text.replace("\none\n", "\ntwo\n"))
    os.utime(memory, ns=(SAVED + 10**9, SAVED + 10**9))
    second = rebuilt(log).read_text()
    edit(memory, lambda text: text.replace("## Notes\n\ntwo\n", ""))
    os.utime(memory, ns=(SAVED + 2 * 10**9, SAVED + 2 * 10**9))

    assert "## Notes\n\ntwo\n" in second
    assert "Notes" not in rebuilt(log).read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("# Memory", "# Memory\n\nA paragraph of mine."),
        lambda text: text.replace("- [2026-02-20] Use RS256\n- [2026-02-20] Use Go", "- [2026-02-20] Use Go\n- [2026-02-20] Use RS256"),
        lambda text: "all mine\n",
    ],
)  # fmt: skip
def test_anything_else_is_saved_beside(log, memory, change):
    edit(memory, change)
    edited = memory.read_bytes()
    rebuilt(log)
    [name] = aside(memory)

    assert edited == memory.with_name(name).read_bytes()


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_bytes_that_are_no_utf_8_are_saved_beside(log, memory, encoding):
    typed = (memory.read_text() + "- Prefers the café\n\n## Notes\n\ncafé\n").encode(encoding)
    memory.write_bytes(typed)
    rebuilt(log)

    assert [typed] == [(memory.parent / name).read_bytes() for name in aside(memory)]


def test_what_another_version_rendered_withdraws_nothing(log, memory):
    edit(memory, lambda text: text.replace("sha256:", "sha256:0"))
    edit(memory, lambda text: "".join(line for line in text.splitlines(True) if "boat" not in line))
    rebuilt(log)

    assert "boat" in memory.read_text()
    assert len(aside(memory)) == 1


def test_killed_before_the_file_is_replaced_the_next_run_adds_nothing_twice(log, memory):
    edit(memory, lambda text: text.replace("tabs\n", "tabs\n- Likes tea\n").replace("- [2026-02-20] Owns a boat\n", ""))
    edited = memory.read_bytes()
    rebuilt(log)
    once = list(log.read())
    memory.write_bytes(edited)
    os.utime(memory, ns=(SAVED, SAVED))
    rebuilt(log)

    assert once == list(log.read())


def test_only_a_file_that_is_not_as_it_was_published_is_looked_through(log, memory, monkeypatch):
    checked = []

    def check(data):
        checked.append(data)
        return True

    monkeypatch.setattr("eventlog.app.write.hand_edits.is_untouched", check)
    rebuilt(log)
    assert not checked

    size, saved = memory.stat().st_size, memory.stat().st_mtime_ns
    edit(memory, lambda text: text.replace("Prefers tabs", "Prefers Tabs"), saved)
    assert (size, saved) == (memory.stat().st_size, memory.stat().st_mtime_ns)
    rebuilt(log)

    assert [b"Prefers Tabs" in data for data in checked] == [True]


def test_a_check_writes_nothing(log, memory):
    edit(memory, lambda text: text + "\n## Notes\n\nmine\n")
    edited, before = memory.read_bytes(), list(log.read())
    done = rebuild(log, Settings(), check=True)

    assert (edited, before) == (memory.read_bytes(), list(log.read()))
    assert (["knowledge_edited"], ["MEMORY.md"]) == ([one.type for one in done.edits], done.published.written)


def test_the_file_of_a_project_gets_facts_of_that_project(log, tmp_path):
    log.append(Fact(conversation_id="c", content="Port 8443", project="/p/api"))
    rebuilt(log)
    [memory] = Path(log.store.knowledge).glob("projects/*/MEMORY.md")
    edit(memory, lambda text: text.replace("8443\n", "8443\n- Uses make\n"))
    rebuilt(log)
    [fact] = [one for one in log.read() if one.agent == "human"]

    assert ("/p/api", "project", "W") == (fact.project, fact.scope, fact.memory_type)
    assert "Uses make" in memory.read_text()


def test_after_edits_a_second_run_writes_nothing_and_a_replay_elsewhere_says_the_same(log, memory):
    edit(memory, lambda text: text.replace("tabs\n", "tabs\n- Likes tea\n") + "\n## Notes\n\nmine\n")
    rebuilt(log)
    again = rebuild(log, Settings())
    documents = {one.path: one.data for one in replay(log, Settings(), projections=ALL).documents}

    assert again.published.changes == 0
    assert documents["MEMORY.md"] == memory.read_bytes()


# ------------------------------------------------------------------------------------------------ what others said too


def test_a_removed_decision_of_an_earlier_save_leaves_the_later_save_and_every_other_decision(log, memory):
    log.append(StageSummary(conversation_id="c", scope="session", summary="Later", todos=["Docs"]))
    edit(rebuilt(log), lambda text: text.replace("- [2026-02-20] Use RS256\n", ""), NOON + DAY_NS)
    text = rebuilt(log).read_text()
    [session] = [line for line in (memory.parent / "sessions.jsonl").read_text().splitlines() if '"c"' in line]

    assert ("RS256" in text, "Use Go" in text, "boat" in text) == (False, True, True)
    assert '"summary":"Later","decisions":["Use Go"],"todos":["Docs"]' in session


def test_saying_a_summary_again_without_a_decision_opens_no_to_do_that_was_done(log, memory):
    log.append(StageSummary(conversation_id="c", summary="Stage", decisions=["Use RS256"], todos=["Docs", "Tests"]))
    log.append(StageSummary(conversation_id="c", summary="Wrote them", done=["docs"]))
    edit(rebuilt(log), lambda text: text.replace("- [2026-02-20] Use RS256\n", ""), NOON + DAY_NS)
    rebuilt(log)

    assert '"todos":["Tests"]' in (memory.parent / "sessions.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("category", ["notes", "Notes", "NOTES", "笔记", "*Notes*", "Notes #", "Ｎｏｔｅｓ"])
def test_a_category_called_like_a_persons_notes_costs_them_neither_notes_nor_facts(log, memory, category):
    edit(memory, lambda text: text + "\n## Notes\n\none\n")
    log.append(Fact(conversation_id="d", content="The agent's own", category=category))
    first = rebuilt(log).read_text()
    edit(memory, lambda text: text.replace("\none\n", "\ntwo\n"), NOON + DAY_NS)
    second = rebuilt(log).read_text()

    assert (1, 1) == (first.count("\n## Notes\n"), second.count("\n## Notes\n"))
    assert "## Notes\n\ntwo\n" in second
    assert "## Notes of agents\n\n- [2026-02-21] The agent's own\n" in second
    assert [] == [one for one in log.read() if one.type == "retraction"]
    assert [] == aside(memory)


def test_notes_may_have_a_chinese_title_and_keep_it(log, memory):
    edit(memory, lambda text: text + "\n## 笔记\n\n我的\n")
    log.append(Fact(conversation_id="d", content="x", category="笔记"))

    assert "\n## 笔记\n\n我的\n" in rebuilt(log).read_text()
    assert "\n## 笔记\n\n我的\n" in rebuilt(log).read_text()
    assert [] == aside(memory)


def test_a_bullet_that_was_moved_under_another_heading_is_not_withdrawn(log, memory):
    bullet = "- [2026-02-20] Owns a boat\n"
    edit(memory, lambda text: text.replace(bullet, "") + f"\n## Notes\n\n{bullet}")
    rebuilt(log)

    assert [] == [one for one in log.read() if one.type == "retraction"]
    assert 2 == memory.read_text().count(bullet)


def test_a_file_saved_by_a_clock_ahead_of_ours_dates_nothing_later_than_now(log, memory, clock):
    ahead = NOON + 30_000 * DAY_NS
    edit(memory, lambda text: text.replace("tabs\n", "tabs\n- Likes tea\n"), ahead)
    rebuilt(log)

    assert timestamps.from_ns(clock.now) == max(event.ts for event in log.read())
    assert f"<!-- eventlog {timestamps.from_ns(clock.now)} " in memory.read_text()


# ------------------------------------------------------------------------------------------------ without a last line


def _without_stamp(text):
    return "".join(line for line in text.splitlines(True) if "<!--" not in line)


def test_what_was_added_to_a_file_without_its_last_line_is_taken_in(log, memory):
    edit(memory, lambda text: _without_stamp(text) + "- Likes tea\n\n## Work\n\n- Uses vim\n\n## Notes\n\nmine\n")
    before = list(log.read())
    text = rebuilt(log).read_text()
    said = {event.content: event.category for event in new_events(log, before) if event.type == "fact"}

    assert {"Likes tea": None, "Uses vim": "Work"} == said
    assert all(line in text for line in ("Likes tea", "## Work\n\n- [2026-02-20] Uses vim", "## Notes\n\nmine\n"))
    assert [] == aside(memory)


def test_what_a_file_without_its_last_line_lacks_is_not_withdrawn(log, memory):
    edit(memory, lambda text: _without_stamp(text).replace("- [2026-02-20] Owns a boat\n", ""))

    assert "Owns a boat" in rebuilt(log).read_text()


def test_what_was_withdrawn_does_not_come_back_with_an_old_copy_which_is_kept_beside(log, memory):
    old = _without_stamp(memory.read_text())
    edit(memory, lambda text: text.replace("- [2026-02-20] Owns a boat\n", ""))
    rebuilt(log)
    log.append(Fact(conversation_id="d", content="Something new", project="/p"))
    rebuilt(log)  # that day is closed, and kept without the words of what was withdrawn
    memory.write_text(old)

    assert "boat" not in rebuilt(log).read_text()
    assert 1 == len(aside(memory))


def test_a_file_that_was_there_before_the_first_replay_is_taken_in(log):
    memory = Path(log.store.knowledge) / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text(
        "# Memory\n\n- Likes tea\n* Lives in Lisbon\n\n## User preferences\n\n- Tabs\n\n## Notes\n\nmine\n"
    )
    text = rebuilt(log).read_text()
    rebuild(log, Settings())

    assert {"Likes tea": "W", "Lives in Lisbon": "W", "Tabs": "O"} == {
        one.content: one.memory_type for one in log.read() if one.type == "fact"
    }
    assert "## Notes\n\nmine\n" in text
    assert ([], text) == (aside(memory), memory.read_text())


@pytest.mark.parametrize("later", [[], ["Is said on another day"]])
def test_an_edit_waits_for_a_day_that_cannot_be_read(log, memory, tmp_path, later):
    for text in later:
        log.append(Fact(conversation_id="d", content=text))
    edit(memory, lambda text: text.replace("- [2026-02-20] Prefers tabs\n", "- Likes tea\n"))
    typed, before, [day, *_] = memory.read_bytes(), list(log.read()), sorted(Path(log.store.log).iterdir())
    day.rename(tmp_path / "day")
    day.mkdir()
    rebuilt(log)

    assert (typed, []) == (memory.read_bytes(), aside(memory))

    day.rmdir()
    (tmp_path / "day").rename(day)
    rebuilt(log)

    assert [("fact", "Likes tea"), ("retraction", None)] == sorted(
        (event.type, getattr(event, "content", None)) for event in new_events(log, before)
    )
    assert {"Prefers tabs"}.isdisjoint(line[15:] for line in texts(memory))


def test_notes_alone_are_a_memory(log):
    memory = Path(log.store.knowledge) / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("## Notes\n\nmine\n")

    assert "## Notes\n\nmine\n" in rebuilt(log).read_text()
    assert "## Notes\n\nmine\n" in rebuilt(log).read_text()


def test_what_is_not_understood_in_a_file_from_elsewhere_is_kept_beside(log):
    memory = Path(log.store.knowledge) / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("# All about me\n\nA paragraph.\n\n- Likes tea\n")
    written = memory.read_bytes()

    assert "Likes tea" in rebuilt(log).read_text()
    [name] = aside(memory)
    assert written == memory.with_name(name).read_bytes()


def test_a_file_of_a_project_nobody_knows_is_not_taken_for_the_users(log, memory):
    stray = memory.parent / "projects" / "gone-000000" / "MEMORY.md"
    stray.parent.mkdir(parents=True)
    stray.write_text("- theirs\n")
    rebuilt(log)

    assert "theirs" not in memory.read_text()
    assert "- theirs\n" == stray.read_text()


@pytest.mark.slow
def test_a_bullet_for_a_project_that_the_log_has_lost_is_a_fact_when_the_project_is_back(log, memory):
    told = log.append(Fact(conversation_id="c", content="Port 8443", project="/p/api"))
    rebuild(log, Settings())
    [project] = [path for path in Path(log.store.knowledge).rglob("MEMORY.md") if "8443" in path.read_text()]
    [day] = [Path(day.files[0]) for day in log.days() if told.id in Path(day.files[0]).read_text()]
    edit(project, lambda text: text.replace("8443\n", "8443\n- Uses make\n"))
    away = day.rename(day.with_suffix(".away"))
    rebuild(log, Settings())
    lost = rebuild(log, Settings())
    copies = aside(project)
    away.rename(day)
    rebuild(log, Settings())
    rebuild(log, Settings())

    assert ([], [], 1) == (lost.published.left, lost.published.set_aside, len(copies))
    assert ["Uses make"] == [one.content for one in log.read() if one.agent == "human"]
    assert "Uses make" in project.read_text()


# ------------------------------------------------------------------------------------------------ saved in the moment


def _by_write(path, text):
    path.write_text(text)


def _by_rename(path, text):
    new = path.with_name("new")
    new.write_text(text)
    new.replace(path)


def save_at(monkeypatch, name, path, save, change):
    """Save the file once, just before a call of os.<name> that gives it away."""
    real, saves = getattr(os, name), iter([change(path.read_text())])

    def late(source, *args):
        for text in saves if os.fspath(source) == str(path) else ():
            save(path, text)
        return real(source, *args)

    monkeypatch.setattr(os, name, late)


def reject(log, **what):
    list(log.put([Rejected(ts=timestamps.from_ns(log.now()), conversation_id="human", agent="human", **what)]))


@pytest.mark.slow
@pytest.mark.parametrize("save", [_by_write, _by_rename])
@pytest.mark.parametrize("project", [None, "/p/api"])
def test_a_save_in_the_moment_its_file_is_removed_is_kept_and_taken_in_by_the_next_replay(
    log, clock, save, project, monkeypatch
):
    told = log.append(Fact(conversation_id="c", content="Port 8443", project=project))
    rebuild(log, Settings())
    [memory] = [path for path in Path(log.store.knowledge).rglob("MEMORY.md") if "8443" in path.read_text()]
    clock.now = NOON + DAY_NS
    reject(log, target=told.id)
    with monkeypatch.context() as moment:
        save_at(moment, "replace", memory, save, lambda text: text.replace("8443\n", "8443\n- Uses make\n"))
        removing = rebuild(log, Settings())
    kept = memory.read_text()
    rebuild(log, Settings())
    again = rebuild(log, Settings())

    assert "Uses make" in kept
    assert [memory.relative_to(log.store.knowledge).as_posix()] == removing.published.left
    assert ["Uses make"] == [event.content for event in log.read() if event.agent == "human" and event.type == "fact"]
    assert [line.partition("] ")[2] for line in texts(memory)] == ["Uses make"]
    assert (0, []) == (again.published.changes, list(again.edits))


def test_a_bullet_saved_in_the_moment_its_file_was_replaced_is_a_fact_after_the_next_replay(log, memory, monkeypatch):
    from eventlog.store import shared_files

    log.append(Fact(conversation_id="d", content="Something new"))
    exchange, saves = shared_files._exchange, iter([lambda text: text.replace("tabs\n", "tabs\n- Likes tea\n")])

    def late(one, other):
        for change in saves:
            edit(memory, change)
        return exchange(one, other)

    monkeypatch.setattr(shared_files, "_exchange", late)
    before = rebuilt(log).read_text()
    assert ("Likes tea" in before, len(aside(memory))) == (False, 1)
    events = len(list(log.read()))
    for _ in range(3):
        rebuild(log, Settings())

    assert ["Likes tea"] == [one.content for one in log.read() if one.agent == "human"]
    assert ("Likes tea" in memory.read_text(), len(aside(memory))) == (True, 1)
    assert events + 1 == len(list(log.read()))


def copy_of(memory, change, name="MEMORY.md.edited-0011223344556677"):
    path = memory.with_name(name)
    path.write_text(change(memory.read_text()))
    return path


@pytest.mark.slow
def test_a_copy_tells_only_what_was_never_said(log, memory, clock):
    """Neither what is there, nor what a person has withdrawn or rejected since; notes are those of the file."""
    text = "- Likes tea\n- Likes chess\n- [2026-02-20] Owns"
    copy_of(memory, lambda was: was.replace("- [2026-02-20] Owns", text) + "\n## Notes\n\nold notes\n")
    reject(log, statement="Likes chess")
    edit(memory, lambda text: text.replace("- [2026-02-20] Owns a boat\n", "") + "\n## Notes\n\nnew notes\n")
    rebuilt(log)
    Path(log.store.cached("copies.json")).unlink()
    rebuilt(log)
    said = memory.read_text()

    assert ["Likes tea"] == [one.content for one in log.read() if one.type == "fact" and one.agent == "human"]
    assert [] == [one for one in log.read() if one.type == "restored"]
    assert ("boat" in said, "chess" in said, "new notes" in said, "old notes" in said) == (False, False, True, False)


@pytest.mark.slow
@pytest.mark.parametrize("note", [b"", b"[", b"[1]", b'{"\xff":[1]}', b"[" * 100_000])
def test_a_damaged_note_of_the_copies_counts_as_none(log, memory, note):
    copy_of(memory, lambda was: was.replace("- [2026-02-20] Owns", "- Likes tea\n- [2026-02-20] Owns"))
    Path(log.store.cached("copies.json")).write_bytes(note)
    rebuilt(log)

    assert ["Likes tea"] == [one.content for one in log.read() if one.type == "fact" and one.agent == "human"]


def test_a_copy_made_from_another_log_tells_nothing(log, memory):
    other = f"{'0' * 64} -->\n"
    copy_of(memory, lambda text: text.replace("a boat", "a boat\n- From elsewhere")[: -len(other)] + other)
    rebuilt(log)

    assert "elsewhere" not in memory.read_text()


def test_a_copy_is_read_once_and_again_only_when_it_was_changed(log, memory, monkeypatch):
    from eventlog.app.write import set_aside

    copy = copy_of(memory, lambda text: text.replace("Owns a boat", "Owns a boat\n- Likes tea"))
    rebuilt(log)
    monkeypatch.setattr(set_aside, "read", lambda path: path.endswith(".json") and Path(path).read_bytes())
    before = list(log.read())
    rebuilt(log)
    monkeypatch.undo()
    copy.write_text(copy.read_text().replace("tea", "coffee"))
    rebuilt(log)

    assert ["Likes coffee"] == [one.content for one in new_events(log, before)]


def test_a_copy_that_cannot_be_read_stops_no_replay(log, memory):
    memory.with_name("MEMORY.md.edited-0").mkdir()

    assert "boat" in rebuilt(log).read_text()


def test_a_check_reads_copies_and_notes_nothing(log, memory):
    copy_of(memory, lambda text: text.replace("Owns a boat", "Owns a boat\n- Likes tea"))
    done = rebuild(log, Settings(), check=True)

    assert ["Likes tea"] == [one.content for one in done.edits]
    assert not Path(log.store.cached("copies.json")).exists()
