"""Of what an agent closed with, the sentences are told that say what came of it, the outcome first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.hosts.transcripts.closing import read_closing


def worth(message, asked="", scratch=()):
    return read_closing(message, asked, scratch)[0]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Done.",
        "Perfect! All tests pass.",
        "I've successfully fixed the bug.",
        "Here's a summary of what was done:",
        "Let me know if you need anything else!",
        "Committed as 4f1c2d3 and pushed.",
        "Now I'll run the tests of the cart to see whether they pass.",
        "The patch has been saved to `/home/ada/output/shop_preds.json`.",
        "Set up the testbed: cloned the shop and checked out the base commit.",
        "The fix is minimal and maintains backward compatibility.",
        "完成！所有测试已经通过。",
        "改动很小，接口不变。",
        "让我看看购物车的代码。",
        "API Error: 529 the server is overloaded",
        "No response requested.",
        "```py\nx = 1\n```",
        "| a | b |\n|---|---|",
        "I would round the sum of the cart. Then add a test of the tax.",
        "Ich würde den Warenkorb umbauen. Soll ich anfangen?",
        "## Plan\n- Replaced floats in the cart\n- Round the tax",
        "Here is my plan for the cart:\n1. Round the sum once\n2. Show the tax",
        "Вот мой план корзины:\n1. Округлить сумму\n2. Показать налог",
        "What rounding would you like for the cart next?",
        "You're very welcome! Good luck with the new cart.",
        "I'm so sorry about the broken cart! I apologize again for the confusion with the tax.",
        "You're all set to sell tickets. You're ready to go! I hope this helps with the cart.",
        "抱歉，之前的购物车代码弄错了。",
        "Peço desculpas pelo erro do carrinho! Se precisar de mais algum imposto, é só avisar.",
        "Если что-то ещё сломается в корзине — пишите!",
        "Falls noch etwas am Warenkorb fehlt, sag Bescheid.",
        "For the cart we have two options:\n1. Round the sum once\n2. Show the tax",
        "修正しました！他に気になる点があればお知らせください！",
        "추가로 궁금한 점이 있으면 알려 주세요!",
        "Then add it to the cron table of the shop.\n\nMake it executable with `chmod +x bin/rotate.sh`.",
        "Now run this to log into the shop, then I'll push the cart: `gh auth login`",
        "Try logging in again at http://localhost:3001/signin",
        "Commit succeeded — pre-commit hook ran all checks (1226 tests, lint, typecheck).",
        "I've created a new page of the cart at:\n\n**`docs/cart.md`**",
        "Now when you open the invoice, you'll see:\n```\nTotal 7\nTax 1\n```",
        "All good. The invoice will now show:\n```\nTotal 7\nTax 1\n```",
        "**Option 1: Round once** (simplest)\n- Fixed the tax of carts\n\n### Option B\n- Changed the sum of shops",
        "下一步：\n- 迁移购物车的旧数据",
        "Nächste Schritte:\n- Alte Preise des Warenkorbs migrieren",
        "Fertig! Hier ist eine Zusammenfassung der Änderungen:",
        "Erledigt. Alle 41 Tests laufen durch.",
        "Ich habe den Fehler gefunden und behoben.",
        "Ich schaue mir zuerst den Warenkorb an.",
        "Jetzt sehe ich das Problem!",
        "已经完成！主要改动如下：",
        "動作確認完了です。",
        "フックを再インストールします。",
        "Ich sehe das Problem!",
        "Je vois le problème !",
        "Теперь я вижу проблему!",
        "Я вижу проблему!",
        f"I will do this:\n- Round the sum of {'the cart and ' * 20}the tax\n- Show the tax",
    ],
)
def test_what_says_nothing_is_not_told(message):
    assert worth(message) == []


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        ("Excellent! I've successfully fixed the rounding of totals.", "Fixed the rounding of totals."),
        ("Great news! The totals are rounded once now.", "The totals are rounded once now."),
        ("太好了！我修复了购物车的取整问题，总额正确。", "我修复了购物车的取整问题，总额正确。"),
        (
            "## Problem\nTotals were off.\n\n## Solution\nRounded the sum of the cart once.",
            "Rounded the sum of the cart once.",
        ),
        (
            "**Problem**: totals were off by a cent.\n\n**Fix**: round the sum of the cart.",
            "Fix: Round the sum of the cart.",
        ),
        ("**Solution**: Strip slashes of the path first.", "Fix: Strip slashes of the path first."),
        ("Done! total() rounds the sum of the cart now.", "total() rounds the sum of the cart now."),
        ("Done! the sum of the cart is rounded now.", "The sum of the cart is rounded now."),
        (
            "完美！问题已经成功修复。总结如下：\n\n### 问题\n原因是每行都取整。\n\n### 修改内容\n1. total() 先求和，再取整",
            "total() 先求和，再取整",
        ),
        (
            "Fertig!\n\n**Ursache:** Jede Zeile wurde gerundet.\n\n**Änderungen:**\n- `cart.py`: rundet jetzt die Summe",
            "`cart.py`: rundet jetzt die Summe",
        ),
        (
            "Ich habe den Fehler behoben. Das Problem lag am Runden. Die Summe wird jetzt einmal gerundet.",
            "Die Summe wird jetzt einmal gerundet.",
        ),
        (
            "修正完了。変更の概要:\n\n- **cart**: 合計を一度だけ丸めるように変更\n- **テスト**: 端数のテストを追加",
            "cart: 合計を一度だけ丸めるように変更",
        ),
        ("npm 版のカートで合計を丸めるように変更しました。", "npm 版のカートで合計を丸めるように変更しました。"),
        ("カートのレビュー: 指摘は 0 件。カートの一覧を作成しました。", "カートの一覧を作成しました。"),
        ("The port is 8443, as `deploy.yaml` says.", "The port is 8443, as `deploy.yaml` says."),
        (
            f"Wrote a guide for testers, covering:\n- how carts are made {'of fixtures, ' * 20}and\n- how totals are compared",
            "Wrote a guide for testers",
        ),
    ],
)
def test_the_outcome_comes_first(message, outcome):
    assert worth(message)[0] == outcome


def test_of_several_changes_the_one_that_was_asked_for_comes_first():
    message = "## Changes\n- Updated the docs of the tax\n- Added a badge to the receipt"

    assert worth(message, "Show a badge")[0] == "Added a badge to the receipt"
    assert worth(message, "Document the tax")[0] == "Updated the docs of the tax"


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("Rounded the totals. However, 2 tests of the tax still fail.", "2 tests of the tax still fail."),
        ("Rounded the totals. The cause was a float. Unfortunately, I could not run the tests of the tax.",
         "I could not run the tests of the tax."),
        ("Rounded the totals.\n\n## Tests\n- The tests of the tax still fail", "The tests of the tax still fail"),
        ("修复了购物车的取整问题。但税额的测试仍然失败。", "税额的测试仍然失败。"),
        ("Die Summe des Warenkorbs wird gerundet. Allerdings schlagen Tests der Steuer noch fehl.",
         "Schlagen Tests der Steuer noch fehl."),
    ],
)  # fmt: skip
def test_what_is_left_broken_follows_the_outcome(message, left):
    assert worth(message)[1] == left


def test_what_was_done_beside_an_intention_is_told():
    message = "Rounded the totals. Let me check the tax. Also updated the printed invoice."

    assert ["Rounded the totals."] == worth(message)
    assert ["Also updated the printed invoice."] == read_closing(message)[1]


def test_a_cause_in_the_past_is_nothing_left_broken():
    message = (
        "Rounded the totals. The test of the tax now fails gracefully. Sums were off because floats were not exact."
    )

    assert "Sums were off because floats were not exact." == worth(message)[1]


def test_in_a_numbered_report_what_was_fixed_comes_first_and_how_it_was_set_up_and_tested_is_left_out():
    message = """Let me summarize what was done:

1. **Set up the testbed**: cloned the shop, ran `pip install -e .`
2. **Found the root cause**: each item was rounded
3. **Fixed it in** `cart.py`: total() rounds the sum
4. **Verified** the result with a script
"""

    assert worth(message) == [
        "Fixed it in `cart.py`: total() rounds the sum",
        "Found the root cause: each item was rounded",
    ]


@pytest.mark.parametrize(
    "lead", ["Here's what I did:", "Let me summarize what was done:", "Here's a summary of the changes:", "总结如下："]
)
def test_a_list_below_a_line_that_sums_up_is_told_and_one_of_intentions_is_not(lead):
    items = "\n- Rounded the sum of the cart once\n- Added half even rounding to the tax"

    assert worth(lead + items) == ["Rounded the sum of the cart once", "Added half even rounding to the tax"]
    assert worth("I'll do the following:" + items) == worth("Next, let me do this:" + items) == []


def test_an_added_test_comes_behind_what_was_changed():
    message = "Fixed the cart totals.\n\n## Changes\n- Added a regression test\n- total() rounds the sum"

    assert worth(message) == ["Fixed the cart totals.", "total() rounds the sum", "Added a regression test"]


def test_a_result_that_says_nothing_of_the_request_gives_way_to_a_change_that_does():
    message = "Resolved what was described in the file.\n\n## Changes\n- Rounded the totals of the cart once"

    assert worth(message, "Totals are off by a cent")[0] == "Rounded the totals of the cart once"
    assert worth(message, "Show a badge")[0] == "Resolved what was described in the file."


def test_a_sentence_that_rests_on_the_one_before_does_not_stand_behind_another():
    message = (
        "## Summary\n\nFixed the rounding of totals. This ensures that no price is rounded.\n\n"
        "## Changes\n\nThe sum is rounded in `cart.py` now."
    )

    assert "This ensures that no price is rounded." not in worth(message)
    assert "This ensures that no price is rounded." in read_closing(message)[1]


def test_the_cause_follows_the_outcome():
    message = """Fixed the totals of the cart.

### Root Cause
The bug was in `cart.py` at line 7. Each item was rounded, which caused a difference of a cent.

### Testing
- Added a test of three items
"""

    assert worth(message) == [
        "Fixed the totals of the cart.",
        "Each item was rounded, which caused a difference of a cent.",
        "The bug was in `cart.py` at line 7.",
    ]
    _, others = read_closing(message)

    assert others == ["Added a test of three items"]


def test_what_stands_below_changes_is_a_change_in_whichever_words():
    message = "Fixed the cart totals.\n\n## Changes\n- total() sums first, then comes the rounding\n- Added half even"

    assert worth(message) == [
        "Fixed the cart totals.",
        "Added half even",
        "total() sums first, then comes the rounding",
    ]


def test_items_are_joined_to_the_line_above_and_code_of_a_line_is_its_object():
    message = """Changed two things in the cart:
- round once
- half even

Changed line 7 from:
```py
round(item)
```
to:
```py
sum(items)
```
The shell ran:
```sh
rm -rf testbed
```
"""

    assert worth(message) == [
        "Changed two things in the cart: round once; half even",
        "Changed line 7 from `round(item)` to `sum(items)`",
    ]


def test_items_belong_to_the_number_above_them():
    message = """1. Added an option to the export:
- `--base URL`
- It sets the links to:
  - `<base>/cart.css`

2. Changed the default of the cart:
- `round.py`
- `tax.py`
"""
    assert worth(message) == [
        "Added an option to the export: `--base URL`",
        "Changed the default of the cart: `round.py`; `tax.py`",
    ]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "## Zusammenfassung\nDie Summe wird jetzt gerundet.\n\n## Ursache\nSteuern zählten doppelt.",
            ["Die Summe wird jetzt gerundet.", "Steuern zählten doppelt."],
        ),
        (
            "## 変更内容\n- 合計を一度だけ丸めるように変更\n\n## 原因\n税額を先に丸めていました。",
            ["合計を一度だけ丸めるように変更", "税額を先に丸めていました。"],
        ),
        (
            "Der Warenkorb zeigt jetzt Steuern. Ich würde Folgendes vorschlagen:\n- Rabatte im Warenkorb einbauen",
            ["Der Warenkorb zeigt jetzt Steuern."],
        ),
        (
            "カートに税額を追加しました。次のステップとして考えられるのは:\n- カートの割引を追加",
            ["カートに税額を追加しました。"],
        ),
    ],
)
def test_sections_and_proposals_are_told_apart_in_german_and_japanese(message, told):
    assert worth(message) == told


def test_sections_and_labels_of_chinese_are_known_by_the_word_they_end_with():
    worth, _ = read_closing(
        "已定位并修复。\n\n## 具体改动\n\n- `readLoop` 监听 `ctx.Done()`，断开时关闭连接\n\n## 问题根源\n\n连接断开后 `readLoop` 没有退出。\n\n"
        "## 回归测试\n\n压测一小时，协程数稳定。\n\n## 注意事项\n\n升级时先停网关，再停战斗服。\n\n## 后续工作\n\n给协程数加报警，阈值五千。\n\n"
        "如果还需要别的指标，可以告诉我。"
    )  # fmt: skip

    assert ["`readLoop` 监听 `ctx.Done()`，断开时关闭连接", "连接断开后 `readLoop` 没有退出。"] == worth


def test_a_label_of_chinese_needs_no_marks():
    worth, others = read_closing(
        "找到原因了：老账号的邮件没有附件字段。\n\n- 修复：打开邮件之前先判空\n- 验证：老账号能打开邮件\n- 后续建议：给空字段加报警"
    )

    assert ["打开邮件之前先判空", "老账号的邮件没有附件字段。"] == worth
    assert ["老账号能打开邮件"] == others


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "Done 🎉 The album opens in 0.4 s now.\n\n**Root cause**: all pictures were loaded at once.\n**Fix**: a page of them is loaded now.",
            ["A page of them is loaded now.", "All pictures were loaded at once.", "The album opens in 0.4 s now."],
        ),
        (
            "搞定了 🎉 图鉴打开时间从 3.1 秒降到 0.4 秒。\n\n原因：打开时同步加载了全部立绘。\n做法：改为按页异步加载。",
            ["改为按页异步加载。", "打开时同步加载了全部立绘。", "图鉴打开时间从 3.1 秒降到 0.4 秒。"],
        ),
    ],
)  # fmt: skip
def test_each_line_with_a_label_is_of_its_own_subject(message, told):
    assert told == worth(message)


def test_a_sentence_is_told_once_with_or_without_the_marks_of_code():
    assert ["Deleted: `TODO.md`"] == worth("What changed:\n- Deleted: `TODO.md`\n\nCleanup:\n- Deleted: TODO.md\n")


def test_items_below_a_file_tell_what_was_done_in_it():
    message = "Removed the sums.\n\nWhat changed:\n- `cart.css`\n  - Removed the styles.\n- `cart.js`\n  - Removed the rows.\n"
    assert worth(message)[1:] == ["`cart.css`: Removed the styles", "`cart.js`: Removed the rows"]


def test_next_steps_and_files_of_the_occasion_are_left_out():
    message = """Rounded the totals of the cart once.
The script `try_it.py` shows the totals.

## Next steps
- Tell the accountants about the totals
"""

    assert worth(message, scratch=["try_it.py"]) == ["Rounded the totals of the cart once."]
    assert worth(message, scratch=["it.py"])[1:] == ["The script `try_it.py` shows the totals."]


@given(
    st.lists(
        st.sampled_from(
            [
                "# Summary",
                "**Fix**: x",
                "- a b c:",
                "  - deep one:",
                "```py",
                "```",
                "to:",
                "| a |",
                "",
                "Fixed a b c.",
                "1. x y z",
            ]
        ),
        max_size=12,
    )
)
def test_any_message_is_read_and_no_sentence_is_told_twice(lines):
    worth, others = read_closing("\n".join(lines))
    told = [*worth, *others]

    assert len(set(told)) == len(told)
    assert all(text.strip() and "\n" not in text for text in told)


def test_what_is_asked_of_the_user_is_not_told_as_done():
    told, others = read_closing(
        "Prepared 14 resources.\n\n**What I need from you**\n- set `URL` in the variables of CI\n"
    )

    assert (["Prepared 14 resources."], []) == (told, others)


@pytest.mark.parametrize(
    "said",
    [
        "Waiting on the reuse and altitude reviewers.",
        "Now dispatching the reviewer of the code.",
        "Now replace the old lock of the cart and add the new one.",
        "Now the tests of the cart",
        "Adding a test for the empty cart",
        "Starting with the cart, then the invoice.",
        "이제 장바구니 계획 파일을 작성합니다.",
        "나머지 장바구니 서버 결과 대기 중...",
        "장바구니 결과를 정리합니다.",
        "모든 작업이 완료됐습니다.",
        "┌──────────┬──────────┐",
        "│ cart.py  │ rounding │",
        "`★ Insight ─────────────────────────`",
    ],
)
def test_progress_and_drawn_frames_are_no_outcome(said):
    assert ["The cart rounds once per line."] == read_closing(f"{said}\n\nThe cart rounds once per line.")[0]


@pytest.mark.parametrize(
    "said",
    [
        "Now the cart rounds the sum once.",
        "Now the receipts of the cart pass.",
        "Rounding the sum once is what fixes the cart.",
        "Everything in the cart adds up.",
        "Adding the lock to the cart fixed the race.",
        "Using one rounding keeps the cart exact.",
        "Existing tests of the cart stay green.",
        "이제 장바구니가 정상 동작합니다.",
    ],
)
def test_what_holds_now_is_an_outcome(said):
    assert [said] == read_closing(said)[0]


@pytest.mark.parametrize(
    "message",
    [
        "Root cause: events were grouped by UTC days. They are converted to Berlin first now, with a test.",
        "Root cause: 31 November rolls over to the next month. Now the last day is asked of the calendar.",
    ],
)
def test_an_outcome_that_speaks_of_the_sentence_before_it_is_told_behind_that(message):
    assert message == " ".join(worth(message, "the daily counts are wrong"))


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("I've created `bin/rotate.sh`:\n\n```sh\ncd /var\ngzip *.log\n```", ["Created `bin/rotate.sh`"]),
        ("I've updated `cart.py`. The cart now rounds half even.", ["The cart now rounds half even."]),
        ("## Changes\n- Make it safe for threads of the till", ["Fix: Make it safe for threads of the till"]),
    ],
)
def test_a_change_of_which_only_the_file_is_named_is_told_where_there_is_no_other(message, told):
    assert told == read_closing(message)[0]
