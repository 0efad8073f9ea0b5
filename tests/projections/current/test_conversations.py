from tests.support.typed_events import event, fact, folded, quarantine, retract, summary


def _one(*events):
    (conversation,) = folded(*events).by_id.values()
    return conversation


def test_a_conversation_exists_from_its_first_event_on_whether_or_not_a_start_arrived():
    conversation = _one(event("turn_end", 5), event("host_event", 3, name="x"), event("session_start", 4))

    assert (event("host_event", 3, name="x").ts, event("turn_end", 5).ts) == (
        conversation.started_at,
        conversation.last_at,
    )


def test_looks_at_what_a_session_starts_with_are_counted_whichever_part_they_arrive_in():
    looks = [event("context_injected", number, digest="d", chars=1, session_type="main") for number in (1, 2)]
    state = folded(looks[0])
    state.merge(folded(looks[1]))

    assert not state.by_id["c"].began
    state.merge(folded(fact(3)))
    assert state.by_id["c"].began


def test_what_was_merged_stays_as_it_is_whatever_becomes_of_the_whole():
    events = fact(1), summary(2), retract(3, fact(1)), event("context_injected", 4, digest="d", chars=1, trigger="file")
    part, state = folded(*events), folded()
    for more in (part, folded(fact(5), summary(6)), folded(quarantine(7))):
        state.merge(more)
    state.fold(fact(8))

    assert folded(*events) == part


def test_turns_and_events_are_counted_and_words_are_kept():
    conversation = _one(event("turn_end", 1), event("turn_end", 2), fact(3), summary(4), event("weather", 5))

    assert (2, 5) == (conversation.turns, conversation.events)
    assert ([fact(3)], [summary(4)]) == (conversation.facts, conversation.summaries)


def test_a_helpers_events_leave_no_trace():
    assert {} == folded(fact(1, subagent="a"), event("turn_end", 2, subagent="a")).by_id


def test_project_and_agent_are_those_first_named():
    conversation = _one(fact(3, project="/late", agent="late"), fact(1), fact(2, project="/p", agent="codex"))

    assert ("/p", "codex") == (conversation.project, conversation.agent)


def test_where_nothing_is_named_there_is_neither_project_nor_agent():
    conversation = _one(fact(1))

    assert (None, None) == (conversation.project, conversation.agent)


def test_of_several_ends_the_newest_counts():
    conversation = _one(event("session_end", 9, reason="logout"), event("session_end", 5, reason="clear"))

    assert "logout" == conversation.ended.reason


def test_a_conversation_that_came_back_has_not_ended():
    ended = event("session_end", 5)

    assert _one(ended, event("turn_end", 4)).ended
    assert not _one(ended, event("turn_end", 6)).ended
    assert not _one(ended, event("session_start", 6)).ended


def test_a_conversation_that_a_wrong_clock_began_in_the_future_ends_when_it_does():
    began = event("session_start", 0, day="2027-02-20")
    ended = event("session_end", 5, after="2027-02-20T00:00:00.000001Z")

    assert _one(began, ended).ended == ended
    assert not _one(began, ended, event("turn_end", 6, after="2027-02-20T00:00:00.000002Z")).ended


def test_what_arrives_after_the_end_without_being_work_leaves_it_ended():
    assert _one(event("session_end", 5), summary(6, layer=3)).ended


def test_conversations_are_ordered_by_their_start_and_then_by_id():
    state = folded(fact(2, conversation_id="a"), fact(1, conversation_id="c"), fact(1, conversation_id="b"))

    assert ["b", "c", "a"] == [one.id for one in state.in_order()]


def test_withdrawals_count_whichever_part_they_arrive_in():
    state = folded(fact(1))
    state.merge(folded(retract(2, fact(1)), quarantine(3, "other")))

    assert state.withdrawn().hides(fact(1))
    assert state.withdrawn().hides(fact(1, conversation_id="other"))
