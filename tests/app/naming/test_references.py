"""Ids as people type them: what a screen shows leads back to one event or conversation."""

from pathlib import Path

import pytest

from eventlog.app.build.rebuild import replay_store
from eventlog.app.naming import references
from eventlog.app.naming.references import ShortIds, is_part_of
from eventlog.app.open_store import Machine, OpenStore
from eventlog.app.write.speaker import SpeakerOptions, speaker_of
from eventlog.format import ids
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, Fact, ProjectSeen, Rejected
from eventlog.settings.schema import Settings
from eventlog.store import conversation_name, project_slug
from tests.support import builders
from tests.support.bases import planned
from tests.support.command_line import call

CLAUDE, CODEX = "e42af0ad-aa06-410e-9e13-c17ade27a4f1", ids.derived(1_770_000_000_000, "codex")


@pytest.fixture
def events(log):
    """Facts of one second and of three conversations, with ids as live events have them."""
    said = [
        builders.fact(
            n, conversation_id=one, id=ids.derived(1_771_588_800_000, str(n)), ts="2026-02-20T12:00:00.000000Z"
        )
        for n, one in enumerate((CLAUDE, CODEX, "s1", CLAUDE))
    ]
    return log.append_many(said)


@pytest.fixture
def opened(log, events):
    return OpenStore(log, Settings(), Machine.here())


def test_short_ids_of_events_of_one_second_differ_and_lead_back(opened, events):
    short = ShortIds(opened.store)
    shown = [short.of(event.id) for event in events]

    assert len(events) == len(set(shown))
    assert 1 == len({event.id[:13] for event in events})
    assert {6} == set(map(len, shown))
    assert [event.id for event in events] == [references.event_meant(opened, one) for one in shown]


def test_short_ids_grow_with_the_log(log):
    few, many = ShortIds(log.store), ShortIds(log.store)
    many._length = 12

    assert len(few.of(CODEX)) < len(many.of(CODEX)) == 12


@pytest.mark.parametrize("conversation", [CLAUDE, CODEX, "s1"])
def test_a_conversation_is_found_by_its_short_id(opened, conversation):
    short = ShortIds(opened.store).of(conversation)

    assert (
        conversation
        == references.session_meant(opened.log, short)
        == references.session_meant(opened.log, conversation)
    )
    assert references.Reference("session", conversation) == references.resolve(opened, short)


@pytest.mark.parametrize("conversation", ["写作-会话", "../chapter 3"])
def test_a_conversation_is_found_by_the_name_of_its_file_that_the_index_shows(opened, conversation):
    opened.log.append(builders.fact(9, conversation_id=conversation))
    name = conversation_name(conversation)

    assert conversation != name
    assert references.Reference("session", conversation) == references.resolve(opened, name)
    assert conversation == references.session_meant(opened.log, name)


def test_an_id_somebody_chose_is_shown_whole(opened):
    assert "写作-会话 of the 3rd chapter" == ShortIds(opened.store).of("写作-会话 of the 3rd chapter")


def test_last_is_the_conversation_and_the_event_heard_of_last(opened, events):
    newest = max(events, key=lambda event: (event.ts, event.id))
    opened = opened._replace(machine=opened.machine._replace(cwd=""))

    assert newest.conversation_id == references.session_meant(opened.log, "last")
    assert newest.id == references.event_meant(opened, "last")
    assert references.Reference("session", newest.conversation_id) == references.resolve(opened, "last")


def test_an_event_is_found_by_its_whole_id_its_beginning_and_its_end_in_any_case(opened, events):
    event = events[2].id

    assert event == references.event_meant(opened, event) == references.event_meant(opened, event[-9:].upper())
    assert sorted(one.id for one in events) == references.events_named(opened.log, event[:13])
    assert references.Reference("event", event) == references.resolve(opened, event[-9:])


def test_an_id_that_another_event_only_names_is_not_that_event(opened, events):
    target = events[0].id
    opened.log.append({"type": "retraction", "conversation_id": "s1", "target": target})

    assert [target] == references.events_named(opened.log, target[-8:])


def test_what_may_be_several_is_listed_never_guessed(opened, events):
    with pytest.raises(BadRequest, match="may be 4 of them") as caught:
        references.event_meant(opened, events[0].id[:13])

    assert all(event.id in caught.value.hint for event in events)


@pytest.mark.parametrize("said", ["nosuch", "", "e4", "ffffffffffff"])
def test_what_names_nothing_is_an_error(opened, said):
    for find in (
        references.resolve,
        references.event_meant,
        lambda opened, said: references.session_meant(opened.log, said),
    ):
        with pytest.raises(BadRequest, match=r"^no "):
            find(opened, said)


def test_a_mistyped_session_is_asked_about(opened, log):
    log.append({"type": "fact", "conversation_id": "cart-rewrite", "content": "x"})
    ran = call("query", "--session", "cart-rewrit", "--store", log.store.root)

    assert 0 == ran.code  # its beginning
    assert "did you mean cart-rewrite?" in call("query", "--session", "cart-rewirte", "--store", log.store.root).err


def test_a_line_of_a_file_stands_for_the_events_behind_it(log):
    first = log.append({"type": "fact", "conversation_id": "a", "content": "Ports are even", "project": "/p"})
    again = log.append({"type": "fact", "conversation_id": "b", "content": "ports are even.", "project": "/p"})
    call("replay", "--store", log.store.root)
    [memory] = Path(log.store.knowledge).rglob("projects/*/MEMORY.md")
    [number] = [n for n, line in enumerate(memory.read_text().splitlines(), 1) if "Ports" in line]
    name = memory.relative_to(log.store.knowledge)

    found = call("query", "--id", f"{name}:{number}", "--format", "jsonl", "--store", log.store.root)
    assert 2 == len(found.out.splitlines())
    assert all(f'"id":"{event.id}"' in found.out for event in (first, again))


@pytest.mark.parametrize(
    ("said", "answer"),
    [("019c7b1a", True), ("64c3ab12", True), ("64C3AB12", True), ("64c3ab12…", True), ("ab1", False), ("7b1a", False)],
)
def test_a_part_of_an_id_is_its_beginning_or_its_end(said, answer):
    assert answer is is_part_of("019c7b1a-0000-7000-8000-84c364c3ab12", said)


# ------------------------------------------------------------------------------------------------ who speaks, and files


def said_in(opened, session):
    given = SpeakerOptions(session, None, None, None)
    return speaker_of(opened.log, given, opened.machine)["conversation_id"]


def test_who_speaks_is_named_by_the_short_id_that_a_screen_shows_or_last_and_else_is_somebody_new(opened):
    assert said_in(opened, CLAUDE[:6]) == CLAUDE
    assert said_in(opened, ShortIds(opened.store).of(CODEX)) == CODEX
    assert said_in(opened, "last") == references.session_meant(opened.log, "last")
    for new in ("s2", "e42a", "00aa11", "e42af0ad-aa06-410e-9e13-c17ade27a4f2"):
        assert said_in(opened, new) == new


def test_the_last_session_is_one_of_agents_whatever_a_person_has_decided_since(opened):
    last = references.session_meant(opened.log, "last")
    opened.log.put([Rejected(ts=builders.at(1), conversation_id=HUMAN, agent=HUMAN, statement="x")])

    assert references.session_meant(opened.log, "last") == last


def test_the_last_session_is_none_of_the_machines_notes_about_its_repositories(opened):
    last = references.session_meant(opened.log, "last")
    opened.log.put([ProjectSeen(ts=builders.at(1), conversation_id="vm", replica="vm", path="/p", remote="r/p")])

    assert references.session_meant(opened.log, "last") == last


@pytest.mark.slow
@pytest.mark.parametrize("said", ["shop/MEMORY.md", "projects/shop/MEMORY.md", "projects/{slug}/MEMORY.md"])
def test_a_memory_is_found_by_the_name_of_its_project(log, said):
    log.append(Fact(conversation_id="s", project="/src/shop", content="Ports are odd"))
    log.append(Fact(conversation_id="s", project="/src/workshop", content="Ports are even"))
    replay_store(OpenStore(log, Settings(), Machine.here()))
    slug = project_slug("/src/shop")
    place = said.format(slug=slug)

    assert "odd" in call("why", f"{place}:5", "--store", log.store.root).out
    assert "odd" in call("show", place, "--store", log.store.root).out
    assert "odd" in call("bisect", place, "odd", "--store", log.store.root).out


def test_a_name_that_two_projects_have_is_none_and_what_is_near_is_told(log):
    for path in ("/a/shop", "/b/shop"):
        log.append(Fact(conversation_id="s", project=path, content="Ports are odd"))
    replay_store(OpenStore(log, Settings(), Machine.here()))

    ran = call("why", "shop/MEMORY.md:5", "--store", log.store.root)

    assert ran.code == 2
    assert "did you mean" in ran.err
    assert all(f"projects/{project_slug(path)}/MEMORY.md" in ran.err for path in ("/a/shop", "/b/shop"))


@pytest.mark.parametrize("said", ["user", "USER.md"])
def test_a_knowledge_base_is_found_by_its_name(log, said):
    planned(log, "Tea", "Green")
    replay_store(OpenStore(log, Settings(), Machine.here()))

    assert "Green" in call("why", f"{said}:3", "--store", log.store.root).out
