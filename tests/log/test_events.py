import pytest

import eventlog
from eventlog.format import codec, events
from eventlog.format.events import Event, Fact, UnknownEvent


@pytest.mark.parametrize("cls", [Event, *events.KNOWN, UnknownEvent, events.SectionKey, events.PlanMeta])
def test_every_type_says_what_it_is(cls):
    assert cls.__doc__.strip()


def test_the_names_on_disk_never_change():
    names = (
        "session_start fact stage_summary plan_entry session_end turn_end save_requested retraction rejected restored "
        "entry_applied entry_resolved knowledge_edited project_seen project_joined context_injected "
        "conversation_text redacted host_event"
    )

    assert names.split() == list(events.TYPES)


@pytest.mark.parametrize("name", events.TYPES)
def test_every_type_has_a_version(name):
    assert events.VERSIONS[name] >= 1


def test_the_package_lists_what_it_offers():
    assert sorted(eventlog.__all__) == dir(eventlog)


@pytest.mark.parametrize("name", sorted(eventlog.__all__))
def test_every_public_name_is_there(name):
    assert name == getattr(eventlog, name).__name__.rpartition(".")[2]


def test_a_name_that_is_not_public_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(eventlog, "nothing")  # noqa: B009 - spelled, mypy would find it


@pytest.mark.parametrize(
    ("reach", "fields"),
    [
        ("user", {}),
        ("user", {"scope": "project"}),
        ("project", {"project": "/p"}),
        ("user", {"project": "/p", "memory_type": "B"}),
        ("user", {"project": "/p", "memory_type": "O"}),
        ("user", {"project": "/p", "scope": "user"}),
        ("project", {"project": "/p", "scope": "project", "memory_type": "O"}),
    ],
)
def test_a_fact_reaches_the_project_only_where_there_is_one_and_it_is_about_it(reach, fields):
    assert reach == Fact(conversation_id="c", content="x", **fields).effective_scope


def test_events_cannot_be_changed():
    event = Fact(conversation_id="c", content="x")

    with pytest.raises(AttributeError):
        event.content = "y"  # type: ignore[misc]


def test_events_do_not_share_their_lists():
    assert Fact(conversation_id="c", content="x").entities is not Fact(conversation_id="c", content="x").entities


def test_a_default_is_not_written():
    event = Fact(conversation_id="c", content="x", confidence=float("0.9"), importance=3, memory_type="W")

    assert b'{"v":1,"type":"fact","conversation_id":"c","content":"x"}' == codec.encode(event)


def test_an_unknown_event_has_the_type_it_came_with():
    assert "dream" == UnknownEvent(conversation_id="c", name="dream").type
