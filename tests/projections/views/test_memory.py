import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.projections.views.memory import MEMORY
from eventlog.settings.schema import MemorySettings, Settings
from tests.support.builders import DAY, NEXT_DAY
from tests.support.typed_events import documents_of, event, fact, folded, summary, whole

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300).filter(str.strip)


def _document(*events, **settings):
    (document,) = documents_of(MEMORY, folded(*events), Settings(**settings))
    return document


def _lines(*events, **settings):
    return [line.text for line in _document(*events, **settings).lines]


def _bullets(*events):
    return [line.removeprefix(f"- [{DAY}] ") for line in _lines(*events) if line.startswith("- [")]


def test_the_file_has_a_title_sections_bullets_with_their_day_and_a_stamp():
    lines = _lines(fact(1, "A", project="/p/shop"))

    assert ["# Memory: shop", "", "## Project knowledge", "", f"- [{DAY}] A", ""] == lines[:-1]
    assert lines[-1].startswith(f"<!-- eventlog {fact(1).ts} sha256:")


def test_a_bullet_tells_when_its_fact_was_last_said_and_how_often_in_the_first_words():
    said = [fact(1, "Postgres 16", conversation_id="a"), fact(2, "postgres 16.", conversation_id="b")]
    again = fact(3, "Postgres  16", conversation_id="c", ts=f"{NEXT_DAY}T08:00:00.000000Z")

    assert [f"- [{DAY} ×2] Postgres 16"] == [line for line in _lines(*said) if line.startswith("- [")]
    assert [f"- [{NEXT_DAY} ×3] Postgres 16"] == [line for line in _lines(*said, again) if line.startswith("- [")]


@pytest.mark.parametrize(
    ("timezone", "day"),
    [("UTC", DAY), ("Asia/Shanghai", NEXT_DAY), ("America/New_York", DAY), ("Asia/Tokyo", NEXT_DAY)],
)
def test_the_day_of_a_bullet_is_that_of_the_users_calendar(timezone, day):
    late = fact(1, "Postgres 16", ts=f"{DAY}T20:00:00.000000Z")

    assert f"- [{day}] Postgres 16" in _lines(late, timezone=timezone)


def test_two_that_differ_in_a_number_are_marked_and_one_alone_is_not():
    ports = [fact(1, "The API listens on port 8443"), fact(2, "the API listens on port 9443."), fact(3, "Port 80")]
    keyed = [fact(1, "The API listens on port 8443", key="port"), fact(2, "The API listens on port 9443", key="old")]

    assert [f"- [{DAY}] Port 80", f"- [{DAY} ?] the API listens on port 9443."] == [
        line for line in _lines(*ports) if line.startswith("- [")
    ][:2]
    assert "?" not in "".join(_lines(*ports[1:], *keyed[:1]))
    assert "?" not in "".join(_lines(*keyed))


def test_what_a_newer_fact_opposes_stands_below_it_whatever_its_own_section():
    older = "Users sign in with a session cookie of the API"
    newer = "Users sign in with passkeys; the session cookie of the API is gone"
    decided, known = "The index is a redb file", "The walker has eight threads"
    facts = [fact(1, older, category="decision", importance=5), fact(2, decided, category="decision"), fact(3, known)]

    assert [older, decided, known] == _bullets(*facts)
    assert [decided, newer, older, known] == _bullets(*facts, fact(4, newer))
    assert [newer, older, decided, known] == _bullets(*facts, fact(4, newer, category="decision"))
    assert [decided, known, newer, older] == _bullets(*facts, fact(4, newer, category="setup"))


def test_there_is_no_file_where_nothing_is_known():
    assert [] == list(documents_of(MEMORY, folded(event("turn_end", 1)), Settings()))


def test_the_users_file_comes_first_then_those_of_projects():
    documents = documents_of(
        MEMORY, folded(fact(1), fact(2, project="/q/shop"), fact(3, project="/p/shop")), Settings()
    )
    paths = [document.path for document in documents]

    assert "MEMORY.md" == paths[0]
    assert 3 == len(set(paths))
    assert all(path.startswith("projects/shop-") and path.endswith("/MEMORY.md") for path in paths[1:])


SECTIONS: dict[str, list[dict[str, str]]] = {
    "Key decisions": [{"category": "decision"}, {"category": "Decisions"}, {"category": "决策"}],
    "User preferences": [{"memory_type": "O"}, {"category": "preference"}],
    "Lessons": [{"category": "LESSON"}, {"category": "教训"}, {"category": "经验"}],
    "General knowledge": [{}, {"category": "项目知识"}],
    "Experience": [{"memory_type": "B"}],
    "Insight": [{"category": "insight"}, {"category": "Insight", "memory_type": "O"}],
}


@pytest.mark.parametrize(("title", "fields"), [(title, one) for title, many in SECTIONS.items() for one in many])
def test_category_and_type_choose_the_section(title, fields):
    assert f"## {title}" in _lines(fact(1, **fields))


def test_sections_stand_in_their_order_and_free_ones_by_name_after_them():
    facts = [fact(number, f"f{number}", **many[0]) for number, many in enumerate(reversed(SECTIONS.values()))]
    lines = _lines(*facts, fact(9, "z", category="zebra"), fact(8, "a", category="ant"))

    assert [*list(SECTIONS)[:5], "Ant", "Insight", "Zebra"] == [line[3:] for line in lines if line.startswith("## ")]


def test_decisions_of_summaries_are_there_and_summaries_are_not():
    lines = _lines(whole(1, "did it all", decisions=["RS256"]))

    assert f"- [{DAY}] RS256" in lines
    assert not [line for line in lines if "did it all" in line]


RANKED = {
    "importance": (fact(1, "first", importance=4), fact(2, "second", confidence=1.0)),
    "sessions": (fact(1, "first"), fact(3, "First", conversation_id="d"), fact(2, "second")),
    "recency": (fact(1, "second"), fact(1, "first", day=NEXT_DAY)),
    "confidence": (fact(2, "first", confidence=1.0), fact(1, "second", confidence=0.8)),
    "time": (fact(2, "first"), fact(1, "second")),
}


@pytest.mark.parametrize("events", RANKED.values(), ids=RANKED)
def test_bullets_are_ranked_by_importance_sessions_recency_confidence_and_time(events):
    bullets = [line.split("] ")[1] for line in _lines(*reversed(events)) if line.startswith("- [")]

    assert ["first", "second"] == bullets


def test_what_ranks_lower_makes_room_and_the_last_line_says_so():
    lines = _lines(
        *(fact(number, f"f{number}", importance=1 + (number == 7)) for number in range(9)),
        memory=MemorySettings(max_lines=10),
    )

    assert 10 == len(lines)
    assert [f"- [{DAY}] f7", f"- [{DAY}] f8"] == lines[4:6]
    assert lines[7] == "7 more did not fit; see them with `eventlog query --type fact --type stage_summary`."


@given(
    st.lists(st.tuples(texts, st.none() | texts, st.sampled_from(["W", "B", "O"])), min_size=1, max_size=40),
    st.integers(10, 40),
    st.integers(1000, 3000),
    st.sampled_from(["en", "zh"]),
)
def test_no_file_exceeds_its_budget_and_no_bullet_breaks_its_line(many, max_lines, max_bytes, locale):
    events = [
        fact(number, text, category=category, memory_type=kind) for number, (text, category, kind) in enumerate(many)
    ]
    limits = MemorySettings(max_lines=max_lines, max_bytes=max_bytes)

    for document in documents_of(MEMORY, folded(*events), Settings(locale=locale, memory=limits)):
        assert len(document.lines) == document.data.count(b"\n") <= max_lines
        assert len(document.data) <= max_bytes


def test_what_was_chosen_last_today_stands_first_and_the_budget_drops_the_oldest():
    lines = _lines(*(fact(number, f"choice {number:03}") for number in range(300)), memory=MemorySettings(max_lines=12))
    bullets = [line.partition("] ")[2] for line in lines if line.startswith("- [")]

    assert ["choice 299", "choice 298", "choice 297"] == bullets[:3]
    assert lines[-3].startswith(f"{300 - len(bullets)} more")


def test_what_is_true_whatever_the_project_is_no_projects_knowledge():
    here, there = documents_of(
        MEMORY, folded(fact(1, "Cats purr"), fact(2, "Uses make", project="/p/shop")), Settings()
    )

    assert "## General knowledge" in [line.text for line in here.lines]
    assert "## Project knowledge" in [line.text for line in there.lines]


@pytest.mark.parametrize(("typed", "title"), [("My Section", "My Section"), ("insight", "Insight"), ("iOS", "iOS")])
def test_a_category_keeps_the_spelling_it_was_typed_in(typed, title):
    again = fact(2, "b", category=typed.upper())

    assert [f"## {title}"] == [line for line in _lines(fact(1, "a", category=typed), again) if line.startswith("##")]


@pytest.mark.parametrize("category", ["notes", "Notes", "NOTES", "笔记", "_Notes_", "Notes ##", "notes of agents"])
@pytest.mark.parametrize(("locale", "title"), [("en", "Notes of agents"), ("zh", "智能体笔记")])
def test_no_category_takes_the_place_of_a_persons_notes(category, locale, title):
    assert f"## {title}" in _lines(fact(1, "a", category=category), locale=locale)


@pytest.mark.parametrize("title", [*SECTIONS, "通用知识", "经历", "用户偏好"])
def test_no_two_sections_have_one_title(title):
    headings = [line for line in _lines(*FACTS, fact(99, "z", category=title)) if line.startswith("## ")]

    assert len(set(headings)) == len(headings)


FACTS = [fact(number, f"f{number}", **many[0]) for number, many in enumerate(SECTIONS.values())]


def test_a_later_save_without_decisions_leaves_the_file_as_it_is():
    before = _document(summary(1, decisions=["RS256"], layer=2))

    assert before == _document(summary(1, decisions=["RS256"], layer=2), whole(2, "all done"))


def _drawn(minute, conversation, project="/p/shop", **fields):
    return whole(
        minute, "Done", conversation_id=conversation, layer=3, decisions=["round once"], project=project, **fields
    )


def test_what_a_program_drew_once_is_the_sessions_alone():
    assert [] == list(documents_of(MEMORY, folded(_drawn(1, "c"), _drawn(2, "c")), Settings()))


def test_a_decision_of_a_user_in_no_project_that_a_program_drew_is_not_about_the_user():
    drawn = _drawn(1, "c", None, of_user=["round once"])

    assert [] == list(documents_of(MEMORY, folded(drawn), Settings()))


@pytest.mark.parametrize(
    "events",
    [
        [_drawn(1, "c"), _drawn(2, "d")],
        [_drawn(1, "c", of_user=["Round  once."])],
        [_drawn(1, "c"), fact(2, "Round once", project="/p/shop", category="decision")],
        [whole(1, "Done", decisions=["round once"], project="/p/shop")],
    ],
    ids=["twice", "by the user", "and stated", "by the agent itself"],
)
def test_a_decision_said_twice_or_by_somebody_is_the_memorys(events):
    assert 1 == len(_bullets(*events))
