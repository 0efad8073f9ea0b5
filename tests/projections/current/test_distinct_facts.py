import pytest
from hypothesis import example, given

from eventlog.format import SESSION_END, codec
from eventlog.format.text import one_line, same_text, states_nothing
from tests.support.builders import NEXT_DAY
from tests.support.histories import histories
from tests.support.replaced import is_over
from tests.support.typed_events import event, fact, fact_scopes, folded, quarantine, retract, summary, whole


def _by_project(*events):
    return {subject.project: subject for subject in fact_scopes(folded(*events))}


def _groups(*events, project=None):
    return _by_project(*events)[project].facts


def _first_texts(groups):
    return [one.first.text for one in groups]


@pytest.mark.parametrize(
    ("fields", "project"),
    [
        ({"project": "/p"}, "/p"),
        ({}, None),
        ({"project": "/p", "memory_type": "O"}, None),
        ({"project": "/p", "memory_type": "B"}, None),
        ({"project": "/p", "scope": "user"}, None),
        ({"project": "/p", "memory_type": "O", "scope": "project"}, "/p"),
        ({"scope": "project"}, None),
    ],
)
def test_a_fact_is_the_projects_or_the_users(fields, project):
    assert {project} == set(_by_project(fact(1, **fields)))


def test_a_decision_is_its_conversations_projects():
    assert {"/p"} == set(_by_project(event("session_start", 1, project="/p"), whole(2, decisions=["d"])))


def test_a_repetition_from_anywhere_reinforces_and_adds_nothing():
    (group,) = _groups(
        fact(1, "Use RS256", importance=2, confidence=0.5),
        fact(2, "use rs256.", conversation_id="d", importance=4, confidence=0.7),
        fact(3, "USE RS256", conversation_id="d", day=NEXT_DAY, confidence=0.6),
    )

    assert ("Use RS256", 2, 4, 0.6) == (group.first.text, group.sessions, group.importance, group.confidence)
    assert fact(3, day=NEXT_DAY).ts == group.last_seen


@pytest.mark.parametrize("key", ["db-port", "DB port", "db_Port", "ｄｂ-port"])
def test_a_key_in_another_spelling_is_the_same_key(key):
    (group,) = _groups(fact(1, "It is 5432", key="db_port"), fact(2, "It is 6543", key=key))

    assert "It is 6543" == group.first.text


def test_keys_of_signs_alone_are_different_keys():
    assert ["It is 1", "It is 2"] == _first_texts(_groups(fact(1, "It is 1", key="-"), fact(2, "It is 2", key="_")))


def test_the_same_text_about_two_projects_is_two_facts():
    found = _by_project(fact(1, project="/p"), fact(2, project="/q"))

    assert [1, 1] == [len(subject.facts) for subject in found.values()]


def test_a_later_fact_with_the_same_key_replaces_the_earlier():
    subject = _by_project(fact(2, "new", key="k"), fact(1, "old", key="k"), fact(3, "other", key="l"))[None]

    assert ["new", "other"] == _first_texts(subject.facts)
    assert (fact(1).id,) == subject.superseded


def test_a_key_of_one_project_does_not_replace_in_another():
    found = _by_project(fact(1, "p", key="k", project="/p"), fact(2, "q", key="k", project="/q"))

    assert [["p"], ["q"]] == [_first_texts(subject.facts) for subject in found.values()]


def test_a_key_that_returns_to_its_first_wording_is_dated_by_that():
    (group,) = _groups(fact(1, "a", key="k"), fact(2, "b", key="k"), fact(3, "a", key="k"))

    assert (fact(1).id, fact(3).id) == group.sources


def test_what_a_key_has_replaced_is_no_fact_without_a_key_nor_a_decision_unless_it_is_said_later():
    keyed = [fact(3, "old", key="k"), fact(4, "new", key="k")]

    for said, earlier in (("Old.", fact(1, "Old.")), ("ＯＬＤ", whole(1, decisions=["ＯＬＤ"]))):
        subject = _by_project(earlier, *keyed)[None]
        assert ["new"] == _first_texts(subject.facts)
        assert earlier.id in subject.superseded
        assert [said] == _first_texts(_groups(earlier, *keyed, retract(5, fact(4))))
    assert ["new", "old"] == _first_texts(_groups(whole(1, decisions=["old"]), *keyed, whole(5, decisions=["old"])))
    assert ["old", "new"] == _first_texts(_groups(whole(1, decisions=["old"]), *keyed, fact(5, "old", key="l")))


def test_a_withdrawn_successor_gives_its_predecessor_back():
    assert ["old"] == _first_texts(_groups(fact(1, "old", key="k"), fact(2, "new", key="k"), retract(3, fact(2))))


def test_a_fact_and_a_decision_that_say_the_same_are_one():
    (group,) = _groups(fact(1, "Use RS256"), whole(2, decisions=["use rs256"]))

    assert (fact(1).id, whole(2).id) == group.sources


def test_a_decision_keeps_the_day_and_wording_it_was_first_made_in():
    (group,) = _groups(summary(1, decisions=["use rs256"]), whole(2, decisions=["Use RS256"], day=NEXT_DAY))

    assert ("use rs256", summary(1).ts) == (group.first.text, group.first.ts)
    assert whole(2, day=NEXT_DAY).ts == group.last_seen


def test_summaries_themselves_state_nothing():
    assert [] == fact_scopes(folded(whole(1, "did it"), summary(2, "that too")))


def test_text_of_nothing_but_control_characters_states_nothing():
    assert [] == _groups(fact(1, "\x07\x1b"))


def test_a_subject_changed_when_anything_last_had_a_say_in_it():
    withdrawal = retract(9, fact(1))
    restoration = retract(11, withdrawal)
    quarantined = quarantine(12)

    assert fact(2).ts == _by_project(fact(2), fact(1))[None].changed_at
    assert withdrawal.ts == _by_project(fact(1), fact(2), withdrawal)[None].changed_at
    assert restoration.ts == _by_project(fact(1), withdrawal, restoration)[None].changed_at
    assert quarantined.ts == _by_project(fact(1), quarantined)[None].changed_at


def test_a_project_named_late_changes_both_files_it_moves_decisions_between():
    named = event("turn_end", 5, project="/p")
    found = _by_project(whole(1, decisions=["d"]), named)

    assert {None: named.ts, "/p": named.ts} == {project: subject.changed_at for project, subject in found.items()}
    assert [] == found[None].facts


@pytest.mark.slow
@example([*map(codec.encode, (whole(1, decisions=["Use RS256"]), event("rejected", 2, statement="use rs256")))])
@given(histories(max_size=16))
def test_every_decision_nobody_withdrew_nor_a_key_replaced_is_known_and_every_key_says_what_was_said_last(lines):
    state = folded(*map(codec.decode, lines))
    withdrawn = state.withdrawn()
    known = {one.project or "": {same_text(group.first.text) for group in one.facts} for one in fact_scopes(state)}
    facts = [fact for one in state.by_id.values() for fact in one.facts if fact.key and not withdrawn.hides(fact)]
    for conversation in state.by_id.values():
        project = conversation.project or ""
        keyed = [fact for fact in facts if fact.subject == project]
        for said in conversation.summaries:
            if not withdrawn.hides(said):
                spoken = [text for text in said.decisions if not states_nothing(text)]
                sure = [text for text in spoken if said.layer != SESSION_END or text in said.of_user]
                stand = [text for text in sure if not (withdrawn.rejects(text) or is_over(text, said, keyed))]
                assert {_spoken(text) for text in stand} - {""} <= known.get(project, set())
    last = {fact.subject: fact for fact in sorted(facts, key=lambda fact: (fact.ts, fact.id))}
    for project, said in last.items():
        assert same_text(one_line(said.content)) in known[project]


def _spoken(text):
    return same_text(one_line(text).removeprefix("阶段摘要："))
