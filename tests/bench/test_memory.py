"""The recall benchmark: its figures are computed right, its own set is whole and frozen, its control moves everything."""

import argparse
import hashlib
import json
import math
import random
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.memory import delivered, figures, files, locomo, longmemeval, metrics, own, start, store, transcripts
from bench.memory.__main__ import _names
from bench.memory.arms import ARMS, Empty, FtsEverywhere, Line
from bench.memory.world import Need
from eventlog import EventLog
from eventlog.format import codec

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
FILES = (
    "across", "branches", "elsewhere", "facts.en", "facts.zh", "foreign", "pairs", "repeats", "sessions", "shared",
    "stale", "tasks", "work",
)  # fmt: skip


@pytest.fixture(scope="module")
def world():
    return own.own(NOW)


@pytest.fixture(scope="module")
def haystack(world, tmp_path_factory):
    return store.build(world, tmp_path_factory.mktemp("own") / "store")


# ---------------------------------------------------------------------------------------------------------- figures


def test_figures_of_one_ranking_as_computed_by_hand():
    ranked, gold = ["x", "a", "y", "b"], {"a", "b", "c"}

    assert (metrics.hit(ranked, gold, 1), metrics.hit(ranked, gold, 2)) == (0, 1)
    assert metrics.recall(ranked, gold, 3) == pytest.approx(1 / 3)
    assert metrics.recall(ranked, gold, 5) == pytest.approx(2 / 3)
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert metrics.ndcg(ranked, gold, 10) == pytest.approx(gain / (1 + 1 / math.log2(3) + 1 / math.log2(4)))
    assert metrics.ndcg(["a"], {"a", "b", "c"}, 1) == 1


def test_intervals_hold_the_mean_and_are_the_same_each_time():
    found = metrics.interval([1.0] * 30 + [0.0] * 70)

    assert found == metrics.interval([1.0] * 30 + [0.0] * 70)
    assert found.mean == pytest.approx(0.3)
    # the normal approximation, 0.3 ± 1.96 * sqrt(0.3 * 0.7 / 100), within a little
    assert [found.low, found.high] == pytest.approx([0.21, 0.39], abs=0.02)
    assert metrics.interval([1.0, 1.0]) == (1, 1, 1)


@pytest.mark.slow
def test_an_arm_that_knows_nothing_moves_every_figure(world, haystack, monkeypatch):
    monkeypatch.setattr(metrics, "_ROUNDS", 40)  # of the interval, which has a test of its own
    nothing, something = (_figures(arm, world, haystack) for arm in (Empty(), FtsEverywhere()))

    assert nothing.keys() == something.keys()
    assert not [name for name in nothing if not nothing[name] < something[name]]


def _figures(arm, world, haystack):
    arm.index(haystack)
    found = figures.rankings(figures.ranked(arm, world.questions[::3]))
    flat = {
        f"{group} {name}": share
        for group, ranking in found.items()
        if group.startswith(("facts", "sessions", "successors", "pairs"))
        for name, share in ranking._asdict().items()
        if name != "questions" and share is not None
    }
    return {**flat, **figures.moment(arm, world)._asdict()}


@pytest.mark.slow
def test_before_files_an_arm_that_tells_nothing_moves_every_figure(haystack, monkeypatch):
    monkeypatch.setattr(files, "rows", lambda name: own.rows(name)[:: 3 if name == "tasks" else 1])
    answering = files.arms(haystack)
    nothing, searched = (files.measure(answering[name], haystack) for name in ("nothing", "search for its path"))

    assert [name for name in nothing._fields if getattr(nothing, name) >= getattr(searched, name)] == ["at_prompt"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_an_arm_ranks_what_it_was_given_and_nothing_twice(name, world, haystack):
    arm = ARMS[name]()
    arm.index(haystack)

    for question in world.questions[::25]:
        ranked = arm.rank(question.query)
        assert len(ranked) == len(set(ranked)) <= 10
        assert set(ranked) <= {unit.id for unit in world.units}
        assert name == "ours" or [line.unit for line in arm.answer(question.query)] == ranked[:3]


@pytest.mark.slow
def test_each_kind_of_question_has_a_share_that_is_told_its_fact_whatever_was_asked_before(
    world, haystack, monkeypatch
):
    monkeypatch.setattr(metrics, "_ROUNDS", 40)
    asked = [question for question in world.questions if question.kind][::12]
    arm = ARMS["ours"]()
    arm.index(haystack)
    before = [arm.answer(question.query) for question in asked]
    told = figures.covered_by_kind(arm, asked)

    assert any(before)
    assert set(told) == {f"{kind} {lang}" for kind in own.KINDS for lang in ("en", "zh")}
    assert told["near en"].mean > 0 == told["blind en"].mean


def test_an_arm_that_is_not_built_yet_may_be_asked_for_and_an_unknown_one_may_not():
    assert _names("fts5, ours") == ["fts5", "ours"]
    with pytest.raises(argparse.ArgumentTypeError, match="no arm 'theirs'"):
        _names("theirs")


@pytest.mark.slow
@pytest.mark.parametrize("arm", start.ARMS)
def test_the_start_of_a_session_is_searched_for_the_line_itself(tmp_path, arm):
    EventLog(tmp_path / "s").append(
        {"type": "fact", "content": "Prices are in cents", "conversation_id": "c", "project": "/p"}
    )
    needs = [Need("g", "/p", "Prices are in cents"), Need("g", "/p", "Prices are in euros")]

    assert [share.mean for share in start.presence(needs, tmp_path / "s", start.ARMS[arm])["g"]] == [0.5, 0.5]
    assert [share.mean for share in start.presence(needs, tmp_path / "none", start.ARMS[arm])["g"]] == [0, 0]
    assert not (tmp_path / "none").exists()


def test_every_task_has_a_branch_and_is_reported_or_tuned_on_but_not_both():
    tuned, reported = ([need for need in own.needed(tuning=tuning) if need.branch] for tuning in (True, False))

    assert [row["task"] for row in own.rows("branches")] == [row["id"] for row in own.rows("tasks")]
    assert len({need.branch for need in tuned + reported}) == len(own.rows("tasks")) == len(tuned) + len(reported)
    assert not [need for need in tuned + reported if need.line in need.files or need.branch == need.other_branch]


# ---------------------------------------------------------------------------------------------------------- own set


def test_the_own_set_is_frozen():
    sums = (own.DATA / "SHA256SUMS").read_text().splitlines()
    files = [own.DATA / f"{name}.jsonl" for name in FILES]

    assert sums == [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in files]
    assert sorted(own.DATA.glob("*.jsonl")) == files


def test_the_own_set_has_ids_once_and_every_reference_leads_somewhere(world):
    ids = [row["id"] for name in FILES for row in own.rows(name)]
    units = [unit.id for unit in world.units]
    conversations = [question.query.conversation for question in world.questions]

    assert [name for name, times in Counter(ids).items() if times > 1] == []
    assert [name for name, times in Counter(units).items() if times > 1] == []
    assert [name for name, times in Counter(conversations).items() if times > 1] == []
    assert {unit for question in world.questions for unit in question.gold | question.stale} <= set(units)
    assert {row["gold"] for row in own.rows("repeats")} <= set(units)
    assert {fact for row in own.rows("shared") for fact in row["hidden"]} <= {
        unit.id for unit in world.units if not unit.project
    }


def test_every_question_of_the_own_set_is_typed_where_its_answer_counts(world):
    home = {unit.id: unit.project for unit in world.units}

    assert not [
        question
        for question in world.questions
        for unit in question.gold | question.stale
        if home[unit] not in ("", question.query.project)
    ]


def test_what_a_task_needs_stands_in_one_of_its_sessions():
    text = {row["id"]: [*row["files"], *row["decisions"]] for row in own.rows("sessions")}

    assert not [row for row in own.rows("tasks") if not any(row["needs"] in text[one] for one in row["sessions"])]


def test_the_own_set_is_as_large_as_it_says():
    facts = own.facts()
    kinds = Counter(kind for fact in facts for kind in own.KINDS if kind in fact)

    assert Counter(fact["lang"] for fact in facts) == {"en": 100, "zh": 100}
    assert len(own.rows("sessions")) >= 40
    assert min(Counter(row["lang"] for row in own.rows("foreign")).values()) >= 75
    assert kinds["far"] + kinds["blind"] >= kinds["near"]


def test_no_question_is_its_fact_and_none_but_the_near_ones_copies_a_rare_word():
    texts = Counter(mark for text in _texts() for mark in _marks(text))
    for fact in own.facts():
        questions = [fact[kind] for kind in own.KINDS if kind in fact]
        own_marks = _marks(" ".join(questions))
        for kind in ("far", "blind"):
            copied = _marks(fact["content"]) & _marks(fact.get(kind, ""))
            assert not [mark for mark in copied if texts[mark] - 1 - (mark in own_marks) < 1], fact["id"]
        assert fact["content"] not in questions


def _texts():
    """Every text of the set; the questions of one fact are one text."""
    for fact in own.facts():
        yield fact["content"]
        yield " ".join(fact.get(kind, "") for kind in own.KINDS)
    for row in own.rows("sessions"):
        yield " ".join((row["title"], *row["prompts"], row["closing"], *row["decisions"], *row["files"]))
    for row in own.rows("stale"):
        yield from (row["old"], row.get("new", ""), row["question"])
    for row in own.rows("pairs"):
        yield from (row["a"]["content"], row["b"]["content"], row["question"])
    yield from (row["prompt"] for name in ("foreign", "tasks", "shared") for row in own.rows(name))


def _marks(text):
    """Its words, and its runs of three Han characters."""
    words = re.findall(r"[a-z0-9][a-z0-9_.+-]*[a-z0-9]|[a-z0-9]", text.casefold())
    return {*words, *(run[at : at + 3] for run in re.findall(r"[\u4e00-\u9fff]+", text) for at in range(len(run) - 2))}


# ------------------------------------------------------------------------------------------------------------ store


@pytest.mark.slow
def test_the_store_holds_every_unit_in_the_words_it_was_said_in(world, haystack):
    said = {haystack.owners.get(event["id"]): event for event in _logged(haystack)}
    facts = {unit.id: unit.text for unit in world.units if not unit.id.startswith("se-")}

    assert {unit.id for unit in world.units} <= said.keys()
    assert {unit: said[unit]["content"] for unit in facts} == facts


def test_in_the_store_each_stale_case_is_replaced_or_withdrawn(haystack):
    events = _logged(haystack)
    ids = {unit: event_id for event_id, unit in haystack.owners.items()}
    withdrawn = {event.get("target") or event["conversation"] for event in events if event["type"] == "retraction"}
    times = Counter(event.get("key") for event in events)

    for row in own.rows("stale"):
        done = {
            "replaced": times[row.get("key", "none")] == 2,
            "retracted": ids[f"{row['id']}-old"] in withdrawn,
            "quarantined": f"told-{row['id']}" in withdrawn,
        }
        assert [kind for kind in done if done[kind]] == [row["kind"]]


def test_the_log_knows_which_sessions_are_shared(world, haystack):
    shared = {event["conversation_id"] for event in _logged(haystack) if event.get("session_type") == "shared"}

    assert shared == {query.conversation for query in world.shared}


def _logged(haystack):
    return [codec.to_fields(event) for event in EventLog(haystack.store).read()]


# -------------------------------------------------------------------------------------------------------- delivered


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return delivered.work(tmp_path_factory.mktemp("work"), NOW)


@pytest.mark.slow
def test_work_as_transcripts_has_the_noise_of_real_ones(work):
    files = sorted((work.haystack.store.parent / "claude").rglob("*.jsonl"))
    records = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    messages = [{record["uuid"] for record in session if "uuid" in record} for session in records]
    titles = [[one["leafUuid"] for one in session if one["type"] == "summary"] for session in records]
    foreign = [any(leaf not in own for leaf in leaves) for leaves, own in zip(titles, messages, strict=True)]

    assert len(files) == len(own.rows("work"))
    assert len(files) / 4 < sum(foreign) < len(files) * 3 / 4
    assert any(leaf in own for leaves, own in zip(titles, messages, strict=True) for leaf in leaves)
    assert {work.haystack.owners[event["id"]] for event in _logged(work.haystack)} == {
        row["id"] for row in own.rows("work")
    }
    texts = [said.text for said in work.delivery.said.values()]
    for noise in ("task_id: ", "git clone ", "test_issue.py", "_preds.json"):
        assert sum(noise in text for text in texts) > len(texts) / 2, noise


def test_the_same_seed_writes_the_same_transcript_and_another_one_another():
    row = own.rows("work")[0]
    first, again, other = (
        transcripts.of_work(row, Path("/src/queuebox"), NOW, random.Random(seed)).text for seed in (1, 1, 2)
    )

    assert first == again != other


@pytest.mark.slow
def test_what_follow_up_tasks_need_was_said_in_their_session_and_in_no_other(work):
    said = work.delivery.said
    for question, wanted in work.delivery.questions.items():
        (unit,) = question.gold
        for text in filter(None, wanted):
            assert [name for name, one in said.items() if text in one.text.replace("\\n", "\n")] == [unit], text


@pytest.mark.slow
def test_an_arm_that_is_told_all_delivers_all_and_one_that_tells_another_session_is_false(work, monkeypatch):
    monkeypatch.setattr(metrics, "_ROUNDS", 40)
    full = delivered.measure(_Oracle(work, 0), work.delivery)
    wrong = delivered.measure(_Oracle(work, 1), work.delivery)

    shares = [(one.right, one.file, one.cause, one.decision) for one in full.values()]
    assert all(share is not None and share.mean == 1 for row in shares for share in row)
    assert {(one.precision.mean, one.false.mean) for one in full.values()} == {(1, 0)}
    assert {(one.right.mean, one.file.mean, one.false.mean) for one in wrong.values()} == {(0, 0, 1)}


class _Oracle(Empty):
    """It tells each prompt what its session came to; or what another did, as if it were of that one."""

    def __init__(self, work, away):
        rows = own.rows("work")
        self.told: dict[str, list[Line]] = {}
        for at, row in enumerate(rows):
            other = rows[(at + away) % len(rows)]
            text = " · ".join((other["files"][0], other["cause"], other.get("decision", "")))
            lines = [Line(rows[(at + 2 * away) % len(rows)]["id"], text)]
            self.told |= {row[name]: lines for name in ("prompt", "prompt_zh") if name in row}

    def answer(self, query):
        return self.told.get(query.text, [])


def test_noise_is_what_tells_of_intentions_and_of_every_session():
    noisy = ("I'll help you", "Ran `rm -rf testbed`", "Perfect! All done", "## Summary of it", "完美！问题已经修复")

    assert [bool(delivered._NOISE.search(text)) for text in (*noisy, "The lease was renewed too late")] == [
        True
    ] * 5 + [False]


# ---------------------------------------------------------------------------------------------------------- loaders


def test_locomo_as_facts_and_as_transcripts_is_asked_for_its_sessions(tmp_path):
    path = tmp_path / "two.json"
    path.write_text(json.dumps([_dialogue("conv-1"), _dialogue("conv-2")]))
    dialogues = locomo.load(path)

    for number, record in enumerate((locomo.as_facts, locomo.as_transcripts)):
        world, haystack = record(dialogues, tmp_path / str(number))
        assert [unit.id for unit in world.units] == ["conv-1-D1", "conv-1-D2", "conv-2-D1", "conv-2-D2"]
        assert world.questions[0].gold == {"conv-1-D1", "conv-1-D2"}
        assert set(haystack.owners.values()) == {unit.id for unit in world.units}


def test_locomo_as_sessions_and_turns(tmp_path):
    path = tmp_path / "two.json"
    path.write_text(json.dumps([_dialogue("conv-1"), _dialogue("conv-2")]))

    first, second = locomo.load(path)

    assert (first.name, second.name) == ("conv-1", "conv-2")
    assert [unit.id for unit in first.sessions.units] == ["D1", "D2"]
    assert [unit.id for unit in first.turns.units] == ["D1:1", "D1:2", "D2:1"]
    assert first.turns.units[1].text == "1:56 pm on 8 May, 2023 Bo: Look! [a photo of a dog]"
    assert [question.gold for question in first.turns.questions] == [{"D1:2", "D2:1"}, {"D1:1"}]
    assert [question.gold for question in first.sessions.questions] == [{"D1", "D2"}, {"D1"}]


def test_locomo_goes_through_the_log(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps([_dialogue("conv-1")]))
    (dialogue,) = locomo.load(path)

    for level in (dialogue.sessions, dialogue.turns):
        built = store.build(level, tmp_path / level.questions[0].group)
        assert sorted(built.owners.values()) == sorted(unit.id for unit in level.units)


def _dialogue(name):
    """Two sessions; evidence in every way it is written there, some of it of nothing."""
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Al",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Al", "dia_id": "D1:1", "text": "I painted a lake."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a photo of a dog"},
            ],
            "session_2_date_time": "12:09 am on 13 September, 2023",
            "session_2": [{"speaker": "Al", "dia_id": "D2:1", "text": "The dog is called Rex."}],
            "session_3_date_time": "1:00 pm on 14 September, 2023",
        },
        "qa": [
            {"question": "What is the dog called?", "answer": "Rex", "evidence": ["D1:2; D:2:01"], "category": 4},
            {"question": "What was painted?", "answer": "a lake", "evidence": ["D1:1", "D9:9"], "category": 4},
            {"question": "Nothing to be found", "answer": "", "evidence": ["D"], "category": 5},
            {"question": "No evidence", "answer": "", "evidence": [], "category": 5},
        ],
    }


def test_longmemeval_as_sessions_and_turns(tmp_path):
    path = tmp_path / "two.json"
    path.write_text(json.dumps([_asked("q1"), _asked("q2_abs")]))

    (dialogue,) = longmemeval.load(path)

    assert [unit.id for unit in dialogue.sessions.units] == ["s1", "s2"]
    assert [question.gold for question in dialogue.sessions.questions] == [{"s2"}]
    assert [question.gold for question in dialogue.turns.questions] == [{"s2#1"}]
    built = store.build(dialogue.turns, tmp_path / "store")
    assert sorted(built.owners.values()) == ["s1#0", "s2#0", "s2#1"]


def _asked(name):
    return {
        "question_id": name,
        "question": "Which degree did I take?",
        "answer": "Business",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello"}],
            [{"role": "user", "content": "Hi"}, {"role": "user", "content": "My degree: Business", "has_answer": True}],
        ],
        "answer_session_ids": ["s2"],
    }
