"""What the log says of knowledge bases: the last to write decides, whatever order the events arrive in."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog import Event  # noqa: TC001
from eventlog.format import codec, ids, timestamps
from eventlog.projections.bases.apply_entries import WriteResult, apply_entries
from eventlog.projections.bases.ledger import DUPLICATE, REVIEW, ledgers
from eventlog.projections.bases.sections import Page
from eventlog.projections.current.conversations import Knowledge
from eventlog.projections.views.knowledge import render
from eventlog.settings.schema import KnowledgeBase, Settings
from tests.support.builders import at

SETTINGS = Settings()
REVIEWED = Settings(knowledge_bases={"user": KnowledgeBase(path="~/U.md", review=True)})
WOULD_REMOVE = "would remove 1 line you wrote: by hand"
KEY = {"path": "user", "heading": "S"}


def event(number, kind="plan_entry", **fields):
    ts = at(number)
    common = {"id": ids.derived(timestamps.to_ms(ts), str(number)), "ts": ts, "type": kind, "conversation_id": "s"}
    if kind in ("plan_entry", "knowledge_edited"):
        common["key"] = {**KEY, **fields.pop("key", {})}
    return codec.from_fields({**common, **fields})


def applied(number, of, body):
    from eventlog.projections.bases import sections

    fields = {"target": of.id, "path": "~/U.md", "heading": of.key.heading, "level": of.key.level}
    return event(number, "entry_applied", **fields, digest=sections.digest(body))


def state_of(events):
    state = Knowledge()
    for one in events:
        state.fold(one)
    return state


def text(events, settings=SETTINGS):
    return {one.path: one.data.decode().partition("\n<!--")[0] for one in render(state_of(events), settings)}


def user(events, settings=SETTINGS):
    return text(events, settings).get("bases/user.md", "")


def carried(events, settings=SETTINGS) -> list[WriteResult]:
    found = ledgers(state_of(events), settings.knowledge_bases)
    return [apply_entries(ledger, place, "~/U.md", None) for place, ledger in found.items()]


def reasons(events, settings=SETTINGS):
    return [(one.entry.content, one.reason) for done in carried(events, settings) for one in done.waiting]


def test_the_last_writer_of_a_section_decides():
    assert user([event(2, content="two"), event(1, content="one")]) == "## S\n\ntwo\n"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"content": None}, "## S\n\nbefore\n"),
        ({"content": ""}, "## S\n"),
        ({"content": "x", "operation": "no-op"}, "## S\n\nbefore\n"),
        ({"operation": "update"}, "## S\n\nbefore\n"),
        ({"operation": "clear"}, "## S\n"),
        ({"operation": "delete"}, ""),
        ({"content": "after"}, "## S\n\nafter\n"),
    ],
)
def test_what_an_operation_means_follows_from_the_content_where_it_is_left_out(fields, expected):
    assert expected == user([event(1, content="before"), event(2, **fields)])


def test_the_same_heading_at_another_level_or_of_another_base_is_another_section():
    events = [
        event(1, content="a"),
        event(2, content="b", key={"level": 3}),
        event(3, content="c", key={"path": "soul"}),
    ]

    assert text(events, Settings(knowledge_bases={**SETTINGS.knowledge_bases, "soul": KnowledgeBase(path="~/S.md")})) == {
        "bases/user.md": "## S\n\na\n\n### S\n\nb\n", "bases/soul.md": "## S\n\nc\n",
    }  # fmt: skip


def test_a_base_in_projects_has_a_document_for_each():
    events = [
        event(n, content=name, project=f"/p/{name}", key={"path": "project"}) for n, name in enumerate(("one", "two"))
    ]

    assert sorted(one.split("/")[2].rpartition("-")[0] for one in text(events)) == ["one", "two"]


@pytest.mark.parametrize(
    "path", ["user", "USER.md", "~/.config/agents/USER.md", "~/.config/agents/./USER.md", "~/.config//agents/USER.md"]
)
def test_all_ways_to_name_a_base_are_one(path):
    assert list(text([event(1, content="x", key={"path": path})])) == ["bases/user.md"]


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../USER.md", "~/../x", "USERS.md", "users", "", "~/.config/agents/USER.md/", "user\\x"]
)
def test_no_other_path_is_a_base(path):
    assert text([event(1, content="x", key={"path": path})]) == {}


def test_deleting_takes_along_what_the_log_has_put_below():
    events = [
        event(1, content="a"),
        event(2, content="b", key={"heading": "C", "level": 3}),
        event(3, operation="delete"),
    ]

    assert user(events) == ""


def test_a_section_twice_in_a_batch_lets_all_its_entries_for_that_file_wait():
    batch = [
        event(1, content="a", batch="b"), event(2, content="c", batch="b"),
        event(3, content="d", batch="b", key={"heading": "T"}),
        event(4, content="e", batch="b", key={"path": "global-agents"}),
    ]  # fmt: skip

    assert text(batch) == {"bases/global-agents.md": "## S\n\ne\n"}
    assert reasons(batch) == [("a", DUPLICATE), ("c", DUPLICATE), ("d", DUPLICATE)]


def test_markup_does_not_make_a_section_another():
    batch = [event(1, content="a", batch="b"), event(2, content="c", batch="b", key={"heading": "**S**"})]

    assert len(reasons(batch)) == 2


def test_a_subsection_planned_before_the_section_above_it_waits_no_longer_than_for_that():
    early = event(1, content="a", key={"heading": "C", "level": 3, "under": ["S"]})

    assert (user([early]), user([early, event(2, content="b")])) == ("", "## S\n\nb\n\n### C\n\na\n")


def test_entries_declared_one_after_the_other_revise():
    assert reasons([event(1, content="a"), event(2, content="b")]) == []


def test_a_base_under_review_shows_what_a_person_accepted_as_they_did():
    first, second = event(1, content="a"), event(2, content="b")
    waits = [first]
    accepted = [first, event(3, "entry_resolved", target=first.id, choice="apply")]
    changed = [first, event(3, "entry_resolved", target=first.id, choice="edited", content="better")]
    refused = [first, event(3, "entry_resolved", target=first.id, choice="discard")]

    assert [user(one, REVIEWED) for one in (waits, accepted, changed, refused)] == [
        "",
        "## S\n\na\n",
        "## S\n\nbetter\n",
        "",
    ]
    assert reasons([first, second], REVIEWED) == [("b", REVIEW)]
    assert reasons(refused, REVIEWED) == []


def test_a_decision_can_be_taken_back():
    first = event(1, content="a")
    decision = event(2, "entry_resolved", target=first.id, choice="discard")

    assert user([first, decision, event(3, "retraction", target=decision.id)]) == "## S\n\na\n"


def test_an_entry_overtaken_by_an_edit_waits_and_so_does_every_later_one():
    first = event(1, content="a")
    edited = event(4, "knowledge_edited", content="by hand")
    events = [first, applied(2, first, "a"), event(3, content="b"), edited]

    assert (user(events), reasons(events)) == ("## S\n\nby hand\n", [("b", WOULD_REMOVE)])
    assert reasons([*events, event(5, content="c")]) == [("c", WOULD_REMOVE)]
    assert reasons([*events, event(5, content="by hand")]) == []


@pytest.mark.slow
def test_a_thousand_overtaken_entries_are_no_problem():
    events = [event(1, content="a"), applied(2, event(1, content="a"), "a")]
    for number in range(3, 300, 2):
        key = {"heading": f"S{number}"}
        events += [event(number, content="b", key=key), event(number + 1, "knowledge_edited", content="c", key=key)]

    assert len(reasons(events)) == 149


@pytest.mark.parametrize("hidden", ["retraction", "quarantine", "subagent"])
def test_what_is_withdrawn_or_a_helpers_says_nothing(hidden):
    helper = {"subagent": "x"} if hidden == "subagent" else {}
    first, second = event(1, content="a"), event(2, content="b", **helper, conversation_id="bad")
    last = {"target": second.id} if hidden == "retraction" else {"conversation": "bad"}
    events = [first, second, *([event(3, "retraction", **last)] if hidden != "subagent" else [])]

    assert user(events) == "## S\n\na\n"


@st.composite
def histories(draw):
    """Entries, edits, arrivals, decisions and withdrawals of a few sections, in the order of the log."""
    events: list[Event] = []
    for number in range(draw(st.integers(1, 12))):
        kind = draw(
            st.sampled_from(["plan_entry"] * 3 + ["knowledge_edited", "entry_applied", "entry_resolved", "retraction"])
        )
        key = {"heading": draw(st.sampled_from("ST")), "level": draw(st.sampled_from([2, 3]))}
        told = [one for one in events if one.type in ("plan_entry", "knowledge_edited")]
        content = draw(st.sampled_from([None, "", "a", "b"]))
        if kind == "plan_entry":
            delete = {"operation": "delete"} if draw(st.integers(0, 3)) == 0 else {"content": content}
            events.append(event(number, key=key, batch=draw(st.sampled_from([None, None, "x"])), **delete))
        elif kind == "knowledge_edited":
            events.append(event(number, kind, key=key, content=content, operation="update" if content else "delete"))
        elif told and kind == "entry_applied":
            events.append(applied(number, draw(st.sampled_from(told)), draw(st.sampled_from([None, "", "a", "b"]))))
        elif told and kind == "entry_resolved":
            choice = draw(st.sampled_from(["apply", "discard", "edited"]))
            events.append(event(number, kind, target=draw(st.sampled_from(told)).id, choice=choice, content="e"))
        elif events:
            events.append(event(number, "retraction", target=draw(st.sampled_from(events)).id))
    return events


@given(histories(), st.randoms(use_true_random=False), st.sampled_from([SETTINGS, REVIEWED]))
def test_the_order_of_arrival_and_the_split_into_days_do_not_matter(events, chance: random.Random, settings):
    shuffled = chance.sample(events, len(events))
    half = chance.randrange(len(events) + 1)
    merged = state_of(shuffled[:half])
    merged.merge(state_of(shuffled[half:]))

    assert list(render(state_of(events), settings)) == list(render(merged, settings))
    assert reasons(events, settings) == reasons(shuffled, settings)


@pytest.mark.slow
@given(histories(), st.sampled_from([SETTINGS, REVIEWED]))
def test_a_document_is_what_the_log_said_at_the_time_it_carries(events, settings):
    for document in render(state_of(events), settings):
        moment = document.lines[-1].text.split()[2]

        assert document in list(render(state_of([one for one in events if one.ts <= moment]), settings))


@given(histories())
def test_what_waits_is_not_carried_out_and_no_section_is_there_twice(events):
    for done in carried(events):
        keys = [section.key for section in Page(done.data).sections]
        arrived = {applied.event for applied in done.sections}

        assert len(keys) == len(set(keys))
        assert not arrived & {one.entry.id for one in done.waiting}
