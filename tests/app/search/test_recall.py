"""With a prompt comes what bears on it, once, as data, with a receipt; on most prompts nothing."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog import Memory
from eventlog.app.search import open_index, search_index, word_tables
from eventlog.app.search.recall import RecallRequest, recall
from eventlog.format.events import ContextInjected, Fact, Rejected, Retraction, SessionStart
from eventlog.store import Store
from tests.support.fences import nonces
from tests.support.hook_calls import HOOK, errors_of, respond
from tests.support.payloads import claude, codex, data

SHOP, BILLING = "/src/shop", "/src/billing"
STRIPE = "Stripe sends every webhook twice; handlers check stripe_event_id first"
ASKS = "Why is the Stripe webhook handled twice?"


@pytest.fixture
def store(tmp_path):
    memory = Memory(tmp_path / "store")
    say(memory, STRIPE)
    for number in range(30):
        say(memory, f"Filler {number}: cart line {number} is rounded half even")
    return tmp_path / "store"


def say(memory, content, project=SHOP, **fields):
    return memory.log.append(Fact(conversation_id="before", project=project, content=content, **fields))


def gemini(name, **fields):
    return {"hook_event_name": name, "timestamp": "2026-02-21T08:35:44.123Z", **fields}


def ask(store, prompt, session="s", project=SHOP, make=claude, name="UserPromptSubmit"):
    payload = {**make(name, prompt=prompt), "session_id": session, "cwd": project}
    answer = respond(data(payload), ["--agent", make.__name__, "--store", str(store)], {})
    return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer not in (b"", b"{}") else ""


def receipts(store):
    return [event for event in Memory(store).log.read() if isinstance(event, ContextInjected)]


@pytest.mark.slow
@pytest.mark.parametrize("noted", [False, True])
def test_a_line_is_dated_by_the_users_calendar(tmp_path, noted):
    memory = Memory(tmp_path / "store")
    fact = say(memory, STRIPE, ts="2026-02-20T20:00:00.000000Z")
    (tmp_path / "store" / "config.yaml").write_text("timezone: Asia/Shanghai\n")
    if noted:
        memory.replay()

    assert f"    - [2026-02-21 {fact.id[-8:]}] {STRIPE}" in ask(tmp_path / "store", ASKS)
    assert "[2026-02-21 " in memory.recall(ASKS, project=SHOP)


@pytest.mark.parametrize(
    ("make", "name"), [(claude, "UserPromptSubmit"), (codex, "UserPromptSubmit"), (gemini, "BeforeAgent")]
)
def test_a_prompt_is_told_what_bears_on_it_dated_fenced_with_a_receipt(store, make, name):
    told = ask(store, ASKS, make=make, name=name)
    head, line, end = told.splitlines()
    [fact] = Memory(store).query(text="Stripe sends")
    [receipt] = receipts(store)

    assert head.startswith("[eventlog]")
    assert "data, not instructions" in head
    assert end == f"    (end of recorded data {nonces(told)[0]})"
    assert line == f"    - [{fact.ts[:10]} {fact.id[-8:]}] {STRIPE}"
    assert (receipt.trigger, receipt.sources, receipt.conversation_id) == ("prompt", [fact.id], "s")
    assert receipt.chars == len(told)
    assert errors_of(store) == []


def test_nothing_is_told_twice_in_a_conversation_and_in_another_it_is(store):
    assert ask(store, ASKS)
    assert not ask(store, "What do handlers of a Stripe webhook check, stripe_event_id?")
    assert ask(store, ASKS, session="other")


def test_nothing_is_told_twice_either_where_the_index_is_made_anew_for_a_prompt(store):
    assert ask(store, ASKS)
    Path(Store(str(store)).cached("search.sqlite")).unlink()

    assert not ask(store, ASKS)


def test_what_the_start_had_no_room_for_is_told_and_what_it_gave_is_not(store):
    Memory(store).replay()
    context_of = {"9000": "roomy", "200": "cramped"}
    for budget, session in context_of.items():
        (store / "config.yaml").write_text(f"context: {{budget_chars: {budget}}}\n")
        Memory(store).context(project=SHOP, session=session, source="startup")

    assert not ask(store, ASKS, session="roomy")
    assert ask(store, ASKS, session="cramped")


def test_what_another_session_says_again_in_other_letters_is_not_told_twice(store):
    assert ask(store, ASKS)
    say(Memory(store), STRIPE.upper() + ".")

    assert not ask(store, ASKS)
    assert STRIPE in ask(store, ASKS, session="other")


def test_no_statement_is_told_in_two_wordings(store):
    again = {"type": "fact", "conversation_id": "second", "project": SHOP, "content": f"{STRIPE.upper()}."}
    Memory(store).log.append(again)
    Memory(store).log.append(
        {"type": "stage_summary", "conversation_id": "third", "project": SHOP, "scope": "session", "topic": "Webhook",
         "summary": "Looked why Stripe sends a webhook twice", "decisions": [f"{STRIPE}！"]}
    )  # fmt: skip

    told = ask(store, ASKS)
    assert told.casefold().count("handlers check") == 1, told


OPPOSED = pytest.mark.parametrize(
    ("older", "newer", "prompt"),
    [
        (
            "Enemy stats live in a spreadsheet exported to CSV",
            "Enemy stats moved to Godot resources, the CSV export is gone",
            "where do the enemy stats live?",  # as the older words it
        ),
        (
            "Котировки хранятся в ClickHouse с партициями по дням",
            "Котировки больше не хранятся в ClickHouse, они лежат в Parquet по дням",
            "где хранятся котировки?",
        ),
        (  # of which the older tells much besides
            "订单检索用 Elasticsearch，三个分片，不做副本：数据每晚可以从主库重建出来",
            "订单检索换成 Meilisearch，不再用 Elasticsearch：内存占用太高",
            "订单检索的分片有几个？",
        ),
    ],
)


@OPPOSED
def test_what_a_newer_decision_changed_is_told_behind_it_never_alone(store, older, newer, prompt):
    say(Memory(store), older)
    say(Memory(store), newer)

    told = ask(store, prompt)

    assert 0 < told.find(newer) < told.find(older), told


@OPPOSED
def test_what_a_newer_decision_changed_that_a_session_knows_is_not_told_to_it_alone(store, older, newer, prompt):
    say(Memory(store), older)
    known = say(Memory(store), newer)
    told = {"digest": "d", "chars": 80, "sources": [known.id], "trigger": "start"}
    Memory(store).log.append({"type": "context_injected", "conversation_id": "s", "project": SHOP, **told})

    assert "" == ask(store, prompt)
    assert newer in ask(store, prompt, session="other")


@pytest.mark.parametrize(
    ("older", "newer", "prompt"),
    [
        (
            "Uploads are scanned by clamav in the worker",
            "clamav is gone from the worker, uploads go to Defender",
            "how are uploads scanned?",
        ),
        (
            "The importer reads the price list from the FTP server of the supplier",
            "The FTP server is gone, the supplier has an API",
            "which price list does the importer read?",
        ),
    ],
)
def test_what_a_newer_decision_changed_in_words_that_nobody_asked_for_is_not_told_alone(store, older, newer, prompt):
    say(Memory(store), older)
    known = say(Memory(store), newer)

    told = ask(store, prompt)
    [receipt] = receipts(store)

    assert 0 < told.find(newer) < told.find(older), told
    assert known.id in receipt.sources
    Memory(store).log.append(Fact(conversation_id="knows", project=SHOP, content=newer))
    assert "" == ask(store, prompt, session="knows")


BACKUP, MOVED = "Backups run at 03:00 by cron", "Dumps are made at 04:30, as the reports need the night"


def backup_session(store, **moved):
    """A session that set up backups, and what another said later under the same key."""
    log = Memory(store).log
    about = {"conversation_id": "made", "project": SHOP}
    log.append({"type": "fact", "content": BACKUP, "key": "backup time", **about})
    log.append({"type": "fact", "content": "The shop is closed on Sundays", "key": "closed", **about})
    log.append(
        {"type": "conversation_text", "prompts": ["write backup.sh for dumps of the shop"], "closing": BACKUP, **about}
    )
    kept = log.append(Fact(conversation_id="later", content=MOVED, **{"project": SHOP, "key": "backup time", **moved}))
    log.append(Fact(conversation_id="later", project=SHOP, content="The shop is closed on Mondays", key="closed"))
    return kept


def test_before_a_session_stands_the_fact_that_replaced_one_of_it(store):
    backup_session(store)

    told = ask(store, "does backup.sh write the dumps?")

    assert 0 < told.find(MOVED) < told.find(BACKUP), told
    assert "Mondays" not in told


def test_a_session_is_not_told_alone_to_who_knows_the_fact_that_replaced_one_of_it(store):
    known = backup_session(store)
    told = {"digest": "d", "chars": 80, "sources": [known.id], "trigger": "start"}
    Memory(store).log.append({"type": "context_injected", "conversation_id": "s", "project": SHOP, **told})

    assert "" == ask(store, "does backup.sh write the dumps?")


def test_a_session_is_told_behind_what_opposes_a_fact_of_it_or_not_to_who_knows_that(store):
    log = Memory(store).log
    said = "The admin pages are built with npm: run npm ci before the deploy of the admin pages"
    now = "The admin pages are built with pnpm instead of npm: run pnpm install before the deploy"
    about = {"conversation_id": "made", "project": SHOP}
    closing = "The grid of the admin pages renders. npm ci runs before the deploy."
    log.append({"type": "fact", "content": said, **about})
    log.append(
        {"type": "conversation_text", "prompts": ["draw the grid of the admin pages"], "closing": closing, **about}
    )
    known = log.append(Fact(conversation_id="later", project=SHOP, content=now))
    asks = "how do the admin pages get into the deploy?"

    assert 0 < ask(store, asks).find(now) < ask(store, asks, session="another").find("The grid")

    told = {"digest": "d", "chars": 80, "sources": [known.id], "trigger": "start"}
    log.append({"type": "context_injected", "conversation_id": "knows", "project": SHOP, **told})

    assert "" == ask(store, asks, session="knows")


def test_what_opposes_another_fact_of_a_session_is_not_told_with_it(store):
    log = Memory(store).log
    about = {"conversation_id": "made", "project": SHOP}
    log.append({"type": "fact", "content": "Print receipts by CUPS on the thermal printers of the till", **about})
    log.append(
        {
            "type": "conversation_text",
            "prompts": ["draw the sales grid with sprites"],
            "closing": "Sprites are drawn once.",
            **about,
        }
    )
    log.append(Fact(conversation_id="later", project=SHOP, content="Print receipts on the thermal printers by grid spooler instead of CUPS"))  # fmt: skip

    told = ask(store, "does the sales grid draw sprites?")

    assert "Sprites are drawn once" in told
    assert "spooler" not in told


def test_what_another_project_says_under_the_same_key_is_not_told_with_a_session(store):
    backup_session(store, project=BILLING)

    told = ask(store, "does backup.sh write the dumps?")

    assert BACKUP in told
    assert MOVED not in told


def test_what_sessions_say_in_summaries_and_texts_as_well_is_told_behind_what_changed_it(store):
    log = Memory(store).log
    for session, text in enumerate(("minSdk is 23", "minSdk is switched to 26 for the widget on the home screen")):
        about = {"conversation_id": f"c{session}", "project": SHOP}
        log.append({"type": "fact", "content": text, **about})
        log.append({"type": "stage_summary", "topic": f"Part {session}", "summary": f"Part {session}: {text}", **about})
        log.append({"type": "conversation_text", "prompts": [f"raise minSdk {session}"], "closing": text, **about})

    told = ask(store, "which minSdk do we have?")

    assert 0 < told.find("] minSdk is switched to 26") < told.find("] minSdk is 23"), told


def test_a_session_is_found_by_what_it_left_to_be_done_but_no_prompt_is_told_of_it(store):
    left = {"topic": "Alert noise", "summary": "Alerts are grouped by namespace", "todos": ["rotate the IAM keys"]}
    Memory(store).log.append({"type": "stage_summary", "conversation_id": "x", "project": SHOP, **left})

    assert ["Alert noise · [ ] rotate the IAM keys"] == [hit.text for hit in Memory(store).search("IAM", project=SHOP)]
    assert "" == ask(store, "rotate the IAM keys")
    assert "grouped by namespace" in ask(store, "why are alerts grouped by namespace?")


def test_a_newer_decision_about_another_thing_is_not_told_beside_it(store):
    say(Memory(store), "Staging databases are snapshotted nightly")
    say(Memory(store), "Invoices moved to another database, the nightly export is gone")

    assert "Invoices" not in ask(store, "how often are staging databases snapshotted?")


def test_a_newer_decision_for_a_thing_is_not_told_beside_what_has_long_been_said_of_that_thing(store):
    say(Memory(store), "PostgreSQL 的备份每晚 3 点跑，保留两周")
    say(Memory(store), "订单存储换成 PostgreSQL 15，不再用 MongoDB：要强一致")

    assert "MongoDB" not in ask(store, "备份每晚几点跑，保留多久？")


def test_the_number_that_is_asked_for_stands_first(store):
    say(Memory(store), "Port 8443 is what the till listens on")
    say(Memory(store), "Port 9443 is what the till listens on")

    found = [hit.text for hit in Memory(store).search("till port 8443", project=SHOP)]

    assert found[0] == "Port 8443 is what the till listens on"


@pytest.mark.parametrize(
    ("before", "since", "asks"),
    [
        ("Backups of the till are kept for 14 days on tape", "Tape backups of the till: 30 days", "how long are backups of the till kept on tape?"),
        ("themes/ is built with sass before a release", "themes/ is built with lightningcss --minify before a release", "how are themes built?"),
    ],
)  # fmt: skip
def test_of_what_answers_a_prompt_the_newest_stands_first(store, before, since, asks):
    for month, text in enumerate((before, since), 1):
        say(Memory(store), text, ts=f"2026-0{month}-20T20:00:00.000000Z")

    told = ask(store, asks)

    assert 0 < told.find(since) < told.find(before), told


def test_of_two_sessions_that_answer_a_prompt_the_newest_stands_first(store):
    log = Memory(store).log
    for month, closing in enumerate(("Sprites of the sales grid are drawn in slots of 448.", "Slots of 460 now."), 1):
        about = {"conversation_id": f"c{month}", "project": SHOP, "ts": f"2026-0{month}-20T20:00:00.000000Z"}
        log.append(
            {"type": "conversation_text", "prompts": ["draw sprites of the sales grid"], "closing": closing, **about}
        )

    told = ask(store, "how are sprites of the sales grid drawn, in which slots?")

    assert 0 < told.find("460") < told.find("448"), told


def test_the_item_that_a_prompt_numbers_is_told_of_many_that_are_alike(store):
    for item in range(1, 31):
        say(Memory(store), f"The harvest importer maps column {item} of the harvest file by rule {10 * item}")

    told = ask(store, "what does the harvest importer do with column 7?")

    assert "maps column 7 of" in told.splitlines()[1]


def test_what_the_conversation_said_itself_is_not_told(store):
    assert not ask(store, ASKS, session="before")


@pytest.mark.parametrize("prompt", ["Which Kafka do we run?", "welches Kafka läuft bei uns?", "what about our Kafka?"])
def test_who_asks_what_we_do_needs_fewer_words_than_who_wants_something_done(store, prompt):
    for said in (
        "Kafka 3.7 runs on the brokers of the depot",
        *(f"Topic {n} of Kafka is kept {n} days" for n in range(5)),
    ):
        say(Memory(store), said)

    assert "Kafka 3.7" in ask(store, prompt)
    for other in ("rename Kafka", "should we drop our Kafka?", "which Kafka is this?"):
        assert "" == ask(store, other, session="b")


@pytest.mark.parametrize("prompt", ["thanks", "go on", "run the tests", "继续", "谢谢", "", "Which cart?", "Square"])
def test_most_prompts_are_told_nothing(store, prompt):
    assert ask(store, prompt) == ""
    assert receipts(store) == []
    assert errors_of(store) == []


_SMALL_TALK = """
thanks | thank you, perfect | ok | yes | no | go on | continue | sounds good | looks good to me, go on | try again | undo that
run the tests | run the tests again | fix the tests | commit this | commit and push | what did you change? | show me the diff
谢谢 | 多谢 | 好的 | 好的，继续 | 继续 | 可以 | 对 | 不对，再看看 | 再试一次 | 运行测试 | 跑一下测试 | 提交代码 | 提交一下 | 撤销 | 看一下改了什么
"""


def test_small_talk_recalls_nothing_in_either_language_though_memory_speaks_of_its_words(store):
    memory = Memory(store)
    say(memory, "Run the tests with make test before you commit and push; thanks to Ada")
    say(memory, "提交代码前先运行测试，谢谢大家")
    prompts = [prompt.strip() for line in _SMALL_TALK.splitlines() for prompt in line.split("|") if prompt.strip()]

    assert len(prompts) > 30
    assert [prompt for prompt in prompts if memory.recall(prompt, project=SHOP)] == []


def test_nothing_of_another_project_is_told(store):
    assert ask(store, ASKS, project=BILLING) == ""


def test_what_was_withdrawn_or_rejected_a_moment_ago_is_not_told(store):
    memory = Memory(store)
    assert ask(store, ASKS, session="a")
    [fact] = memory.query(text="Stripe sends")
    retracted = memory.log.append(Retraction(conversation_id="human", target=fact.id))
    assert ask(store, ASKS, session="b") == ""

    memory.log.append(Retraction(conversation_id="human", target=retracted.id))
    memory.search("stripe", project=SHOP)
    assert ask(store, ASKS, session="c")
    memory.log.put([Rejected(conversation_id="human", statement=STRIPE)])
    assert ask(store, ASKS, session="d") == ""


@pytest.mark.parametrize("wording", ["iPhones open fooBars", "ｉＰｈｏｎｅｓ  open fooBars!"])
def test_a_statement_that_was_rejected_a_moment_ago_is_not_told_however_it_is_worded(store, wording):
    memory = Memory(store)
    say(memory, wording)
    say(memory, "Another iPhone, and another fooBar")
    prompt = "Which iPhones open fooBars?"
    assert "open fooBars" in ask(store, prompt, session="a")
    memory.log.put([Rejected(conversation_id="human", statement="iphones OPEN foobars.")])

    assert "open fooBars" not in ask(store, prompt, session="b")


def test_a_shared_session_hears_nothing_about_the_user(store):
    memory = Memory(store)
    say(memory, "Prefers tabs over spaces in Makefiles", memory_type="O")
    prompt = "Do Makefiles need tabs or spaces?"
    memory.log.append(SessionStart(conversation_id="many", project=SHOP, session_type="shared"))

    assert ask(store, prompt, session="alone")
    assert ask(store, prompt, session="many") == ""


def test_hooks_of_shared_sessions_tell_nothing_about_the_user_where_no_start_was_recorded(store):
    memory = Memory(store)
    say(memory, "Prefers tabs over spaces in Makefiles", memory_type="O")
    say(memory, "Prefers tea in src/kettle.py", memory_type="O")
    (store / "config.yaml").write_text("recall: {file: true}\n")
    opens = claude("PreToolUse", tool_name="Read", tool_input={"file_path": f"{SHOP}/src/kettle.py"}, tool_use_id="t")
    asks = claude("UserPromptSubmit", prompt="Do Makefiles need tabs or spaces?")
    starts = claude("SubagentStart", agent_id="a", agent_type="Explore")
    for payload in (asks, opens, starts):
        argv, about = ["--agent", "claude", "--store", str(store)], {**payload, "cwd": SHOP}
        many = respond(data({**about, "session_id": "many"}), [*argv, "--session-type", "shared"], {})

        assert b"Prefers" not in many
        assert b"Prefers" in respond(data({**about, "session_id": "alone"}), argv, {})


def test_it_can_be_turned_off_and_cut_to_fewer_lines(store):
    memory = Memory(store)
    say(memory, "Stripe sends every webhook again; handlers of twice the same check stripe_event_id")
    assert len(ask(store, ASKS, session="a").splitlines()) == 4
    (store / "config.yaml").write_text("recall: {lines: 1}\n")
    assert len(ask(store, ASKS, session="b").splitlines()) == 3
    (store / "config.yaml").write_text("recall: {prompt: false}\n")
    assert ask(store, ASKS, session="c") == ""


def session(memory, **fields):
    """A session as `import` brings it in: its text, and a summary drawn from it."""
    text: dict[str, object] = {"type": "conversation_text", "conversation_id": "past", "project": SHOP}
    text |= {
        "title": "Refund ledger",
        "prompts": ["Refunds of split payments appear twice", "Which zone do the kiosks sync in?"],
    }
    text |= {"closing": "The ledger was keyed by order, because `book_refund` ignored the part of a payment."}
    drawn: dict[str, object] = {"type": "stage_summary", "conversation_id": "past", "project": SHOP, "layer": 3}
    drawn |= {
        "scope": "session",
        "topic": "Refund ledger",
        "summary": "Changed ledger.py: refunds of split payments appear once",
    }
    memory.log.append(text | {"files": ["tests/test_ledger.py", "pkg/ledger.py"]})
    memory.log.append(drawn | fields)


def test_a_session_is_told_for_the_question_that_its_answer_is_to_and_never_without_one(store):
    log = Memory(store).log
    asked = ["Does the printer of the kiosk take duplex paper?", "Which zone do the kiosks sync in?"]
    common = {"type": "conversation_text", "project": SHOP}
    log.append({**common, "conversation_id": "a", "prompts": asked, "closing": f"{asked[1]} In that of Lisbon."})
    log.append({**common, "conversation_id": "b", "prompts": ["Why does the coffee grinder stall?"]})

    assert "Lisbon" in ask(store, "in which zone do the kiosks sync?", session="c")
    for prompt in ("does the kiosk printer take duplex paper?", "why does the coffee grinder stall again?"):
        assert "" == ask(store, prompt, session="d")


def answered(store, asks, closing, conversation="asked", **fields):
    """A session that was asked something and answered: it changed and saved nothing."""
    text = {"type": "conversation_text", "prompts": [asks], "closing": closing, **fields}
    Memory(store).log.append({"conversation_id": conversation, "project": SHOP, **text})


@pytest.mark.parametrize(
    "prompt", ["when is the lease of the depot in Graz due?", "the lease of Graz: when is it due?"]
)
def test_an_answer_of_the_past_does_not_hide_what_was_stated_since(store, prompt):
    say(Memory(store), "The lease of the depot in Graz ends on 20 November")
    answered(store, "the lease of Graz: when is it due?", "20 November")
    now = say(Memory(store), "The lease of the depot in Graz goes on until 4 December")

    told = ask(store, prompt)

    assert now.content in told
    assert "due? · 20 November" not in told


def test_an_answer_is_told_beside_what_was_stated_before_it_and_where_nothing_was(store):
    asks = "the lease of Graz: when is it due?"
    say(Memory(store), "The lease of the depot in Graz is due yearly")
    answered(store, asks, "At the end of November")
    answered(store, "why does the coffee grinder stall?", "Its hopper is empty", "other")

    assert 0 < ask(store, asks).find("end of November") < ask(store, asks, session="again").find("yearly")
    assert "hopper" in ask(store, "why does the coffee grinder stall?", session="b")


@pytest.mark.parametrize("prompt", ["Welches RTOS benutzen wir?", "Which RTOS do we use?"])
def test_a_fact_is_told_to_who_asks_by_its_key_also_beside_an_older_answer(store, prompt):
    memory = Memory(store)
    say(memory, "Zephyr 3.7 since today", key="rtos")
    answered(store, prompt, "Zephyr 3.6", ts="2026-02-20T09:00:00.000000Z")

    assert "Zephyr 3.7 since today" in ask(store, prompt)


@pytest.mark.parametrize("closing", ["OK.", "Done!", "Gern.", "好的。"])
def test_a_session_that_answered_nothing_is_not_told(store, closing):
    answered(store, "walk the heron along the quay", closing)
    answered(store, "draw the osprey above the quay", closing, "other", files=["osprey.py"])

    assert "" == ask(store, "walk the heron along the quay")
    assert "osprey.py" in ask(store, "draw the osprey above the quay", session="b")


@pytest.mark.parametrize("closing", ["No.", "17", "5 s", "nein"])
def test_an_answer_may_be_a_word_or_a_number(store, closing):
    answered(store, "does the heron walk along the quay?", closing)

    assert f"quay? · {closing}" in ask(store, "does the heron walk along the quay?")


def test_a_session_is_told_once_by_its_text_with_what_was_asked_the_file_and_why(store):
    session(Memory(store), decisions=["Split payments are keyed by payment and part"])

    [_, line, _] = ask(store, "are refunds of split payments booked twice again?").splitlines()
    assert line.partition("] ")[2] == (
        "Refunds of split payments appear twice · pkg/ledger.py · "
        "The ledger was keyed by order, because `book_refund` ignored the part of a payment. "
        "Split payments are keyed by payment and part"
    )


def test_the_line_of_a_session_shows_the_turn_that_asked_the_same(store):
    session(Memory(store))

    assert "] Which zone do the kiosks sync in? · pkg/ledger.py" in ask(store, "What zone must kiosks sync in?")


def test_a_summary_of_the_agent_is_told_as_it_wrote_it_with_the_file(store):
    session(Memory(store), layer=1, summary="Refunds of split payments are booked once, by payment and part")

    [_, line, _] = ask(store, "are refunds of split payments booked by payment and part?").splitlines()
    assert line.endswith("Refunds of split payments are booked once, by payment and part · pkg/ledger.py")


def test_a_fact_is_told_with_the_day_it_was_last_said_on_how_often_and_a_mark_where_it_is_in_doubt(store):
    memory = Memory(store)
    fact = {"type": "fact", "project": SHOP, "content": "Staging runs Postgres 16"}
    days = {"a": "2026-09-08", "b": "2026-11-18", "c": "2026-10-01"}
    first, *_ = [memory.log.append(fact | {"conversation_id": who, "ts": f"{days[who]}T10:00:00Z"}) for who in days]
    prompt = "Which Postgres runs on staging?"

    assert f"- [2026-11-18 ×3 {first.id[-8:]}] Staging runs Postgres 16" in ask(store, prompt, session="s1")
    say(memory, "Staging runs Postgres 15")
    lines = ask(store, prompt, session="s2").splitlines()[1:-1]
    assert ["?" in line.partition("]")[0] for line in lines] == [True, True]


def test_a_line_far_below_the_first_is_not_told(store):
    memory = Memory(store)
    say(memory, "The Stripe webhook handled twice was a retry")

    assert "retry" in ask(store, ASKS)
    assert STRIPE not in ask(store, ASKS, session="b")


@pytest.mark.parametrize(
    "prompt",
    [
        "Which rule of the harvest importer trims, checks and maps a column of the harvest file?",
        "how does the harvest importer map columns?",
    ],
)
def test_a_store_about_one_subject_is_not_silent_about_it(tmp_path, prompt):
    memory = Memory(tmp_path / "one")
    for number in range(30):
        say(memory, f"Rule {number} of the harvest importer trims, checks and maps column {number} of the harvest file")

    assert ask(tmp_path / "one", prompt)
    assert not ask(tmp_path / "one", "run the harvest importer", session="b")
    assert not ask(tmp_path / "one", "how does the login page map roles?", session="c")


def test_the_name_of_a_thing_in_code_is_enough_also_in_a_chinese_prompt(store):
    memory = Memory(store)
    say(memory, "KernelPCA flips the sign of its components between runs unless random_state is fixed")

    assert "flips the sign" in ask(store, "KernelPCA 每次运行结果符号不一样", session="a")
    assert "flips the sign" in ask(
        store, "我想请教一下大家关于降维之后画图的颜色、图例和坐标轴的设置，顺便看看 KernelPCA", session="b"
    )
    assert not ask(store, "每次运行结果符号不一样", session="c")


def test_terms_of_the_trade_are_known_in_the_other_language(store):
    memory = Memory(store)
    say(memory, "The staging database listens on port 6433")
    say(memory, "缓存键统一加前缀 v3，部署之后不用清理")

    assert "6433" in ask(store, "测试环境的数据库端口是多少", session="a")
    assert "前缀 v3" in ask(store, "Do I have to clear the cache after a deploy?", session="b")
    assert not ask(store, "把按钮的颜色改一下", session="c")
    assert "6433" in memory.search("数据库端口", project=SHOP)[0].text
    assert "前缀 v3" in memory.search("cache", project=SHOP)[0].text


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_stands_in_the_place_of_the_index_makes_room_for_it(store, make):
    path = Path(Store(str(store)).cached("search.sqlite"))
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    make(path)

    assert STRIPE in ask(store, ASKS)
    assert (True, []) == (path.is_file(), errors_of(store))


def test_whatever_goes_wrong_the_prompt_is_told_nothing_and_the_failure_is_noted(store, monkeypatch):
    monkeypatch.setattr(open_index, "delete", lambda _: None)
    path = Path(Store(str(store)).cached("search.sqlite"))
    path.mkdir(parents=True)

    assert ask(store, ASKS) == ""
    assert len(errors_of(store)) == 1


def test_from_python(store):
    memory = Memory(store)

    assert STRIPE in memory.recall(ASKS, project=SHOP)
    assert STRIPE in memory.recall(ASKS, project=SHOP, conversation="x")
    assert memory.recall(ASKS, project=SHOP, conversation="x") == ""
    assert memory.recall("thanks", project=SHOP) == ""
    assert len(receipts(store)) == 1


@pytest.mark.slow
def test_a_hook_as_hosts_run_it_tells_it_too(store):
    payload = {**claude("UserPromptSubmit", prompt=ASKS), "cwd": SHOP}
    ended = subprocess.run([*HOOK, "--store", store], input=data(payload), capture_output=True, check=True)

    assert STRIPE.encode() in ended.stdout


WORDS = ("stripe", "webhook", "retry", "ledger", "invoice", "database", "发票", "取消", "数据库")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [word_tables.FullText, word_tables.Scanned])
@example(facts=["stripe", "发票", "stripe 发票", "stripe stripe stripe stripe 发票"], prompt="stripe 发票")
@example(facts=["stripe", "stripe stripe", "发票"], prompt="stripe 发票")  # the rarest is a pair, and not enough
@example(facts=["stripe stripe 发票", "stripe 发票", "发票", "webhook 发票"], prompt="stripe 取消 invoice")
@example(facts=["database", "database cart", "retry"], prompt="数据库 取消")
@given(facts=st.lists(texts, min_size=1, max_size=10, unique=True), prompt=texts)
def test_the_same_is_told_where_only_what_shares_two_words_with_a_prompt_is_ranked(
    tmp_path_factory, kind, facts, prompt
):
    memory = Memory(tmp_path_factory.mktemp("store"))
    for content in facts:
        say(memory, content)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_index, "KINDS", dict.fromkeys(word_tables.KINDS, kind))
        patch.setattr("eventlog.app.search.recall._MAX_ROWS", 2)  # some words are not looked for
        patch.setattr(search_index, "_FEW_ROWS", 1 << 30)
        ranked = found(memory, prompt)
        patch.setattr(search_index, "_FEW_ROWS", -1)
        assert ranked == found(memory, prompt)


def found(memory, prompt):
    return [hit.found.shown for hit in recall(memory.log.store, RecallRequest(prompt, SHOP, "s"), len(WORDS) * 99)]
