"""Search finds what was said and still holds, the moment it was said; and nothing that holds no more, from that moment."""

import json
import os
import random
import resource
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eventlog import Memory
from eventlog.app.build import program
from eventlog.app.search import index_writer, open_index, search_index, word_tables
from eventlog.format import ids
from eventlog.format.events import (
    ConversationText,
    Fact,
    ProjectJoined,
    ProjectSeen,
    Rejected,
    Restored,
    Retraction,
    SessionStart,
    StageSummary,
)
from eventlog.projections.search import ranking
from eventlog.store.replica import replica_of
from tests.support.command_line import call
from tests.support.effort import rounds

SHOP, BILLING = "/src/shop", "/src/billing"


@pytest.fixture
def memory(tmp_path):
    return Memory(tmp_path / "store")


def say(memory, content, project=SHOP, conversation="c1", **fields):
    return memory.log.append(Fact(conversation_id=conversation, project=project, content=content, **fields))


def found(memory, query, project=SHOP, **options):
    return [hit.text for hit in memory.search(query, project=project, **options)]


@pytest.fixture(params=[False, True], ids=["not replayed", "replayed"])
def settle(memory, request):
    """Whether a replay stands between what is done and what is asked."""
    return memory.replay if request.param else lambda: None


# ----------------------------------------------------------------------------------------------------- what is found


def test_words_are_found_in_any_order_and_form_names_in_part_and_whole_and_the_last_by_its_beginning(memory):
    say(memory, "Orders are never deleted: cancelling writes to order_audit")
    say(memory, "CONN_MAX_AGE stays at 60 in shop/settings/prod.py")
    say(memory, "支付回调会重复发送")

    assert found(memory, "deleting order") == found(memory, "order deletes") == found(memory, "audit")
    assert "deleted" in found(memory, "audit")[0]
    assert "CONN_MAX_AGE" in found(memory, "max age")[0]
    assert found(memory, "prod.py") == found(memory, "conn_max_age") == found(memory, "sett")
    assert found(memory, "回调 重复") == found(memory, "重复的回调") == ["支付回调会重复发送"]


def test_where_nothing_is_found_a_word_near_it_is_named_as_it_is_written(memory):
    say(memory, "Configurations live in `deploy/settings.toml`; tokens are there")

    missed = call("search", "configurable tokenizer", "--project", SHOP, "--store", memory.log.store.root)

    assert "did you mean: configurations, tokens" in missed.err


@pytest.mark.parametrize("query", ["锁", "为什么锁", "钟", "ｃａｒ"])
def test_one_character_of_chinese_finds_the_words_it_begins_or_ends_and_width_does_not_matter(memory, query):
    say(memory, "迁移时锁表十分钟，Cart 页面不可用")
    say(memory, "退款需要人工审核")

    assert ["迁移时锁表十分钟，Cart 页面不可用"] == found(memory, query)


def test_the_best_answer_comes_first(memory):
    for number in range(20):
        say(memory, f"The build number {number} was shipped to the customers")
    say(memory, "The build uses Bazel")

    assert found(memory, "which build tool, bazel?")[0] == "The build uses Bazel"


def test_a_score_is_the_share_of_the_query_that_the_best_hit_has_and_the_others_in_proportion(memory):
    say(memory, "The API listens on port 8443")
    say(memory, "支付回调会重复发送")
    for number in range(20):
        say(memory, f"The port of call {number} is named in the timetable")

    asked = {
        query: memory.search(query, project=SHOP) for query in ("which port does the API listen on", "API", "回调")
    }
    partly, whole = (memory.search(query, project=SHOP)[0].score for query in ("kubernetes api port", "api lis"))

    assert [1.0] * 3 == [hits[0].score for hits in asked.values()]
    assert all(0 <= hit.score < 0.5 for hit in asked["which port does the API listen on"][1:])
    assert 0.3 < partly < whole == 1.0


def test_words_that_stand_side_by_side_in_the_query_answer_better_where_they_do_in_the_text(memory):
    together, apart = "The order lock is old", "The lock precedes the order"
    for text in (together, apart):  # of equals the newest would come first
        say(memory, text)
    for number in range(9):
        say(memory, f"Something else {number}")

    assert found(memory, "when is the order lock taken") == [together, apart]


@given(st.permutations(range(9)), st.integers(1, 9))
def test_machines_with_the_same_events_find_equals_in_the_same_order(came, limit):
    facts = [
        Fact(
            conversation_id="c1",
            project=SHOP,
            content=f"Tent {'abcdefghi'[at]}",
            ts=f"2026-02-{21 + at % 3}T10:00:00.000000Z",
        )
        for at in range(9)
    ]
    with TemporaryDirectory() as here, TemporaryDirectory() as there:
        memory, other = Memory(here), Memory(there)
        stored = memory.log.append_many(facts)
        for at in came:
            other.log.put([stored[at]])
            assert found(other, "tent", limit=1)

        assert found(memory, "tent", limit=limit) == found(other, "tent", limit=limit)


def test_of_facts_that_answer_alike_the_one_comes_first_whose_conversation_says_more_about_it(memory):
    for text in ("The tent lies in the cellar", "Camping food lies in the kitchen", "Camping needs a permit in May"):
        say(memory, text, conversation="trip")
    say(memory, "The tent lies in the garage", conversation="other")
    for number in range(20):
        say(memory, f"Order {number} waits for the warehouse", conversation=f"c{number}")

    assert found(memory, "tent", limit=1) == ["The tent lies in the garage"]  # the newest of equals
    assert found(memory, "camping tent", limit=1) == ["The tent lies in the cellar"]


def test_summaries_and_past_conversations_are_found_and_one_that_says_both_once(memory):
    memory.log.append(StageSummary(conversation_id="c1", project=SHOP, topic="Cart", summary="Rounds half even"))
    memory.log.append(
        ConversationText(
            conversation_id="c2", project=SHOP, title="Postcode crash", prompts=["Empty postcode gives a 500"],
            closing="Blank postcodes are a form error now", files=["checkout/forms.py"],
        )
    )  # fmt: skip

    assert found(memory, "rounding") == ["Cart: Rounds half even"]
    why = "checkout/forms.py · Blank postcodes are a form error now"
    assert found(memory, "empty 500") == [f"Empty postcode gives a 500 · {why}"]
    assert found(memory, "forms.py crash") == [f"Postcode crash · {why}"]

    memory.log.append(
        StageSummary(conversation_id="c2", project=SHOP, scope="session", topic="Postcode", summary="Blank is an error")
    )
    assert len(found(memory, "postcode blank")) == 1


def test_a_fact_that_was_said_again_has_the_time_of_the_last_and_how_often_also_as_json(memory):
    say(memory, "The API listens on port 8443", conversation="c1")
    last = say(memory, "the API listens on port 8443.", conversation="c2")
    [hit] = memory.search("port", project=SHOP)

    assert (hit.ts, hit.times, hit.is_doubtful) == (last.ts, 2, False)
    say(memory, "The API listens on port 9443")
    say(memory, "The API listens on port 7443", BILLING)
    assert [hit.is_doubtful for hit in memory.search("port", everywhere=True)] == [False, True, True]
    shown = call("search", "port 8443", "--json", "--project", SHOP, "--store", memory.log.store.root)
    assert json.loads(shown.out)[0]["times"] == 2


def test_here_and_about_the_user_or_everywhere(memory):
    say(memory, "Port 8080 here")
    say(memory, "Port 9090 there", BILLING)
    say(memory, "Likes port numbers written out", memory_type="O")

    assert set(found(memory, "port")) == {"Port 8080 here", "Likes port numbers written out"}
    assert found(memory, "port", None) == ["Likes port numbers written out"]
    assert len(found(memory, "port", everywhere=True)) == 3
    assert found(memory, "port", types=["stage_summary"]) == []
    assert found(memory, "port", since="2999") == []


def test_a_start_tells_the_project_of_a_summary_that_names_none(memory):
    memory.log.append(SessionStart(conversation_id="c1", project=SHOP))
    memory.log.append(StageSummary(conversation_id="c1", summary="Zebra stripes"))
    say(memory, "Horses", BILLING, "c2")

    assert found(memory, "zebra") == ["Zebra stripes"]
    assert found(memory, "zebra", BILLING) == []


@pytest.mark.parametrize("order", ["project first", "summary first"])
def test_a_summary_without_a_project_is_of_its_conversations_whichever_line_tells_it(memory, order):
    say(memory, "Bills", BILLING, "c2")
    lines = [
        Fact(conversation_id="c1", project=SHOP, content="Horses"),
        StageSummary(conversation_id="c1", summary="Zebras"),
    ]
    for line in lines if order == "project first" else reversed(lines):
        memory.log.append(line)
        found(memory, "zebras", BILLING)

    assert found(memory, "zebras", SHOP) == ["Zebras"]
    assert found(memory, "zebras", BILLING) == found(memory, "zebras", None) == []
    assert memory.search("zebras", everywhere=True)[0].project == SHOP


def test_a_summary_of_a_conversation_outside_of_any_project_is_found_there_only(memory):
    say(memory, "Horses", conversation="c2")
    memory.log.append(StageSummary(conversation_id="c1", summary="Zebras"))

    assert found(memory, "zebras", None) == ["Zebras"]
    assert found(memory, "zebras") == []
    assert memory.search("zebras", everywhere=True)[0].project is None


# ------------------------------------------------------------------------------------------------ what is not found


def test_what_was_just_said_is_found_and_what_was_just_withdrawn_is_not(memory, settle):
    one = say(memory, "The admin port is 8443")
    settle()
    assert found(memory, "admin port") == ["The admin port is 8443"]

    memory.log.append(Retraction(conversation_id="human", target=one.id))
    settle()

    assert found(memory, "admin port") == []
    assert found(memory, "admin port", everywhere=True) == []


def test_what_a_helper_withdraws_stays_as_it_does_in_the_files(memory, settle):
    one = say(memory, "The admin port is 8443")
    settle()

    memory.log.append(Retraction(conversation_id="helped", subagent="explore", target=one.id))
    memory.log.append(Retraction(conversation_id="helped", subagent="explore", conversation=one.conversation_id))
    settle()

    assert found(memory, "admin port") == ["The admin port is 8443"]
    assert "8443" in memory.context(project=SHOP).text


def test_a_conversation_is_of_the_project_it_names_itself_not_of_one_a_person_names_in_it(memory, settle):
    gone = say(memory, "Prices are floats", SHOP)
    here = Retraction(conversation_id="s2", agent="human", project=SHOP, target=gone.id)
    memory.log.append_many([here, StageSummary(conversation_id="s2", project=BILLING, summary="Moved the ledger")])
    settle()

    assert found(memory, "moved ledger", project=BILLING) == ["Moved the ledger"]


def test_a_quarantined_conversation_says_nothing_also_later(memory, settle):
    say(memory, "Poisoned wells", conversation="bad")
    memory.log.append(StageSummary(conversation_id="bad", project=SHOP, summary="Poisoned summary"))
    memory.log.append(ConversationText(conversation_id="bad", project=SHOP, title="Poisoned", prompts=["x"]))
    assert len(found(memory, "poisoned")) == 2

    memory.log.append(Retraction(conversation_id="human", conversation="bad"))
    say(memory, "Poisoned once more", conversation="bad")
    settle()

    assert found(memory, "poisoned") == []


def test_a_replaced_wording_is_not_found_and_is_again_when_its_successor_is_withdrawn(memory, settle):
    say(memory, "Runs on Python 3.10", key="python")
    new = say(memory, "Runs on Python 3.13", key="python")
    say(memory, "Runs on Python 2", BILLING, key="python")
    settle()
    assert found(memory, "python runs") == ["Runs on Python 3.13"]

    taken = memory.log.append(Retraction(conversation_id="human", target=new.id))
    settle()
    assert found(memory, "python runs") == ["Runs on Python 3.10"]

    memory.log.append(Retraction(conversation_id="human", target=taken.id))
    settle()
    assert found(memory, "python runs") == ["Runs on Python 3.13"]


def test_of_several_revisions_of_a_summary_the_newest_is_found_and_what_a_program_drew_only_where_no_agent_wrote(
    memory,
):
    def conclude(text, **fields):
        fields = {"conversation_id": "c1", "project": SHOP, "scope": "session", **fields}
        memory.log.append(StageSummary(summary=text, **fields))

    conclude("Drawn words about herons", layer=3)
    assert found(memory, "herons") == ["Drawn words about herons"]
    conclude("First words about herons", layer=1)
    conclude("Second words about herons", layer=4)
    conclude("Drawn again about herons", layer=3)

    assert found(memory, "herons") == ["Second words about herons"]


@pytest.mark.slow
@pytest.mark.parametrize("said", ["before", "after"])
def test_a_rejected_statement_is_not_found_whoever_says_it_until_that_is_taken_back(memory, settle, said):
    def speak():
        say(memory, "Deploys happen on Friday")
        memory.log.append(
            StageSummary(conversation_id="c2", project=SHOP, summary="Plan", decisions=["deploys happen on Friday."])
        )

    say(memory, "Nothing of that kind")
    if said == "before":
        speak()
        assert len(found(memory, "deploys friday")) == 2
    [[rejected, _]] = memory.log.put([Rejected(conversation_id="human", statement="Deploys happen on Friday")])
    if said == "after":
        found(memory, "kind")
        speak()
    settle()
    assert found(memory, "deploys friday") == []
    assert found(memory, "plan") == ["Plan"]

    memory.log.put([Restored(conversation_id="human", target=rejected.id)])
    settle()
    assert len(found(memory, "deploys friday")) == 2


def test_a_stage_that_an_older_program_saved_as_a_fact_is_of_its_project_only(memory):
    say(memory, "Bills", BILLING)
    old = b'{"v":1,"id":"01a00000-0000-7000-8000-000000000001","ts":"2026-01-05T10:00:00.000000Z","type":"fact",'
    old += b'"conversation_id":"x","project":"/src/shop","content":"Zebra stage","memory_type":"S"}\n'
    (Path(memory.log.store.log) / "2026-01-05.jsonl").write_bytes(old)

    assert found(memory, "zebra") == ["Zebra stage"]
    assert found(memory, "zebra", BILLING) == []


def test_a_helper_says_nothing(memory):
    say(memory, "Helpers found an otter", subagent="a1")

    assert found(memory, "otter") == []


def test_the_same_text_said_twice_is_one_answer(memory):
    say(memory, "Lint with ruff")
    say(memory, "lint with  Ruff", conversation="c2")

    assert len(found(memory, "ruff")) == 1


def test_a_late_line_of_another_machine_brings_back_nothing(memory):
    say(memory, "Deploys on Friday", key="deploy")
    assert found(memory, "deploys") == ["Deploys on Friday"]
    late = b'{"v":1,"id":"01a00000-0000-7000-8000-000000000001","ts":"2026-01-05T10:00:00.000000Z","type":"fact",'
    late += b'"conversation_id":"x","project":"/src/shop","content":"Deploys on Monday","key":"deploy"}\n'
    (Path(memory.log.store.log) / "2026-01-05.laptop.jsonl").write_bytes(late)

    assert found(memory, "deploys") == ["Deploys on Friday"]


# ------------------------------------------------------------------------------------------------------- the file


def index_of(memory):
    return Path(memory.log.store.cached("search.sqlite"))


def test_what_is_sought_is_found_where_the_index_finds_no_room(memory):
    for number in range(200):
        say(memory, f"The tea of day {number} is {number:x} degrees")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))  # SQLite takes it for a failing disk
    try:
        assert "The tea of day 7 is 7 degrees" in found(memory, "tea of day 7")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(Path(memory.log.store.cache).glob("search.sqlite*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "harm", ["damaged", "a line", "gone", "a directory", "a pipe", "empty", "of another version", "not a database"]
)
def test_an_index_that_is_no_good_is_made_anew(memory, harm):
    say(memory, "Herons fish at dawn")
    assert found(memory, "herons")
    path = index_of(memory)
    if harm in ("gone", "a directory", "a pipe"):
        path.unlink()
    if harm == "a directory":
        Path(path, "not", "empty").mkdir(parents=True)
    elif harm == "a pipe":
        os.mkfifo(path)
    elif harm == "gone":
        pass
    elif harm == "a line":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE units SET line = x'00', told = NULL")
    elif harm == "of another version":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE meta SET value = '0' WHERE name = 'version'")
            database.execute("DELETE FROM units")
    else:
        data = path.read_bytes()
        torn = {"damaged": data[:3000] + b"\xff" * 60_000, "empty": b"", "not a database": b"{}" * 4000}[harm]
        path.write_bytes(torn)

    assert found(memory, "herons") == ["Herons fish at dawn"]


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["x'00'", "'a text'", "7"])
def test_an_index_with_a_damaged_line_is_made_anew_where_the_line_is_said_again(memory, harm):
    say(memory, "Herons fish at dawn")
    assert found(memory, "herons")
    with closing(sqlite3.connect(index_of(memory))) as database, database:
        database.execute(f"UPDATE units SET line = {harm}, told = NULL")
    say(memory, "Herons fish at dawn", conversation="c2")

    assert found(memory, "herons") == ["Herons fish at dawn"]


@pytest.mark.parametrize("how", ["another program", "a full replay"])
def test_an_index_that_another_program_made_is_read_by_prompts_and_made_anew_by_a_search(memory, monkeypatch, how):
    fact = say(memory, "Herons fish at dawn in the delta")
    assert found(memory, "herons")
    with closing(sqlite3.connect(index_of(memory))) as database, database:
        database.execute(
            "UPDATE units SET line = CAST(replace(line, 'dawn', 'dusk') AS BLOB)"
        )  # so that it can be told from another
    if how == "a full replay":
        memory.replay(full=True)
    else:
        monkeypatch.setattr(program, "program_key", lambda: "another")
    with monkeypatch.context() as patch:
        patch.setattr(open_index, "_made", lambda *_: pytest.fail("a prompt made an index"))
        prompted = memory.recall("Where in the delta do herons fish?", project=SHOP)

    assert "dusk" in prompted
    assert fact.id[-8:] in prompted
    assert found(memory, "herons") == ["Herons fish at dawn in the delta"]


def test_a_log_that_was_not_only_appended_to_is_read_anew(memory):
    say(memory, "Herons fish at dawn")
    assert found(memory, "herons")
    [day] = memory.log.days()
    file = Path(day.files[0])
    data = file.read_bytes()
    file.rename(file.with_suffix(".old"))
    file.write_bytes(data.replace(b"Herons", b"Egrets") + b"\n")

    assert found(memory, "herons") == []
    assert found(memory, "egrets") == ["Egrets fish at dawn"]


def test_what_says_nothing_to_a_search_is_noted_only_where_there_is_much_of_it(memory, monkeypatch):
    say(memory, "Herons fish at dawn")
    assert found(memory, "herons")
    before = index_of(memory).read_bytes()
    memory.log.append({"type": "turn_end", "conversation_id": "c1", "turn_id": "1", "status": "completed"})

    assert found(memory, "herons")
    assert before == index_of(memory).read_bytes()

    monkeypatch.setattr(search_index, "NOT_WORTH_NOTING", 1)
    assert found(memory, "herons")
    assert before != index_of(memory).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_an_index_of_a_whole_log_finds_what_one_kept_current_line_by_line_does(memory, seed):
    summary, here = {"type": "stage_summary"}, {"conversation_id": "c1", "project": SHOP}
    drawn = {**summary, "scope": "session", "layer": 3}
    told = [
        {"type": "session_start", **here},
        {"type": "fact", **here, "content": "Port 8080 answers", "key": "port"},
        {"type": "fact", **here, "content": "Port 9090 answers", "key": "port"},
        {"type": "fact", **here, "content": "port  9090 ANSWERS"},
        {"type": "fact", "conversation_id": "c1", "content": "Port of no project"},
        {"type": "fact", **here, "content": "Said by a helper: port 1", "subagent": "h"},
        {**drawn, **here, "topic": "Drawn", "summary": "A port was drawn"},
        {**summary, "conversation_id": "c1", "scope": "session", "summary": "A port in own words"},
        {**summary, **here, "topic": "Stage", "summary": "A port of a stage"},
        {**drawn, "conversation_id": "c2", "project": SHOP, "summary": "Only a port that was drawn"},
        {"type": "conversation_text", **here, "title": "Port texts", "prompts": [f"port {n} prompt" for n in range(9)]},
    ]
    random.Random(seed).shuffle(told)
    stored = []
    for event in told:
        stored.append(memory.log.append(event))
        one_by_one = memory.search("port", everywhere=True)
    index_of(memory).unlink()

    assert one_by_one == memory.search("port", everywhere=True)
    assert len(one_by_one) > 3
    texts = [getattr(one, "content", None) or getattr(one, "summary", "") for one in stored[4:]]
    rejected = [Rejected(conversation_id="human", statement=text) for text in (*filter(None, texts), "port 3 prompt")]
    withdrawn = [Retraction(conversation_id="human", target=one.id) for one in stored[1:4]]
    drawn_only = Rejected(conversation_id="human", conversation="c2")
    the_other = Retraction(conversation_id="human", conversation="c1")
    for gone in (*withdrawn, drawn_only, *rejected[:3], the_other, *rejected[3:]):
        memory.log.put([gone])
        one_by_one = memory.search("port", everywhere=True)
        index_of(memory).unlink()
        assert one_by_one == memory.search("port", everywhere=True)


@pytest.mark.slow
def test_what_is_said_now_and_then_never_writes_the_words_of_a_whole_log_again(memory):
    facts = (f"Column {n} holds {n * 7919 % 1009} herons" for n in range(1500))
    memory.log.append_many([Fact(conversation_id="c0", project=SHOP, content=text) for text in facts])

    def parts():
        assert found(memory, "herons")
        with closing(sqlite3.connect(index_of(memory))) as database:
            return dict(database.execute("SELECT id, block FROM words_data WHERE id > 1000"))

    whole = parts()
    for number in range(20):
        say(memory, f"Otters sign release {number}")
        assert whole.items() <= parts().items()


NAMINGS: list[dict[str, Any]] = [
    {"path": SHOP, "remote": "github.com/ada/shop"},
    {"path": BILLING, "remote": "github.com/ada/shop"},
    {"path": BILLING, "remote": "github.com/ada/billing"},
    {"path": SHOP},
    {"path": SHOP, "replica": "elsewhere", "remote": "github.com/bob/fork"},
    {"projects": [SHOP, BILLING]},
]


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(rounds(fixed=2, fuzz=6)))
def test_where_projects_get_other_names_an_index_that_stays_finds_what_a_new_one_does(memory, seed):
    rows = [
        {"project": SHOP, "content": "Herons deploy on Friday"},
        {"project": SHOP, "content": "herons DEPLOY on friday", "replica": "elsewhere"},
        {"project": BILLING, "content": "Herons deploy on Friday"},
        {"project": BILLING, "content": "Herons deploy on Monday", "key": "day"},
        {"project": SHOP, "content": "Herons deploy on Sunday", "key": "day", "conversation_id": "c2"},
        {"project": SHOP, "type": "stage_summary", "summary": "Herons were deployed", "conversation_id": "c3"},
        {"project": "/src/tools", "content": "Herons need tools"},
    ]
    namings = random.Random(seed).sample(NAMINGS, len(NAMINGS))
    memory.log.append_many([{"type": "fact", "conversation_id": "c1", **row} for row in rows])
    memory.replay()

    def everything():
        hits = memory.search("herons", everywhere=True)
        with closing(sqlite3.connect(index_of(memory))) as database:
            shown = "SELECT subject, event, ts, told FROM units WHERE id > 0"
            return hits, sorted(database.execute(shown).fetchall())

    for naming in namings:
        about = {"conversation_id": "human", "replica": replica_of(memory.log.store), **naming}
        memory.log.put([ProjectJoined(**about) if "projects" in naming else ProjectSeen(**about)])
        memory.replay()
        kept = everything()
        index_of(memory).unlink()
        assert kept == everything()


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 500])
def test_only_a_project_with_much_in_it_that_gets_another_name_makes_the_index_anew(memory, monkeypatch, most):
    monkeypatch.setattr(index_writer, "_MAX_MOVED", most)
    say(memory, "Herons deploy on Friday")
    say(memory, "Otters deploy on Monday")
    assert found(memory, "herons") == ["Herons deploy on Friday"]
    here, remote = replica_of(memory.log.store), "github.com/ada/shop"
    with index_of(memory).open("rb") as before:  # open, so that no other file gets its number
        for path in (SHOP, "/src/clone"):
            memory.log.put([ProjectSeen(conversation_id="c9", replica=here, path=path, remote=remote)])
            memory.replay()

        assert found(memory, "herons") == ["Herons deploy on Friday"]
        assert os.path.samestat(os.fstat(before.fileno()), index_of(memory).stat()) is (most == 500)


@pytest.mark.slow
@pytest.mark.parametrize(
    "withdrawal",
    [
        lambda fact: Retraction(conversation_id="human", target=fact.id),
        lambda fact: Rejected(conversation_id="human", statement=fact.content),
        lambda fact: Rejected(conversation_id="human", target=fact.id),
        lambda fact: Rejected(conversation_id="human", conversation=fact.conversation_id),
        lambda fact: Retraction(conversation_id="human", conversation=fact.conversation_id),
    ],
    ids=["retracted", "rejected", "rejected by id", "session rejected", "session retracted"],
)
def test_only_a_withdrawal_that_brings_something_back_to_light_makes_the_index_anew(memory, withdrawal):
    say(memory, "The port was 8080", key="port")
    keyed = say(memory, "The port is 9090", key="port", conversation="c2")
    indexed = say(memory, "Herons nest in column seven", conversation="c3")
    inodes = [index_of(memory).stat().st_ino for _ in found(memory, "port")]
    for told in (indexed, None, keyed):
        target = told or say(memory, "Otters sign releases", conversation="c4")
        memory.log.put([withdrawal(target)])
        assert found(memory, "herons otters port") == (["The port was 8080"] if told is keyed else ["The port is 9090"])
        inodes.append(index_of(memory).stat().st_ino)
        assert told is not indexed or b"column" not in index_of(memory).read_bytes()

    assert inodes[0] == inodes[1] == inodes[2] != inodes[3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "withdrawal",
    [
        lambda fact: Retraction(conversation_id="human", target=fact.id),
        lambda fact: Rejected(conversation_id="human", statement=fact.content),
        lambda fact: Rejected(conversation_id="human", conversation=fact.conversation_id),
    ],
    ids=["retracted", "rejected", "session rejected"],
)
def test_what_was_taken_back_before_it_came_from_another_machine_withdraws_nothing(memory, withdrawal):
    late = replace(withdrawal(say(memory, "Herons fish at dawn")), id=ids.derived(1_772_000_000_000, "late"))
    assert found(memory, "herons") == ["Herons fish at dawn"]
    memory.log.put([Restored(conversation_id="human", target=late.id)])
    assert found(memory, "herons") == ["Herons fish at dawn"]
    memory.log.put([replace(late, ts="2026-02-25T06:13:20.000000Z")])
    memory.replay()

    assert found(memory, "herons") == ["Herons fish at dawn"]


def test_without_full_text_search_the_same_is_found_in_the_same_order(memory, monkeypatch):
    texts = [
        "Herons fish at dawn",
        "Herons, herons, herons",
        "Fish are frozen",
        "苍鹭 在 黎明 捕鱼",
        "dawn chorus of birds",
    ]
    for text in texts:
        say(memory, text)
    asked = ["herons fish", "fish at dawn", "捕鱼", "her", "bird"]
    expected = [found(memory, query) for query in asked]
    index_of(memory).unlink()

    def lacking(_self):
        raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(word_tables.FullText, "create", lacking)
    assert [found(memory, query) for query in asked] == expected
    say(memory, "A heron again")
    assert "A heron again" in found(memory, "heron")


def test_where_nothing_can_be_written_it_is_searched_in_memory(memory, monkeypatch):
    say(memory, "Herons fish at dawn")

    def refuse(*_args, **_options):
        raise PermissionError(13, "no")

    monkeypatch.setattr("eventlog.store.files.make_dirs", refuse)
    assert found(memory, "herons") == ["Herons fish at dawn"]
    assert not index_of(memory).exists()


def test_nobody_else_may_read_it(memory):
    say(memory, "Herons fish at dawn")
    found(memory, "herons")

    assert index_of(memory).stat().st_mode & 0o777 == 0o600


@pytest.fixture
def common_words(memory):
    """Sixty facts of five words, about two projects and the user."""
    chance = random.Random(5)
    for number in range(60):
        words = " ".join(chance.choices(["cart", "lock", "order", "price", "queue"], k=6))
        say(memory, f"{words} {number}", project=chance.choice([SHOP, BILLING]), memory_type=chance.choice("WO"))
    return memory


def test_at_most_as_many_are_found_as_are_asked_for(common_words):
    assert [1, 7] == [len(common_words.search("cart", project=SHOP, limit=limit)) for limit in (1, 7)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", word_tables.KINDS.values())
def test_what_is_about_a_project_is_scored_as_among_all(common_words, monkeypatch, kind):
    monkeypatch.setattr(search_index, "KINDS", dict.fromkeys(word_tables.KINDS, kind))
    for query in ("cart", "order lock", "price of the queue", "lock 7"):
        among_all = common_words.search(query, everywhere=True, limit=200)
        for project in (SHOP, BILLING):
            found = common_words.search(query, project=project, limit=200)
            assert [hit.id for hit in found] == [hit.id for hit in among_all if hit.project in (None, project)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", word_tables.KINDS.values())
def test_where_too_many_have_common_words_the_newest_that_have_most_of_them_are_ranked(common_words, monkeypatch, kind):
    monkeypatch.setattr(search_index, "KINDS", dict.fromkeys(word_tables.KINDS, kind))
    every = {hit.id for hit in common_words.search("cart", project=SHOP, limit=200)}
    monkeypatch.setattr(ranking, "_FEW", 0)
    monkeypatch.setattr(search_index, "_MAX_RANKED", 0)

    assert {hit.id for hit in common_words.search("cart", project=SHOP, limit=200)} == every
    say(common_words, "The queue of the cart of the order has a lock", project=SHOP)
    assert found(common_words, "queue cart order lock", limit=1) == ["The queue of the cart of the order has a lock"]
    newest = sorted(common_words.search("cart", project=SHOP, limit=200), key=lambda hit: hit.ts)[-8:]
    monkeypatch.setattr(search_index, "_SAMPLE", 1)
    monkeypatch.setattr(search_index, "_LOOKED_AT", 1)
    assert {hit.id for hit in common_words.search("cart", project=SHOP, limit=1)} <= {hit.id for hit in newest}


@pytest.mark.slow
def test_who_searches_again_and_again_finds_what_another_process_would(common_words, monkeypatch):
    monkeypatch.setattr(ranking, "_FEW", 0)
    monkeypatch.setattr(search_index, "_MAX_RANKED", 0)
    first = common_words.search("cart queue", project=SHOP, limit=200)
    steps = [
        lambda: say(common_words, "The queue of the cart is the newest"),
        lambda: common_words.log.append(Retraction(conversation_id="c1", target=first[0].id)),
        lambda: common_words.forget(first[1].id),
        lambda: open_index.leave_index(common_words.log.store, open_index.ALL).close(),
        lambda: open_index.invalidate(common_words.log.store),
        lambda: common_words.replay(full=True),
    ]
    before = first
    for step in steps:
        step()
        again = common_words.search("cart queue", project=SHOP, limit=200)
        monkeypatch.setattr(search_index, "_recent", search_index._Recent(""))
        assert again == common_words.search("cart queue", project=SHOP, limit=200)
        assert again != before or step in steps[3:]
        before = again
    assert not {hit.id for hit in first[:2]} & {hit.id for hit in before}


def test_common_words_are_counted_and_stay_so(common_words, monkeypatch):
    monkeypatch.setattr(word_tables, "_OFTEN", 10)
    monkeypatch.setattr(search_index, "_FEW_TEXTS", 10)
    store, words = common_words.log.store, ["cart", "lock", "order", "pric", "queu", "7"]
    open_index.leave_index(store, open_index.ALL).close()
    gone = say(common_words, "The cart waits in the queue")
    found(common_words, "cart")
    say(common_words, "The cart stands before the queue, and the order is locked")
    common_words.log.append(Retraction(conversation_id="c1", target=gone.id))

    with closing(open_index.open_index(store)) as index:
        counted = index.database.execute("SELECT count(*) FROM common").fetchone()
        assert counted == (5,)
        of_now = index.database.execute(word_tables._HAVING, (word_tables.strings(words),))
        assert index.having(words) == dict(of_now)
