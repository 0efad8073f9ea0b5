import pytest

from eventlog.projections.conclusion import conclude
from tests.said import fact, folded, quarantine, retract, summary, whole


def _concluded(*events):
    state = folded(*events)
    return conclude(state.by_id["c"], state.withdrawn())


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


@pytest.mark.parametrize("one", [summary(1), whole(1, layer=3), fact(1)])
def test_what_a_program_composed_is_marked_as_such(one):
    conclusion = _concluded(one)

    assert ("layer3_auto", True) == (conclusion.source, conclusion.automatic)


def test_the_newest_revision_wins_and_its_decisions_replace_the_older_ones():
    conclusion = _concluded(whole(5, "new", decisions=["RS256"]), whole(1, "old", decisions=["HS256"]))

    assert ("new", ["RS256"]) == (conclusion.summary, _texts(conclusion.decisions))
    assert whole(5).ts == conclusion.saved_at


def test_a_withdrawn_revision_gives_the_one_before_it_back():
    assert "old" == _concluded(whole(1, "old"), whole(5, "new"), retract(6, whole(5))).summary


def test_a_quarantined_conversation_comes_to_nothing():
    assert "none" == _concluded(*ALL.values(), quarantine(9)).source


def test_stages_are_joined_in_the_order_they_were_said_each_text_once():
    stages = [summary(3, "阶段摘要：three"), summary(1, "one", topic="First"), summary(2, "ONE."), summary(4, "four")]
    conclusion = _concluded(*stages)

    assert ("one → three → four", "First") == (conclusion.summary, conclusion.topic)


def test_facts_stand_in_for_a_summary_the_first_five_in_order():
    conclusion = _concluded(*(fact(number, f"fact {number}") for number in (7, 1, 2, 3, 4, 5, 6)))

    assert "fact 1; fact 2; fact 3; fact 4; fact 5" == conclusion.summary
    assert "fact 1" == conclusion.topic


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

    assert "Use RS256" == decision.text
    assert (stage.id, first.id, second.id) == decision.events
    assert ["use rs256", "Use RS256!", "Use RS256"] == [saying.text for saying in decision.sayings]


def test_blank_decisions_and_repetitions_within_one_summary_are_one_or_none():
    assert ["b"] == _texts(_concluded(whole(1, decisions=["b", " ", "\x07", "b"])).decisions)
