"""Every line has a reason: leave out the events `eventlog why` names, and the line goes or changes."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from eventlog import Retraction
from eventlog.app.build.publish import publish
from eventlog.cli.group import VerbGroup
from eventlog.format.errors import BadRequest
from eventlog.format.text import one_line, same_text
from eventlog.projections.catalog import ALL
from eventlog.projections.engine.documents import DocumentIndex
from eventlog.projections.views.markdown import undated, unescaped
from eventlog.settings.schema import MemorySettings, Settings
from eventlog.store import index_lookup
from tests.support import builders
from tests.support.bases import REVIEWED, planned, user_md
from tests.support.builders import replay
from tests.support.golden import DEFAULTS, HISTORY, LOCALES, copied, tree
from tests.support.use_cases import decide, explain, rebuild, waiting

FILES = sorted(tree(HISTORY / "expected" / "en"))
SHOP = "projects/shop-6dbe44/MEMORY.md"


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """The log of the golden history, with its knowledge files in the store."""
    log = copied(HISTORY, tmp_path_factory.mktemp("history"))
    publish(replay(log, Settings()).documents, log.store.knowledge, ALL)
    return log


def _why(log, file, settings=DEFAULTS):
    return explain(log, settings, Path(log.store.knowledge, file))


def _without(log, ids, file, settings=DEFAULTS):
    """How often each line is in the file when these events never were."""
    return Counter(_lines_without(log, ids, settings).get(file, ()))


def _lines_without(log, ids, settings=DEFAULTS):
    documents = replay(log, settings, keep=lambda event: event.id not in ids).documents
    return {one.path: [line.text for line in one.lines] for one in documents}


def _ids(explained):
    return [entry.event.id for entry in explained.entries]


@pytest.fixture(scope="module")
def lines_without(history):
    """The lines of every file when these events never were; the same few events are behind lines of many files."""
    return cache(lambda ids: _lines_without(history, ids))


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_without_the_events_named_every_line_of_the_history_goes_or_changes(history, lines_without, file):
    explained = _why(history, file)
    there = Counter(line.text for line in explained)

    assert there == Counter(lines_without(frozenset())[file])
    for line in explained:
        assert line.entries
        assert lines_without(frozenset(_ids(line))).get(file, []).count(line.text) < there[line.text], line.text


@pytest.mark.parametrize("file", [name for name in FILES if name.endswith("MEMORY.md")])
def test_the_events_of_a_bullet_are_statements_of_that_fact_only(history, file):
    for bullet in [line for line in _why(history, file) if line.text.startswith("- [")]:
        for entry in bullet.entries:
            assert same_text(unescaped(undated(bullet.text[len("- ") :])[1])) in _stated(entry.event), bullet.text


def _stated(event):
    texts = [event.content] if event.type == "fact" else event.decisions
    return [same_text(one_line(text)) for text in texts]


def test_a_fact_said_three_times_is_explained_by_the_three(history):
    (line,) = [one for one in _why(history, SHOP) if one.text.endswith("The API listens on port 8443")]

    assert ["auth-0220", "cursor-checkout", "../../etc/passwd"] == [
        entry.event.conversation_id for entry in line.entries
    ]


def test_a_replaced_wording_is_not_behind_the_one_that_replaced_it(history):
    (line,) = [one for one in _why(history, "MEMORY.md") if one.text.endswith("Prefers pytest")]

    assert ["Prefers pytest"] == builders.contents(entry.event for entry in line.entries)


def test_events_are_named_oldest_first_with_the_line_they_were_read_from(history):
    for line in _why(history, "sessions.jsonl"):
        order = [(entry.event.ts, entry.event.id) for entry in line.entries]

        assert sorted(order) == order
        assert all(entry.line in Path(entry.file).read_bytes() for entry in line.entries)


def test_the_command_tells_the_same_for_a_file_wherever_it_lies(history):
    told = []
    for path in (Path(history.store.knowledge, SHOP), HISTORY / "expected" / "en" / SHOP):
        result = CliRunner().invoke(VerbGroup(), ["why", str(path), "--json", "--store", history.store.root])
        told.append([json.loads(line) for line in result.output.splitlines()])

    assert told[0] == told[1]
    assert [_ids(line) for line in _why(history, SHOP)] == [
        [event["id"] for event in line["events"]] for line in told[0]
    ]


def test_an_older_file_is_explained_by_the_log_of_its_time(history, tmp_path):
    then = replay(history, Settings(), until="2026-02-18T12:00:00.000000Z").documents
    publish(then, str(tmp_path), ALL)
    explained = explain(history, Settings(), tmp_path / SHOP)
    (port,) = [line for line in explained if line.text.endswith("The API listens on port 8080")]

    assert ["The API listens on port 8080"] == builders.contents(entry.event for entry in port.entries or ())


# ------------------------------------------------------------------------------------------------ edited by hand


@pytest.fixture
def edited(history, tmp_path):
    """A copy of a rendered file, with lines of a person in it, and how many lines it has."""
    lines = Path(history.store.knowledge, SHOP).read_text().split("\n")
    lines.insert(4, "- a line of mine")
    lines = [line.replace("Deploys happen", "Deploys never happen") for line in lines if "Stripe Elements" not in line]
    file = tmp_path / SHOP
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(lines))
    return explain(history, Settings(), file)


def test_lines_a_person_wrote_or_changed_say_so(edited):
    mine = [line.text for line in edited if line.entries is None]

    assert ["- a line of mine", "- [2026-02-17] Deploys never happen on Fridays"] == mine


def test_the_other_lines_of_an_edited_file_are_still_explained(edited, history):
    whole = {line.text: _ids(line) for line in _why(history, SHOP) if line.text}
    rest = {line.text: _ids(line) for line in edited if line.entries is not None and line.text}

    assert {text: ids for text, ids in whole.items() if text in rest} == rest
    assert len(whole) - 2 == len(rest)


# ------------------------------------------------------------------------------------------------ what is no such file


def test_a_bullet_is_explained_without_ranking_all_facts_also_after_a_replay_that_had_nothing_to_do(log, monkeypatch):
    for number in range(3):
        log.append({"type": "fact", "conversation_id": f"c{number}", "content": "Port 8443"})
    rebuild(log, Settings())
    rebuild(log, Settings())
    whole = _why(log, "MEMORY.md", Settings())
    monkeypatch.setattr(DocumentIndex, "render", None)

    assert [3] == [len(line.entries) for line in whole if line.text.startswith("- ")]
    for line in whole:
        if line.text.startswith("- "):
            assert [line] == explain(log, Settings(), Path(log.store.knowledge, "MEMORY.md"), line.number)


def test_an_index_is_explained_without_a_look_at_the_day_files_for_each_session(log, monkeypatch):
    for number in range(12):
        log.append({"type": "fact", "conversation_id": f"c{number}", "project": "/p", "content": f"Port {number}"})
        log.append({"type": "stage_summary", "conversation_id": f"c{number}", "project": "/p", "summary": "Done"})
    rebuild(log, Settings())
    looks, stamps_of = [], index_lookup.stamps_of

    def stamps(*of):
        looks.append(of)
        return stamps_of(*of)

    monkeypatch.setattr(index_lookup, "stamps_of", stamps)
    title = _why(log, "INDEX.md", Settings())[0]

    assert len(title.entries) == 24
    assert len(looks) <= 2


def test_a_late_repetition_is_behind_its_bullet_before_and_after_a_replay_that_counts_it(log):
    port = {"type": "fact", "content": "Port 8443"}
    log.append({**port, "conversation_id": "c", "importance": 5, "ts": "2026-02-20T10:00:00Z"})
    log.append({"type": "fact", "conversation_id": "c", "content": "Use RS256", "ts": "2026-02-21T10:00:00Z"})
    rebuild(log, Settings())
    file = Path(log.store.knowledge, "MEMORY.md")
    there = file.read_bytes()
    log.append({**port, "conversation_id": "d", "ts": "2026-02-20T12:00:00Z"})
    bullet = 1 + there.decode().splitlines().index("- [2026-02-20] Port 8443")

    assert [2] == [len(line.entries) for line in explain(log, Settings(), file, bullet)]
    rebuild(log, Settings())
    assert there.decode().splitlines()[bullet - 1] == "- [2026-02-20] Port 8443"
    assert file.read_text().splitlines()[bullet - 1] == "- [2026-02-20 ×2] Port 8443"
    assert [2] == [len(line.entries) for line in explain(log, Settings(), file, bullet)]


def test_a_line_that_is_not_there_is_refused(history):
    with pytest.raises(BadRequest, match="there is no line 999"):
        explain(history, Settings(), Path(history.store.knowledge, SHOP), 999)


def test_a_file_that_replay_does_not_write_is_refused(history, tmp_path):
    (tmp_path / "README.md").write_text("hello\n")

    with pytest.raises(BadRequest, match="not a file that replay renders"):
        explain(history, Settings(), tmp_path / "README.md")


def test_a_file_that_cannot_be_read_is_refused(history, tmp_path):
    with pytest.raises(BadRequest, match="no such file"):
        explain(history, Settings(), tmp_path / "MEMORY.md")


def test_a_file_that_never_ends_is_refused(history, tmp_path):
    (tmp_path / "MEMORY.md").symlink_to("/dev/zero")
    with pytest.raises(BadRequest, match="not a regular file"):
        explain(history, Settings(), tmp_path / "MEMORY.md")


# ------------------------------------------------------------------------------------------------ other settings


@pytest.mark.slow
@pytest.mark.parametrize("locale", LOCALES)
def test_headings_of_a_memory_that_is_full_are_explained_too(log, tmp_path, locale):
    crowded = Settings(locale=locale, memory=MemorySettings(max_lines=16))
    log.append_many(
        [
            {**builders.fact(number), "category": ("lesson", "style")[number % 2], "key": f"k{number % 20}"}
            for number in range(60)
        ]
    )
    publish(replay(log, crowded).documents, log.store.knowledge, ALL)
    explained = _why(log, "MEMORY.md", crowded)
    there = Counter(line.text for line in explained)

    for line in explained:
        assert _without(log, set(_ids(line)), "MEMORY.md", crowded)[line.text] < there[line.text], line.text


def test_a_section_whose_acceptance_was_taken_back_has_no_reason_any_more(log):
    planned(log)
    [staged] = waiting(log, REVIEWED)
    decided = decide(log, REVIEWED, staged, "apply")
    log.append(Retraction(conversation_id="human", target=decided.event.id))

    assert [None] * 3 == [reason.entries for reason in explain(log, REVIEWED, user_md())]
