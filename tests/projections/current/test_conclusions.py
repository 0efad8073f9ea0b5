import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eventlog.format.text import same_text
from eventlog.projections.current.fact_scopes import RowSource
from eventlog.projections.current.standing import counting_saves
from tests.support.typed_events import fact, folded, quarantine, retract, summary, whole


def _concluded(*events):
    state = folded(*events)
    return RowSource(state.by_id["c"], state.withdrawn()).conclusion


def _texts(said):
    return [one.text for one in said]


def test_a_conversation_that_saved_nothing_comes_to_nothing():
    conclusion = _concluded(fact(1, subagent="a"), fact(2), retract(3, fact(2)))

    assert ("none", "", "", ()) == (conclusion.source, conclusion.topic, conclusion.summary, conclusion.decisions)


ALL = {
    "session": whole(1, "the session", topic="Whole"),
    "stage": summary(2, "阶段摘要：a stage", topic="Stage"),
    "transcript": whole(3, "the transcript", topic="Drawn", layer=3),
    "fact": fact(4, "a fact"),
}


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ((), "the session"),
        (("session",), "a stage"),
        (("session", "stage"), "the transcript"),
        (("session", "stage", "transcript"), "a fact"),
    ],
)
def test_what_an_agent_wrote_comes_first_then_its_stages_then_the_transcript_then_facts(missing, said):
    assert said == _concluded(*(one for name, one in ALL.items() if name not in missing)).summary


@pytest.mark.parametrize(
    ("layer", "source"), [(None, "layer1_rules"), (1, "layer1_rules"), (2, "layer2_precompact"), (4, "layer4_stop")]
)
def test_the_source_tells_which_net_saved_the_sessions_summary(layer, source):
    conclusion = _concluded(whole(1, layer=layer))

    assert (source, False) == (conclusion.source, conclusion.automatic)


@pytest.mark.parametrize(("layer", "source"), [(1, "layer3_auto"), (2, "layer2_precompact"), (4, "layer4_stop")])
def test_the_source_tells_which_net_saved_a_stage(layer, source):
    conclusion = _concluded(summary(1), summary(2, layer=layer))

    assert (source, True) == (conclusion.source, conclusion.automatic)


@pytest.mark.parametrize("one", [summary(1), whole(1, layer=3), fact(1)])
def test_what_a_program_composed_is_marked_as_such(one):
    conclusion = _concluded(one)

    assert ("layer3_auto", True) == (conclusion.source, conclusion.automatic)


def test_the_newest_revision_of_the_summary_wins():
    conclusion = _concluded(whole(5, "new"), whole(1, "old"))

    assert ("new", whole(5).ts) == (conclusion.summary, conclusion.saved_at)


def test_a_later_save_takes_no_decision_away():
    said = [summary(1, decisions=["RS256"], layer=2), whole(2, decisions=["Tantivy"]), whole(3), summary(4)]

    assert ["RS256", "Tantivy"] == _texts(_concluded(*said).decisions)


def test_only_a_withdrawal_takes_a_decision_away():
    said = [summary(1, decisions=["RS256"]), whole(2, decisions=["rs256.", "Go"]), whole(3)]

    assert ["RS256", "Go"] == _texts(_concluded(*said, retract(9, said[1]), retract(10, retract(9, said[1]))).decisions)
    assert ["RS256"] == _texts(_concluded(*said, retract(9, said[1])).decisions)
    assert [] == _texts(_concluded(*said, retract(8, said[0]), retract(9, said[1])).decisions)


SAVES = st.lists(
    st.tuples(
        st.sampled_from(["stage", "session"]),
        st.sampled_from([None, 1, 2, 3, 4]),
        st.lists(st.sampled_from(["RS256", "rs256.", "Go", "端口 1", "端口1"]), max_size=2),
        st.sampled_from(["c", "d"]),
        st.booleans(),
    ),
    max_size=8,
)


@given(SAVES, st.randoms(use_true_random=False))
def test_no_order_of_saves_loses_a_decision_that_nobody_withdrew_or_drew_anew(saves, chance):
    said = [
        summary(number, f"s{number}", scope=scope, layer=layer, decisions=decisions, conversation_id=conversation)
        for number, (scope, layer, decisions, conversation, _) in enumerate(saves)
    ]
    gone = [retract(60 + number, said[number]) for number, (*_, withdrawn) in enumerate(saves) if withdrawn]
    state = folded(*chance.sample([*said, *gone], len(said) + len(gone)))
    for conversation in state.by_id.values():
        held = [one for one, (*_, withdrawn) in zip(said, saves, strict=True) if not withdrawn]
        counting = counting_saves(one for one in held if one.conversation_id == conversation.id)
        expected = {same_text(text) for one in counting for text in one.decisions}
        found = RowSource(conversation, state.withdrawn()).conclusion.decisions

        assert expected == {same_text(one.text) for one in found}
        assert len(expected) == len(found)


def test_to_dos_are_those_of_the_newest_save_that_names_any():
    said = [whole(1, todos=["a"]), summary(2, todos=["b", "c"]), whole(3)]

    assert ["b", "c"] == _texts(_concluded(*said).todos)


def test_what_a_later_save_calls_done_is_no_to_do_any_more():
    said = [whole(1, todos=["Refresh tokens", "Docs"]), summary(2, done=["refresh  TOKENS."]), whole(3)]

    assert ["Docs"] == _texts(_concluded(*said).todos)
    assert ["Docs", "refresh tokens"] == _texts(_concluded(*said, whole(4, todos=["Docs", "refresh tokens"])).todos)


def test_a_list_drawn_from_the_transcript_counts_where_no_agent_made_one():
    drawn = whole(5, todos=["drawn"], layer=3)

    assert ["mine"] == _texts(_concluded(whole(1, todos=["mine"]), drawn).todos)
    assert ["drawn"] == _texts(_concluded(whole(1), drawn).todos)


def test_a_withdrawn_revision_gives_the_one_before_it_back():
    assert "old" == _concluded(whole(1, "old"), whole(5, "new"), retract(6, whole(5))).summary


def test_a_quarantined_conversation_comes_to_nothing():
    assert "none" == _concluded(*ALL.values(), quarantine(9)).source


def test_stages_are_joined_in_the_order_they_were_said_each_text_once():
    stages = [summary(3, "阶段摘要：three"), summary(1, "one", topic="First"), summary(2, "ONE."), summary(4, "four")]
    conclusion = _concluded(*stages)

    assert ("one → three → four", "First") == (conclusion.summary, conclusion.topic)


def test_facts_stand_in_for_a_summary_those_that_matter_most_and_how_many_more():
    facts = [fact(number, f"fact {number}", importance=5 if number == 3 else 2) for number in (7, 1, 2, 3, 4, 5, 6)]
    conclusion = _concluded(*facts)

    assert "fact 3; fact 1; fact 2; fact 4; fact 5; … (+2)" == conclusion.summary
    assert "fact 3" == conclusion.topic


def test_equal_facts_read_in_the_order_they_were_said():
    facts = [fact(number, f"f{number}", confidence=0.5 + number / 20) for number in (7, 1, 2, 3, 4, 5, 6)]
    conclusion = _concluded(*facts)

    assert ("f1", "f1; f2; f3; f4; f5; … (+2)") == (conclusion.topic, conclusion.summary)


def test_what_says_that_there_are_more_facts_is_not_cut():
    summary_of_facts = _concluded(*(fact(number, "x" * 99 + str(number)) for number in range(9))).summary_within(60)

    assert len(summary_of_facts) <= 60
    assert summary_of_facts.endswith("…; … (+4)")


def test_facts_that_were_replaced_are_no_part_of_a_summary():
    said = [fact(1, "port 1", key="port"), fact(2, "port 2", key="port"), fact(3, "mine", key="port", scope="user")]
    said = [replace(one, project="/p") for one in said]

    assert "port 2; mine" == _concluded(*said).summary


def test_a_topic_comes_from_the_text_where_none_is_given_and_is_never_too_long():
    assert "y" * 50 == _concluded(whole(1, "y" * 80)).topic
    assert 100 == len(_concluded(whole(1, topic="t" * 300)).topic)
    assert "w" * 50 == _concluded(fact(1, "w" * 80)).topic


def test_every_summary_that_says_a_decision_is_behind_it_in_its_own_words():
    stage, first, second = (
        summary(1, decisions=["use rs256"]),
        whole(2, decisions=["Use RS256!"]),
        whole(3, decisions=["Use RS256"]),
    )
    (decision,) = _concluded(second, stage, first).decisions

    assert "use rs256" == decision.text
    assert (stage.id, first.id, second.id) == decision.sources
    assert ["use rs256", "Use RS256!", "Use RS256"] == [saying.text for saying in decision.mentions]


def test_blank_decisions_and_repetitions_within_one_summary_are_one_or_none():
    assert ["b"] == _texts(_concluded(whole(1, decisions=["b", " ", "\x07", "b"])).decisions)


def test_an_item_that_states_nothing_does_so_in_any_spelling():
    nothing = ["None", "NONE.", "Ｎｏｎｅ。", "no\u200bne", "无", "ＴＢＤ"]

    conclusion = _concluded(whole(1, decisions=[*nothing, "b"], todos=[*nothing, "c"]))
    assert (["b"], ["c"]) == (_texts(conclusion.decisions), _texts(conclusion.todos))


def test_of_what_was_drawn_only_the_last_counts():
    conclusion = _concluded(
        whole(1, "ran a command", topic="Foreign", decisions=["a slip"], todos=["an old one"], layer=3),
        whole(2, "fixed the totals", topic="Totals", decisions=["round once"], layer=3),
    )

    assert ("Totals", "fixed the totals") == (conclusion.topic, conclusion.summary)
    assert (["round once"], []) == (_texts(conclusion.decisions), _texts(conclusion.todos))


@pytest.mark.parametrize("word", ["None", "null", "N/A", "-", "UNDEFINED", "[]", "(none)", "无", "n.a.", "nil"])
def test_a_word_for_no_text_is_none_whichever_field_has_it(word):
    named = _concluded(whole(1, "the session", topic=word, decisions=[word, "Use RS256"]))
    summed_up = _concluded(whole(1, "the session", topic="Whole"), summary(2, "a stage"), whole(3, word, topic="Login"))

    assert ("the session", ["Use RS256"]) == (named.topic, _texts(named.decisions))
    assert ("Whole", "the session") == (summed_up.topic, summed_up.summary)
    assert ("Login", "") == ((alone := _concluded(whole(1, word, topic="Login"))).topic, alone.summary)


def test_a_drawing_of_nothing_but_a_topic_names_the_conversation():
    named = whole(1, "Where are totals rounded?", topic="Where are totals rounded?", layer=3)

    assert ("none", "Where are totals rounded?", "") == (
        _concluded(named).source, _concluded(named).topic, _concluded(named).summary,
    )  # fmt: skip
    assert "a fact" == _concluded(named, fact(2, "a fact")).summary
