"""`eventlog why`: the events behind a line, for people and for programs."""

import json
from pathlib import Path

import pytest

from eventlog.app.ask import why
from eventlog.app.naming.references import ShortIds
from eventlog.cli.show.display import Display
from eventlog.cli.verbs.ask.why import _reason_lines
from eventlog.format.events import Fact
from tests.support.bases import planned, user_md, write_user
from tests.support.command_line import call
from tests.support.golden import HISTORY, copied
from tests.support.use_cases import opened

SHOP = "projects/shop-6dbe44/MEMORY.md"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    log = copied(HISTORY, tmp_path_factory.mktemp("history"))
    call("replay", "--store", log.store.root)
    return Path(log.store.root)


def _why(store, place, *args):
    return call("why", place, *args, "--store", store)


def _number_of(store, text, file="MEMORY.md"):
    lines = (store / "knowledge" / file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_bare_name_is_looked_for_among_the_knowledge_files(store):
    ran = _why(store, f"MEMORY.md:{_number_of(store, 'pytest')}", "--json")
    told = json.loads(ran.out)

    assert 0 == ran.code
    assert "- [2026-02-21] Prefers pytest" == told["text"]
    assert ["Prefers pytest"] == [event["content"] for event in told["events"]]


def test_a_line_shows_all_its_events_and_the_whole_file_the_first_few(store):
    title = _why(store, f"{SHOP}:1").out.splitlines()
    whole = _why(store, SHOP).out

    assert f"1: {(store / 'knowledge' / SHOP).read_text().splitlines()[0]}" == title[0]
    assert len(title) > 6
    assert f"    and {len(title) - 6} more: eventlog why …:1" in whole.splitlines()


def test_each_event_is_told_with_when_what_who_and_its_id(store):
    number = _number_of(store, "Stripe Elements", SHOP)
    (line,) = _why(store, f"{SHOP}:{number}").out.splitlines()[1:]
    when, kind, agent, session, event_id, text = line.split("\t")

    assert ("2026-02-21 09:40:00.000000Z", "stage_summary", "cursor", "cursor-checkout") == (when, kind, agent, session)
    assert 36 == len(event_id)
    assert text.startswith("Payment: ")


def test_json_is_one_object_per_line_of_the_file(store):
    told = [json.loads(line) for line in _why(store, SHOP, "--json").out.splitlines()]

    assert (store / "knowledge" / SHOP).read_text().splitlines() == [line["text"] for line in told]
    assert list(range(1, len(told) + 1)) == [line["line"] for line in told]


def test_blank_lines_are_left_out_for_people(store):
    lines = _why(store, "MEMORY.md").out.splitlines()

    assert not [line for line in lines if line.rstrip().endswith(":")]


def test_a_line_of_a_person_says_so(store, tmp_path):
    edited = tmp_path / "MEMORY.md"
    edited.write_text((store / "knowledge" / "MEMORY.md").read_text().replace("# Memory", "# My memory"))
    ran = _why(store, f"{edited}:1")

    assert 0 == ran.code
    assert "1: # My memory\n    not from the log: written by hand, or by another version\n" == ran.out


def test_a_line_of_sessions_is_the_whole_session(store):
    number = _number_of(store, '"auth-0220"', "sessions.jsonl")
    told = json.loads(_why(store, f"sessions.jsonl:{number}", "--json").out)

    assert 8 == len(told["events"])
    assert {"auth-0220"} == {event["conversation_id"] for event in told["events"]}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("MEMORY.md:999", "there is no line 999"),
        ("MEMORY.md:0", "there is no line 0"),
        ("NOTHING.md", "no such file"),
        ("", ""),
    ],
)
def test_what_cannot_be_explained_is_refused_with_a_reason(store, place, said):
    ran = _why(store, place)

    assert 2 == ran.code
    assert said in ran.err


def test_no_control_character_of_an_event_reaches_the_terminal(store):
    for name in ("sessions/etc-passwd-e5e710ea784151b5.md", SHOP):
        assert not [char for char in _why(store, name).out if char not in "\n\t" and not char.isprintable()]


def test_a_line_that_a_person_does_not_want_said_tells_so_and_how_to_have_it_back(log, tmp_path):
    said = log.append(Fact(conversation_id="s", content="Ports are odd"))
    log.append(Fact(conversation_id="s", content="Ports are even"))
    planned(log, "Tea", "Green")
    call("replay", "--store", log.store.root)
    copy = tmp_path / "MEMORY.md"
    copy.write_bytes(Path(log.store.knowledge, "MEMORY.md").read_bytes())
    line = next(number for number, text in enumerate(copy.read_text().splitlines(), 1) if "odd" in text)
    write_user("- ports are ODD\n\n" + user_md().read_text())
    call("forget", "ports are odd", "--yes", "--store", log.store.root)
    rejected = [event.id for event in log.read() if event.type == "rejected"]
    undo = f"eventlog undo {ShortIds(log.store).of(rejected[0])}"

    told = json.loads(call("why", f"{copy}:{line}", "--json", "--store", log.store.root).out)
    by_hand = json.loads(call("why", f"{user_md()}:1", "--json", "--store", log.store.root).out)

    assert [event["id"] for event in told["events"]] == [said.id]
    assert [event["id"] for event in told["rejected"]] == [event["id"] for event in by_hand["rejected"]] == rejected
    assert undo in call("why", f"{copy}:{line}", "--store", log.store.root).out
    assert undo in told_on_terminal(Path(copy), line, log)
    assert "rejected" not in json.loads(call("why", f"{copy}:1", "--json", "--store", log.store.root).out)


def told_on_terminal(copy, line, log):
    [reason] = why.explain(opened(log), copy, line)
    shown = Display(log.store)
    shown.is_for_people = True
    return "\n".join(_reason_lines(f"{copy}:{line}", reason, "", shown))


def test_an_empty_file_is_told_to_be_empty(log):
    planned(log, "Tea", "Green")
    call("replay", "--store", log.store.root)
    call("undo", "--yes", "--store", log.store.root)

    ran = call("why", "user", "--store", log.store.root)

    assert (ran.code, ran.out, user_md().read_bytes()) == (0, "", b"")
    assert "user is empty" in ran.err


def test_words_in_a_pipe_have_the_times_that_every_other_verb_prints(log):
    said = log.append(Fact(content="Prices are in cents", conversation_id="s", agent="claude-code"))
    ran = call("why", "prices", "--store", log.store.root)

    assert ran.out.startswith(f"Prices are in cents\n{said.ts.replace('T', ' ')}\tfact\tclaude-code\ts\t{said.id}\t")


def test_the_id_of_an_event_is_found_from_within_any_project(log, home, monkeypatch):
    monkeypatch.chdir(home)
    said = log.append(Fact(content="Prices are in cents", conversation_id="s", project="/elsewhere"))

    assert said.id in call("why", said.id[-6:], "--store", log.store.root).out
    assert 2 == call("why", "prices", "--store", log.store.root).code
