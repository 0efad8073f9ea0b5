"""A session's steps become its summary and its text, in its own words, the outcome first."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.format.codec import from_fields
from eventlog.format.events import ConversationText
from eventlog.hosts.transcripts import read
from eventlog.hosts.transcripts.draw import MAX_CHARS, draw
from eventlog.hosts.transcripts.prose import Openings
from eventlog.hosts.transcripts.steps import Step, StepKind
from eventlog.log.event_log import EventLog
from eventlog.settings.schema import RecallSettings, Settings
from tests.hosts.test_transcripts import FILES
from tests.support.hook_calls import run
from tests.support.host_calls import events
from tests.support.payloads import claude
from tests.support.use_cases import finalize

RECEIPT = (
    "The receipt shows each price with tax and the rate beside it. Changed receipt.py. "
    "Committed “Show the tax on receipts”."
)
DRAWN = {
    "claude-code": (
        "Rounding of cart prices",
        "Prices are rounded half even now. Changed NOTES.md, wrong.py, price.py. Committed “Round prices half even”.",
        ["round once, per line item"],
        ["Update the tests", "Tell the accountants"],
    ),
    "codex": (
        "Let the search retry on timeouts",
        "Searches retry three times. Changed search.rs. Committed “Retry searches”.",
        [],
        ["Measure the delay"],
    ),
    "copilot": (
        "Please show the price with tax on the receipt",
        RECEIPT,
        ["round once, on the total"],
        ["show it on the invoice, too"],
    ),
    "cursor": (
        "Show the stock on the product page",
        "The stock is shown. Changed Product.tsx.",
        [],
        ["show it in the cart too"],
    ),
    "gemini": ("German invoice", "The invoice is in German. Changed invoice_de.html.", [], []),
    "qwen-code": (
        "Let the basket remember its items",
        "The basket remembers its items. Changed basket.js.",
        ["keep them for a week"],
        [],
    ),
    "droid": (
        "Let the till print receipts",
        "The till prints receipts. Changed till.py.",
        ["they are printed in German"],
        [],
    ),
}
WRITTEN: tuple[StepKind, ...] = ("created", "file")
CLOSING = """Perfect! Let me summarize what was done:

## Summary

I've successfully fixed the rounding of totals.

### Root Cause
The issue was in `src/cart.py` at line 12.
`total()` rounded each line item, which caused a difference of a cent.

### Solution
Changed line 12 from:
```python
return sum(round(item) for item in items)
```
to:
```python
return round(sum(items))
```

1. **Added a test**:
   - of three items
   - of none

### Output
The patch has been saved to `output/patch.json`.

I'll be happy to help with anything else!
"""


def prompts(*texts):
    return [Step("prompt", text) for text in texts]


def summary_of(steps, locale="en", project=""):
    drawn = draw(steps, project, locale)
    assert drawn is not None
    fields = drawn.summary_fields(drawn.topic(project, Openings()))
    return fields["topic"], fields["summary"], fields["decisions"], fields["todos"]


def text_of(steps):
    drawn = draw(steps, "/src/shop")
    return drawn and drawn.text_fields(drawn.topic("/src/shop", Openings()))


@pytest.mark.parametrize("agent", FILES)
def test_a_transcript_becomes_its_summary(agent):
    assert DRAWN[agent] == summary_of(read.read_transcript(agent, str(FILES[agent])))


def test_a_host_without_a_reader_is_told_by_its_hooks():
    told = [
        ("userPromptSubmitted", {"prompt": "Add a badge"}, None),
        ("postToolUse", {"toolName": "edit", "toolArgs": '{"path": "/x/README.md"}'}, None),
        ("afterFileEdit", {"file_path": "/x/badge.svg"}, None),
        ("afterShellExecution", {"command": "make"}, None),
        ("PostToolUse", {"tool_name": "Write", "tool_input": {"file_path": "/x/helper.md"}}, "a-1"),
        ("beforeSubmitPrompt", {"prompt": "for the helper"}, "a-1"),
        ("afterAgentResponse", {"text": "Added."}, None),
    ]
    logged = [
        from_fields(
            {"type": "host_event", "conversation_id": "c", "name": name, "payload": payload, "subagent": subagent}
        )
        for name, payload, subagent in told
    ]

    assert ("Add a badge", "Changed README.md, badge.svg.", [], []) == summary_of(read.logged_steps(logged))


# ------------------------------------------------------------------------------------------------ how much


@pytest.mark.parametrize("steps", [[], [Step("file", "/x")], [Step("reply", "Done.")]])
def test_where_nobody_asked_for_anything_nothing_is_drawn(steps):
    assert draw(steps) is None


@pytest.mark.parametrize(
    "steps",
    [prompts("Where are totals rounded?"), [*prompts("hi", "bye"), Step("reply", "bye"), Step("command", "ls")]],
)
def test_a_session_of_a_word_or_two_has_a_topic_and_no_summary(steps):
    topic, summary, decisions, todos = summary_of(steps)

    assert (topic, summary, decisions, todos) == (steps[0].text.rstrip("?") + "?" * ("?" in topic), topic, [], [])


@pytest.mark.parametrize(
    "step",
    [
        Step("file", "/x"),
        Step("command", "git commit -m 'x'"),
        Step("reply", "Decision: use JWT"),
        Step("reply", "决定：使用 JWT"),
        Step("todos", "something"),
    ],
)
def test_one_thing_done_is_worth_a_summary(step):
    drawn = draw([*prompts("hi"), step, Step("reply", "Totals are rounded once.")])

    assert drawn is not None
    assert drawn.summary


@given(
    st.lists(
        st.builds(
            Step,
            st.sampled_from(
                ["title", "prompt", "reply", "file", "created", "command", "passed", "failed", "undone", "todos"]
            ),
            st.text(max_size=3000),
        )
    )
)
def test_any_summary_is_short_and_on_one_line(steps):
    if draw(steps):
        topic, summary, decisions, todos = summary_of(steps)
        assert len(topic) <= 100
        assert 0 < len(summary.strip()) <= 300
        assert all(0 < len(text) <= 200 and "\n" not in text for text in (*decisions, *todos))


# ------------------------------------------------------------------------------------------------ what it says


def test_a_summary_begins_with_the_outcome_and_says_why():
    steps = [*prompts("Totals are a cent off"), Step("file", "/src/shop/cart.py"), Step("reply", CLOSING)]

    assert summary_of(steps)[1] == (
        "Fixed the rounding of totals. `total()` rounded each line item, which caused a difference of a cent. Changed "
        "line 12 from `return sum(round(item) for item in items)` to `return round(sum(items))`. "
        "Added a test: of three items; of none. The issue was in `src/cart.py` at line 12."
    )


@pytest.mark.parametrize(
    ("steps", "turns", "summary"),
    [
        ([Step("reply", "Totals are rounded once.")], 1, "Totals are rounded once."),
        ([Step("reply", "Totals are rounded once."), Step("command", "git commit -qm x && eventlog summary")], 1,
         "Totals are rounded once."),
        ([Step("reply", "Let me look."), Step("read", "b.py")], 0, "Broke off."),
        ([Step("reply", "Totals are rounded once."), *prompts("Now the invoice")], 1,
         "Totals are rounded once. Broke off at “Now the invoice”."),
        ([Step("reply", "Let me look."), *prompts("Stop"), Step("reply", "Stopped.")], 2, ""),
        ([Step("reply", "Totals are rounded once."), *prompts("Thanks!")], 1, "Totals are rounded once."),
        ([Step("read", "b.py")], 0, ""),  # of an agent whose words nobody has
    ],
)  # fmt: skip
def test_a_request_that_the_agents_words_do_not_end_broke_off(steps, turns, summary):
    drawn = draw([*prompts("Fix the cart"), Step("file", "cart.py"), *steps])

    assert drawn
    assert turns == drawn.turns
    assert summary == " ".join(drawn.summary.replace("Changed cart.py.", "").replace("Committed “x”.", "").split())


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Fixed the rounding in [cart.py](/src/shop/cart.py:12).", "Fixed the rounding in cart.py."),
        ("Fixed the rounding in [`cart.py`](</src/the shop/cart.py>).", "Fixed the rounding in `cart.py`."),
        ("Rounded as the [manual of the till](https://a.b/c_(d)?e=f) says.", "Rounded as the manual of the till says."),
        ("Fixed the rounding of `totals[0](cart)`.", "Fixed the rounding of `totals[0](cart)`."),
        ("- Fixed the rounding in the café", "Fixed the rounding in the café."),
        ("- 수정했습니다 cart rounding 반올림", "수정했습니다 cart rounding 반올림."),
        ("- 修复了购物车的取整", "修复了购物车的取整。"),
    ],
)
def test_a_summary_names_what_a_link_leads_to_and_ends_as_its_language_does(reply, said):
    steps = [*prompts("Look at the till"), Step("command", "make"), Step("reply", reply)]

    assert said == summary_of(steps)[1]


def test_a_file_whose_name_most_folders_have_is_named_with_its_folder():
    files = [Step("file", f"/src/shop/{path}") for path in ("cart/__init__.py", "cart/total.py", "web/index.ts")]

    assert summary_of([*prompts("Fix it"), *files])[1] == "Changed cart/__init__.py, total.py, web/index.ts."


@pytest.mark.parametrize(
    "noise", ["git clone https://x.org/y", "rm -rf testbed", "pip install -e .", "ls -la", "git status"]
)
def test_no_command_is_worth_a_word_but_a_test_that_failed(noise):
    steps = [*prompts("Fix it"), Step("command", noise), Step("file", "/f"), Step("command", "pytest -x tests 2>&1 | tail"),
             Step("failed", "pytest -x tests 2>&1 | tail"), Step("passed", "pytest -x tests")]  # fmt: skip

    assert "Changed f. `pytest -x tests` failed, then passed." == summary_of(steps)[1]
    assert "Changed f. `pytest -x tests` failed last." == summary_of([*steps, Step("failed", "pytest -x tests")])[1]
    assert "Changed f." == summary_of(steps[:4])[1]


def test_the_outcome_is_that_of_the_last_turn_at_work_and_not_an_answer():
    steps = [*prompts("The limiter lets bursts through"), Step("file", "limiter.py"),
             Step("reply", "The limiter is a token bucket now."), *prompts("Did we talk of Redis?"), Step("read", "a.py"),
             Step("reply", "We never talked about Redis. It would add a round trip.")]  # fmt: skip

    assert "The limiter is a token bucket now. Changed limiter.py." == summary_of(steps)[1]
    assert (
        summary_of(steps)[1]
        == summary_of([*steps, *prompts("Commit"), Step("file", "limiter.py"), Step("reply", "Ok.")])[1]
    )
    assert text_of(steps)["closing"].startswith("The limiter is a token bucket now. We never talked about Redis.")


@pytest.mark.parametrize("beside", ["CHANGELOG.md", "VERSION", "docs/limits.rst", "poetry.lock", "README"])
def test_the_outcome_is_that_of_the_turn_that_changed_code_and_not_of_a_note_on_it(beside):
    steps = [*prompts("Bursts get through"), Step("file", "limiter.py"), Step("reply", "The limiter counted per worker."),
             *prompts("note that"), Step("file", beside), Step("reply", f"{beside} has a new entry for 1.4.")]  # fmt: skip

    assert summary_of(steps)[1].startswith("The limiter counted per worker.")
    assert summary_of(steps[3:])[1].startswith(f"{beside} has a new entry for 1.4.")


def test_a_turn_that_the_user_broke_into_tells_no_outcome():
    steps = [*prompts("Round once"), Step("reply", "At first glance tax.py looks odd."), Step("file", "cart.py"),
             *prompts("Run the tests"), Step("reply", "Totals are rounded once.")]  # fmt: skip

    assert "Totals are rounded once. Changed cart.py." == summary_of(steps)[1]


def test_a_test_that_failed_before_the_change_did_not_fail_last():
    steps = [*prompts("Round once"), Step("command", "pytest"), Step("failed", "pytest"), Step("file", "cart.py"),
             Step("reply", "Totals are rounded once.")]  # fmt: skip

    assert "Totals are rounded once. Changed cart.py." == summary_of(steps)[1]


def test_what_came_of_a_command_follows_what_was_changed_before():
    steps = [*prompts("Round once"), Step("file", "cart.py"), Step("reply", "Totals are rounded once."), *prompts("push"),
             Step("command", "git push"), Step("reply", "The push was rejected: the remote has newer commits.")]  # fmt: skip
    rejected = "The push was rejected: the remote has newer commits."

    assert f"Totals are rounded once. {rejected} Changed cart.py." == summary_of(steps)[1]


@pytest.mark.parametrize("tried", [[Step("file", "lookup.py"), Step("command", "git checkout lookup.py")],
                                   [Step("command", "kubectl logs api")]])  # fmt: skip
def test_what_was_tried_in_vain_or_looked_up_is_told(tried):
    steps = [*prompts("Try to cache the lookup"), *tried, Step("reply", "Caching made it slower, because keys differ.")]

    assert "Caching made it slower, because keys differ." == summary_of(steps)[1]


def test_a_test_that_failed_last_is_told_where_the_agent_says_nothing_of_it():
    steps = [*prompts("Round once"), Step("file", "cart.py"), Step("command", "pytest"), Step("failed", "pytest")]
    again = [Step("command", "pytest")]  # whose end nobody saw

    assert (
        "Totals are rounded once. Changed cart.py. `pytest` failed last."
        == summary_of([*steps, Step("reply", "Totals are rounded once.")])[1]
    )
    assert (
        "Totals are rounded once. Changed cart.py."
        == summary_of([*steps, *again, Step("reply", "Totals are rounded once.")])[1]
    )


def test_a_file_of_a_worktree_is_named_as_in_the_project():
    steps = [
        *prompts("Round once"),
        Step("file", "/src/hotfix/shop/cart.py"),
        Step("reply", "See /src/hotfix/shop/cart.py, it rounds once."),
    ]
    drawn = draw(steps, "/src/shop", "en", "/src/hotfix")

    assert drawn
    assert ["shop/cart.py"] == drawn.files
    assert "/src" not in drawn.summary
    outside = draw([*prompts("Round once"), Step("file", "/etc/hosts")], "/src/shop", "en", "/")
    assert outside
    assert ["/etc/hosts"] == outside.files


@pytest.mark.parametrize("project", ["C:\\Users\\ada\\shop", "c:\\users\\ada\\shop", ""])
def test_a_file_of_windows_is_called_by_its_name(project):
    files = ["C:\\Users\\ada\\shop\\app\\main.py", "C:\\Users\\ada\\shop\\cart.py", "app\\tax.py"]
    drawing = draw([*prompts("Round once"), *(Step("file", file) for file in files)], project)
    assert drawing
    below = "" if project else "C:/Users/ada/shop/"
    assert [f"{below}app/main.py", f"{below}cart.py", "app/tax.py"] == drawing.files
    assert "Changed app/main.py, cart.py, tax.py." == drawing.summary


def test_a_closing_names_a_file_of_windows_as_in_the_project():
    reply = Step("reply", "Prices are rounded once in C:\\shop\\app\\cart.py for all carts.")
    told = summary_of([*prompts("Round once"), Step("file", "C:\\shop\\app\\cart.py"), reply], project="C:\\shop")
    assert "Prices are rounded once in app\\cart.py for all carts." == told[1]


def test_files_that_only_served_the_work_come_last_and_are_not_told():
    steps = [
        *prompts("Fix it"),
        *(Step(kind, "/src/shop/try_it.py") for kind in WRITTEN),
        Step("read", "/src/shop/old.py"),
        *(Step(kind, "/src/shop/old.py") for kind in WRITTEN),
        *(Step(kind, "/src/shop/gone.py") for kind in WRITTEN),
        *(Step(kind, "/src/shop/new.py") for kind in WRITTEN),
        Step("file", "/src/shop/cart.py"),
        Step("command", "rm gone.py; git add new.py"),
        Step("command", "git commit -m 'x'"),
        Step("reply", "Totals are rounded once. The script `try_it.py` shows it."),
    ]
    text = text_of(steps)

    assert text is not None
    assert ["old.py", "new.py", "cart.py", "try_it.py"] == text["files"]
    assert (
        "Totals are rounded once. Changed old.py, new.py, cart.py. Committed “x”."
        == summary_of(steps, project="/src/shop")[1]
    )


@pytest.mark.parametrize(
    ("commands", "left"),
    [
        (["git checkout src/main/cart.py"], "price.py"),
        (["git checkout -- cart.py price.py"], ""),
        (["git -C /shop restore src/main"], "price.py"),
        (["pytest; git checkout ."], ""),
        (["git reset --hard"], ""),
        (["git stash"], ""),
        (["git stash && pytest; git stash pop"], "cart.py, price.py"),
        (["git add -A && git commit -m 'x'", "git reset --hard"], "cart.py, price.py"),
        (["git checkout main"], "cart.py, price.py"),
        (["git restore --staged src/main"], "cart.py, price.py"),
        (["git stash list; git reset cart.py"], "cart.py, price.py"),
    ],
)
def test_a_file_that_git_made_what_it_was_has_not_changed(commands, left):
    files = [Step("file", f"/shop/{path}") for path in ("src/main/cart.py", "src/price.py")]
    steps = [*prompts("Fix it"), *files, *(Step("command", command) for command in commands), Step("todos", "Ask")]

    summary = summary_of(steps, project="/shop")[1]

    assert summary.startswith(f"Changed {left}." if left else "Fix it")


def test_a_file_that_was_only_made_is_told_where_there_is_no_other():
    steps = [*prompts("Write it"), Step("created", "/x/notes.md"), Step("file", "/x/notes.md")]

    assert "Changed notes.md." == summary_of(steps)[1]


@pytest.mark.parametrize(
    ("command", "titles"),
    [
        ("git commit -m 'a'", ["a"]),
        ('git commit -am "a b" && git push', ["a b"]),
        ('git -C /x commit --message "a"', ["a"]),
        ("git commit -m \"$(cat <<'EOF'\nTitle\n\nBody\nEOF\n)\"", ["Title"]),
        ("git commit --amend --no-edit", []),
        ("echo commit -m 'a'", []),
        ("cd /tmp && mkdir x && cd x && git init && git add . && git commit -m 'a'", []),
        ("git init && git commit -m 'a'", ["a"]),
    ],
)
def test_commits_are_told_by_their_titles(command, titles):
    summary = summary_of([*prompts("x"), Step("file", "/f"), Step("command", command)])[1]

    assert ("Committed " + ", ".join(f"“{title}”" for title in titles) in summary) == bool(titles)


@pytest.mark.parametrize(
    "last", ["Committed as 4f1c2d3.", "All tests pass!", "Done.", "Let me push it.", "I'll stop here."]
)
@pytest.mark.parametrize("asked_for", [True, False])
def test_words_that_say_nothing_are_not_the_last_word(last, asked_for):
    steps = [*prompts("Fix the rounding of carts"), Step("file", "/f"), Step("reply", "Totals are rounded once, half even."),
             *prompts(*["Commit it"] * asked_for), Step("reply", last)]  # fmt: skip

    assert "Totals are rounded once, half even. Changed f." == summary_of(steps)[1]


def test_a_summary_is_in_the_language_of_the_settings():
    steps = [*prompts("你好，修复购物车的取整"), Step("file", "/x/a.py"), Step("file", "/x/b.py"), Step("command", "make test"),
             Step("command", "git commit -m '取整一次'"), Step("reply", "太好了！购物车总额只取整一次。决定：使用整数。")]  # fmt: skip

    assert (
        "修复购物车的取整",
        "购物车总额只取整一次。修改了 a.py、b.py。提交了“取整一次”。",
        ["使用整数"],
        [],
    ) == summary_of(steps, "zh")


def test_what_is_not_named_is_counted_in_the_language_of_the_settings():
    steps = [*prompts("x"), *(Step("file", f"/f{number}") for number in range(10))]

    assert "修改了 f0、f1、f2 等，另有 7 项。" == summary_of(steps, "zh")[1]


# ------------------------------------------------------------------------------------------------ decisions, to-dos


def test_the_last_list_of_todos_counts():
    steps = [*prompts("x"), Step("todos", "a\nb"), Step("todos", "b"), Step("reply", "TODO: not from a list")]

    assert ["b"] == summary_of(steps)[3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "decided", "left"),
    [
        ("Done. Decision: use JWT.", ["use JWT"], []),
        ("决定：使用 JWT。\n待办：补充测试", ["使用 JWT"], ["补充测试"]),
        ("已完成。决定：使用 JWT", ["使用 JWT"], []),
        (
            "错误码已改。决策：错误码五位。决策：不用 Redis。待办：更新文档。",
            ["错误码五位", "不用 Redis"],
            ["更新文档"],
        ),
        ("Decision: codes have five digits. To do: update the docs.", ["codes have five digits"], ["update the docs"]),
        ("TODO write the tests", [], ["write the tests"]),
        ("TODO(ada): write the tests", [], ["write the tests"]),
        ("## Next steps\n\n1. Measure it\n2. Tell *Ada*\n\nThat is all", [], ["Measure it", "Tell *Ada"]),
        ("**Decisions:**\n- a\n- b\n\nText\n- c", ["a", "b"], []),
        ("```\nDecision: in code\nTODO in code\n```", [], []),
        ("I made the decision to wait. What is left to do?", [], []),
        ("- [ ] one\n- [x] two", [], ["one"]),
        ("Next steps:\n- ✅ send the code\n- measure it", [], ["measure it"]),
        ("Decisions:\n- ✅ prices are cents", ["✅ prices are cents"], []),
        ("We decided to keep prices as integers.", ["Decided to keep prices as integers"], []),
        ("Totals are off. I chose integers over floats.", ["I chose integers over floats"], []),
        ("Decision: none\nTODO: nothing left\n", [], []),
        ("**Next steps:** None – everything is done\n**Decisions:** TBD", [], []),
        ("下一步：无\n决定：待定", [], []),
        ("TODO: No retries on 404\nDecision: no Redis", ["no Redis"], ["No retries on 404"]),
        ("Remaining: nothing but the docs\nTODO: All prices in EUR", [], ["nothing but the docs", "All prices in EUR"]),
        ("Decision: do we keep the endpoint? I left it", [], []),
        ("It logs:\n- **Decision:** Whether totals are rounded and why", [], []),
        ("Next steps: Does the endpoint stay?", [], ["Does the endpoint stay?"]),
        ("The old notes say:\n> Decision: use Kafka\n> TODO: tests", [], []),
        ('"Decision: use Kafka" is what they wrote', [], []),
        ("No, decision: use JWT", ["use JWT"], []),
        (
            "Decision: prices are cents. Floats lose some. I have not changed any code yet; tomorrow I will.",
            ["prices are cents. Floats lose some"],
            [],
        ),
        ("决定：价格用整数分。我还没有改代码。", ["价格用整数分"], []),
        ("Next steps (optional):\n1. Measure it", [], ["Measure it"]),
        (
            "Entscheidung: Preise sind ganze Zahlen.\nOffen: Preise messen",
            ["Preise sind ganze Zahlen"],
            ["Preise messen"],
        ),
        ("**Nächste Schritte:**\n- Ada fragen\n", [], ["Ada fragen"]),
        ("**What I need from you**\n- run the migration", [], ["run the migration"]),
        ("残タスク：\n- 計測する", [], ["計測する"]),
        ("Décision : les prix sont entiers.\nReste à faire :\n- mesurer", ["les prix sont entiers"], ["mesurer"]),
        ("**Decisiones:**\n- precios enteros\n\nPendiente: medir", ["precios enteros"], ["medir"]),
        ("Decisão: preços inteiros\n## Próximos passos\n- medir", ["preços inteiros"], ["medir"]),
        ("Decisione: prezzi interi\nDa fare: misurare", ["prezzi interi"], ["misurare"]),
        ("Принято решение: цены целые\nОсталось:\n- измерить", ["цены целые"], ["измерить"]),
        ("Проблема: цены дробные.\nРешение: округление вверх", [], []),  # a solution
        ("결정: 가격은 정수\n남은 작업:\n- 측정", ["가격은 정수"], ["측정"]),
        ("決定事項:\n- 価格は整数\n\n次のステップ：計測", ["価格は整数"], ["計測"]),
    ],
)
def test_decisions_and_open_ends_are_taken_where_they_are_said(reply, decided, left):
    _, _, decisions, todos = summary_of([*prompts("Do the thing, please"), Step("file", "/f"), Step("reply", reply)])

    assert (decided, left) == (decisions, todos)


@pytest.mark.parametrize(
    ("prompt", "decided"),
    [
        ("From now on, all dates are UTC. Fix the report.", ["From now on, all dates are UTC"]),
        ("Please go on. We decided to drop Redis.", ["We decided to drop Redis"]),
        ("Wir verwenden ab sofort openpyxl statt xlsxwriter. Bitte umstellen.",
         ["Wir verwenden ab sofort openpyxl statt xlsxwriter"]),
        ("以后不再用 localStorage，缓存改用 IndexedDB。把存储改掉", ["以后不再用 localStorage，缓存改用 IndexedDB"]),
        ("消費税の端数は切り捨てに決めました。四捨五入は使わないでください。", ["消費税の端数は切り捨てに決めました"]),
        ("from now on use ruff. never push to main. fix the build, it fails", ["from now on use ruff", "never push to main"]),
        ("always seed the till before the tests, never skip them", ["always seed the till before the tests, never skip them"]),
        ("always returns 500. never mind the log, e.g. the last line", []),
        ("Should we use UTC from now on?", []),
        ("> From now on, all dates are UTC\nWho wrote that?", []),
        ("升级以后都报错，帮我看看", []),
        ("What if we use UTC from now on. Ada said that from now on tabs are used. I'll test it from now on.", []),
        ("今后都用 UTC 吗", []),
        ("Never seen this error before. Don't touch the tables.", []),
        ("never run migrations, save in your memory please", ["never run migrations"]),
        ("ok we go with SQLite. remember that for later", ["ok we go with SQLite"]),
        ("Prices are in cents. Please remember that!", ["Prices are in cents"]),
        ("Remember that the till has no clock.", ["Remember that the till has no clock"]),
        ("Do you remember that bug? I remember this screen.", []),
        ("And remember it must look good on paper. Please remember it is late", []),
        ("Totals are rounded half even. Remember it", ["Totals are rounded half even"]),
        ("save in memory this is the folder of new modules", ["save in memory this is the folder of new modules"]),
        ("Yes, save this in your memory please", []),
        ("Save the results in memory, not on disk.", []),
    ],
)  # fmt: skip
def test_a_user_decides_without_a_label_too(prompt, decided):
    drawn = draw([*prompts(prompt), Step("file", "/f"), Step("reply", "Done.")])

    assert drawn
    assert (decided, decided) == (drawn.decisions, drawn.of_user)


def test_a_patch_in_a_prompt_says_nothing_for_its_user():
    patch = "@@ -1,2 +1,2 @@ def prune():\n # kept\n-# not reachable going forward\n+# from now on the cap holds\n"
    asked = f"Review this change.\n\n=== prune.py ===\n{patch}\nFrom now on, prune at night."
    drawn = draw([*prompts(asked), Step("file", "/f"), Step("reply", "Done.")])

    assert drawn
    assert drawn.of_user == ["From now on, prune at night"]


@pytest.mark.parametrize(
    ("decisions", "left"),
    [
        (["prices are Decimal", "prices are cents, not Decimal"], ["prices are cents, not Decimal"]),
        (["use SQLite", "use Redis instead of SQLite for the cache"], ["use Redis instead of SQLite for the cache"]),
        (["Preise als Decimal", "Preise in Cent statt Decimal"], ["Preise in Cent statt Decimal"]),
        (["缓存用 SQLite", "缓存用 Redis 而不是 SQLite"], ["缓存用 Redis 而不是 SQLite"]),
        (["use SQLite for the search", "use Redis instead of SQLite for the cache"], None),
        (["prices are cents, not Decimal", "totals are cents, not Decimal"], None),
        (["round once", "do not round the tax"], None),
    ],
)
def test_a_decision_that_a_later_reverses_is_none(decisions, left):
    steps = [Step("reply", f"Decision: {decision}") for decision in decisions]
    asked = prompts("Fix the cart", *(f"Decision: {decision}" for decision in decisions))
    told, of_user = draw([*prompts("Fix the cart"), *steps]), draw(asked)

    assert told
    assert of_user
    assert (left or decisions) == told.decisions == of_user.decisions == of_user.of_user


def test_a_users_decision_is_told_from_the_agents():
    drawn = draw([*prompts("Decision: prices are integers."), Step("reply", "Decision: round once.")])

    assert drawn is not None
    assert ["prices are integers", "round once"] == drawn.decisions
    assert ["prices are integers"] == drawn.of_user


# ------------------------------------------------------------------------------------------------ the text

TOLD = [
    Step("title", "Rounding"),
    Step("prompt", "Round  prices\nhalf even"),
    Step("file", "/src/shop/cart.py"),
    Step("reply", "I will."),
    Step("prompt", "and the tests"),
    Step("file", "/etc/hosts"),
    Step("reply", "Done: prices are rounded half even."),
]


def test_the_text_of_a_conversation():
    assert text_of(TOLD) == {
        "title": "Rounding",
        "prompts": ["Round prices half even", "and the tests"],
        "closing": "Prices are rounded half even.",
        "files": ["cart.py", "/etc/hosts"],
    }


@pytest.mark.parametrize(
    "handed_over", [[], [Step("prompt", "This session is being continued from a previous conversation")]]
)
def test_a_session_that_goes_on_with_what_was_asked_before_is_drawn(handed_over):
    steps = [*read.without_own_texts(handed_over), *TOLD[2:3], TOLD[-1]]

    assert summary_of(steps) == (
        "Prices are rounded half even", "Prices are rounded half even. Changed cart.py.", [], []
    )  # fmt: skip
    assert text_of(steps) == {
        "title": "Prices are rounded half even",
        "prompts": [],
        "closing": "Prices are rounded half even.",
        "files": ["cart.py"],
    }


def test_the_text_of_a_conversation_closes_with_the_outcome_and_without_praise():
    text = text_of([*prompts("Totals are a cent off"), Step("reply", CLOSING)])

    assert text is not None
    assert text["closing"].startswith("Fixed the rounding of totals. `total()` rounded each line item")
    assert text["closing"].endswith("The issue was in `src/cart.py` at line 12.")


def test_of_many_prompts_the_first_and_the_last_are_kept():
    text = text_of([Step("prompt", f"{number} " + "x" * 500) for number in range(50)])

    assert text is not None
    assert [int(prompt.split()[0]) for prompt in text["prompts"]] == [0, 1, 2, 3, 47, 48, 49]


@given(
    st.lists(
        st.tuples(st.sampled_from(["title", "prompt", "reply", "file"]), st.text(max_size=30), st.integers(1, 200))
    )
)
def test_whatever_a_transcript_holds_the_text_is_bounded(steps):
    text = text_of([Step(kind, words * times) for kind, words, times in steps])

    if text:
        assert len(text["title"] + text["closing"] + "".join((*text["prompts"], *text["files"]))) <= MAX_CHARS


@pytest.fixture
def transcript(tmp_path):
    """A transcript with a secret, and with what a hook of ours had said."""
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    lines = [
        {"type": "user", "message": {"role": "user", "content": f"Why does the cart use {key}?"}, "sessionId": "c"},
        {"type": "user", "message": {"role": "user", "content": "[eventlog] Save it now."}, "sessionId": "c"},
        {"type": "user", "message": {"role": "user", "content": "and rotate it please"}, "sessionId": "c"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "It is rotated."}]}, "sessionId": "c"},
    ]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def end(store, transcript):
    run(store, {**claude("SessionEnd", reason="other"), "session_id": "c", "transcript_path": str(transcript)})
    return EventLog(store)


@pytest.mark.slow
def test_it_is_drawn_at_the_end_of_a_session_scrubbed_without_our_words_and_once(tmp_path, transcript, monkeypatch):
    monkeypatch.setattr("eventlog.hooks.background.start_finalize", lambda _store: None)
    store = tmp_path / "store"
    for _ in range(2):
        log = end(store, transcript)
        finalize(log)

    [text] = events(store, "conversation_text")
    assert isinstance(text, ConversationText)
    assert text.prompts[-1] == "and rotate it please"
    assert len(text.prompts) == 2
    assert "[secret:" in text.prompts[0]
    assert text.closing == "and rotate it please: It is rotated."


@pytest.mark.slow
def test_it_is_not_drawn_where_nobody_wants_it(tmp_path, transcript):
    log = end(tmp_path / "store", transcript)
    finalize(log, Settings(recall=RecallSettings(transcripts=False)))

    assert events(tmp_path / "store", "conversation_text") == []


@pytest.mark.parametrize("apostrophe", ["'", "’"])
@pytest.mark.parametrize(
    "intends", ["I{}ll make the exporter faster.", "I{}m patching the exporter now.", "Let{}s see."]
)
def test_what_an_agent_only_intends_is_no_outcome_however_its_apostrophes_look(apostrophe, intends):
    asked, changed = Step("prompt", "Make the exporter faster"), Step("file", "/src/shop/export.py")
    steps = [asked, changed, Step("reply", intends.format(apostrophe))]

    assert "Changed export.py." == summary_of(steps, project="/src/shop")[1]


def test_a_decision_of_a_person_is_heard_however_its_apostrophe_looks():
    asked = Step("prompt", "We’ve decided to round the totals half even.")

    assert ["We've decided to round the totals half even"] == summary_of([asked, Step("reply", "Noted.")])[2]


@pytest.mark.parametrize(
    ("reply", "summary"),
    [
        (
            "Je vais relire le pilote. Le tampon était trop court. Souhaitez-vous un test ?",
            "Le tampon était trop court.",
        ),
        ("¡Listo! El búfer era corto, está corregido", "El búfer era corto, está corregido."),
        ("Vou rever o buffer. O buffer era curto demais. Se quiser, posso medir.", "O buffer era curto demais."),
        ("Fatto: il buffer era corto. Se vuoi, posso anche misurare.", "Il buffer era corto."),
        ("Теперь давайте проверим сборку. Буфер был коротким", "Буфер был коротким."),
        ("먼저 버퍼를 확인하겠습니다. 버퍼가 짧아서 늘렸습니다", "버퍼가 짧아서 늘렸습니다."),
        ("バッファを確認します。バッファが短かったので広げました", "バッファが短かったので広げました。"),
        ("缓冲区太短，已经加大（两倍）", "缓冲区太短，已经加大（两倍）。"),
        ("The buffer of the driver was short;", "The buffer of the driver was short."),
        ("Der Puffer war zu kurz.\n\nEntscheidungen:\n- Puffer sind lang", "Der Puffer war zu kurz."),
    ],
)
def test_the_outcome_is_what_was_done_in_any_of_ten_languages_whole(reply, summary):
    told = summary_of([*prompts("Do the thing, please"), Step("file", "driver.c"), Step("reply", reply)])[1]

    assert told.removesuffix(" Changed driver.c.").removesuffix("Changed driver.c.") == summary


@pytest.mark.parametrize(
    ("prompt", "is_decision"),
    [
        ("Ab jetzt sind Preise ganze Zahlen.", True),
        ("Künftig sind Preise ganze Zahlen.", True),
        ("以后价格都用整数。", True),
        ("团队定了，以后价格用整数。", True),
        ("以后可能会用整数。", False),
        ("以后再用整数吧。", False),
        ("これからは価格を整数で保存して。", True),
        ("Désormais les prix sont entiers.", True),
        ("A partir de ahora los precios se guardan en céntimos.", True),
        ("A partir de agora os preços são inteiros.", True),
        ("D'ora in poi i prezzi si salvano interi.", True),
        ("Отныне цены целые.", True),
        ("앞으로는 가격을 정수로 저장해.", True),
        ("No sé por qué decidimos guardar decimales.", False),
        ("С этого момента цены целые, если можно?", False),
        ("Désormais, si le prix est nul, que faire ?", False),
    ],
)
def test_what_a_user_decides_for_later_is_heard_in_other_languages(prompt, is_decision):
    steps = [*prompts(prompt), Step("file", "/f"), Step("reply", "The prices are integers now.")]

    assert summary_of(steps)[2] == ([prompt.rstrip(".。")] if is_decision else [])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            ("Which port has the shop?", "And why did the import fail last week?", "thanks"),
            "And why did the import fail last week: The certificate of the mirror had expired.",
        ),
        (
            ("现在网关用哪个端口？", "解释上周导入失败的原因"),
            "解释上周导入失败的原因：The certificate of the mirror had expired.",
        ),
        (("Why did the import fail last week?", "thanks"), "The certificate of the mirror had expired."),
        (
            ("Why did the import fail last week?", "And which port has the shop?"),
            "Why did the import fail last week: The certificate of the mirror had expired.",
        ),
    ],
)
def test_an_answer_stands_behind_its_own_question_where_a_session_asked_several(asked, told):
    replies = ["8443."] * (len(asked) - 1) + ["You're welcome."]
    replies[1 if "fail" in asked[1] or "失败" in asked[1] else 0] = "The certificate of the mirror had expired."
    steps = [
        step for pair in zip(asked, replies, strict=True) for step in (Step("prompt", pair[0]), Step("reply", pair[1]))
    ]
    drawn = draw(steps)

    assert drawn
    assert drawn.closing == told


def test_what_came_of_a_later_request_stands_behind_that_in_the_summary():
    steps = [
        *prompts("聊天服务加敏感词过滤"), Step("file", "/p/filter.go"), Step("reply", "敏感词过滤完成：词库 12 万条。"),
        *prompts("顺便看看红点为什么不消失"), Step("file", "/p/reddot.go"),
        Step("reply", "红点不消失是因为已读时间用了服务器的时区。统一改成 UTC 后，红点正常消失。"),
    ]  # fmt: skip
    drawn = draw(steps, "/p", "zh")

    assert drawn
    assert drawn.summary.startswith("顺便看看红点为什么不消失：统一改成 UTC 后，红点正常消失。")
    assert drawn.closing.startswith("顺便看看红点为什么不消失：统一改成 UTC 后，红点正常消失。")
    assert drawn.closing.endswith("聊天服务加敏感词过滤：敏感词过滤完成：词库 12 万条。")


def test_an_answer_of_a_word_stands_behind_its_own_question_too():
    steps = [
        *prompts("第 4 章 Boss 的血量是多少？"),
        Step("reply", "180000。"),
        *prompts("首包上限多少 MB？"),
        Step("reply", "200MB。"),
    ]
    drawn = draw(steps)

    assert drawn
    assert drawn.closing == "第 4 章 Boss 的血量是多少：180000。"


def test_the_summary_of_a_session_that_only_asked_does_not_repeat_its_topic():
    asked = "Why did the import fail last week?"
    steps = [
        *prompts(asked),
        Step("reply", "The certificate of the mirror had expired."),
        *prompts("And which port?", "ok"),
    ]

    assert (asked, "The certificate of the mirror had expired.") == summary_of([*steps, Step("reply", "8443.")])[:2]


@pytest.mark.parametrize("later", ["继续", "把测试跑一遍", "Now commit it"])
def test_what_came_of_the_first_request_has_no_lead(later):
    first = [*prompts("红点为什么不消失"), Step("file", "/p/reddot.go"), Step("reply", "我先看看红点。")]
    steps = [*first, *prompts(later), Step("command", "go test ./..."), Step("reply", "红点的时区统一改成 UTC。")]
    drawn = draw(steps, "/p", "zh")

    assert drawn
    assert drawn.summary.startswith("红点的时区统一改成 UTC。")


def test_a_commit_that_the_closing_names_is_told_once():
    closing = "Settlement runs in a queue now. Committed as `Settle guild wars in a queue`."
    commit = Step("command", "git commit -qm 'Settle guild wars in a queue'")

    assert closing == summary_of([*prompts("Settle guild wars"), commit, Step("reply", closing)])[1]


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        ("战斗图标合进 `Battle.spriteatlas`", "`。"),
        ("渲染改用 Unity Shader", "Shader。"),
        ('Renamed the menu "设置" to Settings', "Settings."),
        ("Renamed 设置 to Settings", "Settings."),
    ],
)
def test_a_sentence_ends_with_the_full_stop_of_its_language(said, ends):
    steps = [*prompts("Do what the issue says"), Step("file", "/p/a.cs"), Step("reply", said)]

    assert f"{said}{ends[-1]}" in summary_of(steps)[1]


@pytest.mark.parametrize(
    "asked",
    [
        "Der Backtest hat am 29. März und am 26. Oktober Lücken",
        "Runde alle Beträge, z. B. Rabatte, ab ca. Mitte des Monats",
    ],
)
def test_a_date_or_an_abbreviation_in_german_ends_no_title(asked):
    assert summary_of([*prompts(asked), Step("file", "/f"), Step("reply", "Die Preise sind ganze Zahlen.")])[0] == asked


def decided(question, choice):
    """The decisions of a session in which the user chose so, and those of them that are the user's."""
    asked = Step("chosen", f"{question}\n{choice}")
    drawn = draw([*prompts("Build the checkout"), asked, Step("reply", "The checkout works.")])
    assert drawn is not None
    return drawn.decisions, drawn.of_user


def test_what_a_user_chose_of_the_answers_to_a_question_is_their_decision():
    said = ["Where should the warning appear? In the prompt"]

    assert (said, said) == decided("Two ways are possible. Where should the warning appear?", "In the prompt")


@pytest.mark.parametrize(
    ("question", "choice"),
    [
        ("Welche Datenbank soll der Warenkorb nutzen?", "PostgreSQL"),
        ("Soll der Warenkorb Gäste kennen?", "Nein"),
        ("缓存保存多长时间？", "24 小时"),
        ("キャッシュの形式はどうしますか？", "JSON ファイル"),
        ("ダウンロードは並列実行しますか？", "並列"),
    ],
)
def test_what_a_user_chose_is_their_decision_in_their_language(question, choice):
    said = [f"{question} {choice}"]

    assert (said, said) == decided(question, choice)


def test_a_question_that_says_nothing_by_itself_is_told_with_what_stands_before_it():
    said = ["The cache may be LRU or LFU. Which one? LRU"]

    assert said == decided("The cache may be LRU or LFU. Which one?", "LRU")[0]


@pytest.mark.parametrize("choice", ["Both", "Beides", "两者都要", "両方"])
def test_a_choice_of_both_answers_is_no_decision_as_nobody_knows_which_they_were(choice):
    assert ([], []) == decided("Where should the warning appear?", choice)


@pytest.mark.parametrize(
    "question",
    [
        "Ready to force-push the branch?",
        "What next?",
        "Do you have the error message?",
        "Should I start the server?",
        "Which PR would you like me to review?",
        "Soll ich die Änderungen committen?",
        "Der Plan steht. Ist das so in Ordnung?",
        "需要我继续吗？",
        "这个方案可以吗？",
        "仕様の内容で問題ありませんか？修正があれば教えてください。",
        "main ブランチにいます。このまま進めてよいですか？",
        "コミットがフックで止まっています。どうしますか？",
    ],
)
def test_what_a_user_chose_for_the_work_at_hand_is_no_decision(question):
    assert ([], []) == decided(question, "Yes")


def test_a_choice_whose_question_may_be_about_the_work_is_the_sessions_alone():
    assert (["Wie weit soll es gehen? Alles"], []) == decided("Wie weit soll es gehen?", "Alles")


def test_a_choice_that_takes_more_than_a_line_is_no_decision():
    assert ([], []) == decided(f"Where does {'the warning ' * 12}appear?", "In the prompt " * 5)


def test_a_question_that_was_answered_is_no_to_do_and_its_session_is_told():
    asked = "Plan of the till:\n\n### Open questions\n- Which rounding per currency?\n- Ask ops about the printer"
    steps = [
        *prompts("Plan the till"),
        Step("reply", asked),
        *prompts("half even"),
        Step("reply", "The till rounds half even."),
    ]
    drawn = draw(steps)
    last = draw(steps[:2])

    assert drawn
    assert last
    assert (["Ask ops about the printer"], "half even: The till rounds half even.") == (drawn.todos, drawn.summary)
    assert ["Which rounding per currency?", "Ask ops about the printer"] == last.todos


@pytest.mark.parametrize("path", ["till/clock.py", "src/block.ts", "Unlock.java"])
def test_a_file_whose_name_ends_like_a_lock_file_is_work(path):
    steps = [
        *prompts("Fix the flaky test"),
        Step("file", "/a.py"),
        Step("reply", "Added a retry to the test of midnight."),
    ]
    steps += [
        *prompts("no retries"),
        Step("file", f"/{path}"),
        Step("reply", "Removed the retry from the test of midnight."),
    ]
    drawn = draw(steps)

    assert drawn
    assert drawn.summary.startswith("Removed the retry")
