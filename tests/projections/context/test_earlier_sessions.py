"""Earlier sessions in a start: what each was about, where, and what came of it; as many as fit."""

from tempfile import TemporaryDirectory

import pytest

from eventlog.format.ids import short_id
from eventlog.format.local_time import local_time
from eventlog.projections.context.earlier_sessions import EarlierSession
from eventlog.projections.line import Line
from eventlog.settings.schema import Settings
from tests.support.context_scene import Scene

V4 = "412dfc16-c855-4ef1-b9e1-533b648825e5"
V7 = "019c6bcb-71c8-75be-9340-cd83a54efeda"


def line_of(zone="UTC", limit=300, **fields):
    about = {"name": V4, "at": "2026-02-20T23:30:00.000000Z", "topic": "Round half even", "outcome": "Tests pass."}
    return EarlierSession(**{**about, **fields}).line(local_time(zone), "/home/ada/shop", limit=limit).text


def test_a_line_has_topic_file_and_outcome_with_a_short_id():
    told = line_of(files=["/home/ada/shop/cart/total.py"])

    assert told == "- [2026-02-20 412dfc16] Round half even · cart/total.py · Tests pass."


def test_a_day_is_that_of_the_configured_time_zone():
    assert line_of("Europe/Berlin").startswith("- [2026-02-21 ")


@pytest.mark.parametrize(("name", "short"), [(V4, "412dfc16"), (V7, "a54efeda"), ("human-2026", "human-2026")])
def test_an_id_is_as_short_as_people_may_type_it(name, short):
    assert short_id(name) == short


@pytest.mark.parametrize(
    ("summary", "outcome"),
    [
        (
            "Changed a.py, b.py. Ran `git clone x`, `rm -rf y` and 9 more. The cause was a cache.",
            "The cause was a cache.",
        ),
        ("Changed a.py. Ran `make test`. Rounding is half even.", "Rounding is half even."),
        ("Ran `make test`. Rounding is half even.", "Rounding is half even."),
        ("Changed a.py. Ran `git clone https://exa…", ""),
        ("修改了 a.py。运行了 `make test`。舍入已修正。", "舍入已修正。"),
        ("Changed the login to JWT. Tests pass.", "Changed the login to JWT. Tests pass."),
        ("It failed. Ran `make` again, and it passed.", "It failed. Ran `make` again, and it passed."),
    ],
)
def test_an_outcome_is_nothing_of_a_shell(summary, outcome):
    assert EarlierSession("s", "", "", summary).outcome_text == outcome


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (["/home/ada/shop/test_issue.py", "/home/ada/shop/cart/total.py"], "cart/total.py"),
        (["/tmp/output.json", "/home/ada/shop/cart/total.py", "debug.py"], "cart/total.py"),
        (["a/one.py", "a/two.py", "a/three.py"], "a/one.py, a/two.py"),
        (
            ["cart/rates.json", "cart/total.py", "output/run.json", "tests/test_total.py"],
            "cart/total.py, cart/rates.json",
        ),
        (["tests/builders.py", "cart/total.py"], "cart/total.py"),
        (["tests/test_total.py"], "tests/test_total.py"),
        (["setup.py"], "setup.py"),
    ],
)
def test_files_of_the_project_are_told_before_tests_data_and_scratch_files(files, told):
    assert line_of(files=files, outcome="").endswith(f" · {told}")


def test_an_outcome_that_begins_with_the_topic_says_it_once():
    assert line_of(outcome="Round half even, per line item.").count("Round half even") == 1


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("Wrote the docs. Changed total.py.", "Round half even · cart/total.py · Wrote the docs."),
        ("Changed total.py, rate.py and 3 more. It was off.", "Round half even · cart/total.py · It was off."),
        ("修改了 total.py。舍入已修正。", "Round half even · cart/total.py · 舍入已修正。"),
        ("It was in cart/total.py: a cast.", "Round half even · It was in cart/total.py: a cast."),
        ("Wrote it → Changed the till.", "Round half even · cart/total.py · Wrote it → Changed the till."),
    ],
)
def test_a_file_is_named_once(outcome, told):
    assert line_of(outcome=outcome, files=["/home/ada/shop/cart/total.py"]).endswith(f"] {told}")


def test_a_decision_that_is_in_the_line_is_not_below_it():
    decisions = [Line("- From now on, totals are in cents"), Line("- No floats")]
    session = EarlierSession(
        V4, "2026-02-20T23:30:00.000000Z", "From now on, totals are in cents", "", decisions=decisions
    )

    assert ["- [2026-02-20] No floats"] == [line.text for line in session.in_full(local_time("UTC"), "/p")[1:]]


def test_a_brief_line_keeps_the_file():
    told = line_of(limit=115, topic="Why the totals are wrong " * 9, files=["cart/total.py", "cart/tax.py"])

    assert told.endswith("… · cart/total.py")
    assert len(told) < 150


# ------------------------------------------------------------------------------------------------------- in a start


def many(scene, count):
    """So many sessions in so many hours, each with a file of its own."""
    for number in range(count):
        at = f"{1 + number // 24:02} {number % 24:02}:00"
        name = f"{number:08x}-c855-4ef1-b9e1-533b648825e5"
        words = f"Round the totals of customer {number} half even, as the tax office of their country demands it"
        closing = (
            f"The cause was in the cache of rates; totals of customer {number} are now rounded per line item. " * 2
        )
        text = {"files": [f"shop/customers/customer{number}/rounding.py", "test_issue.py"], "title": words}
        saved = {"scope": "session", "layer": 3, "topic": words, "summary": f"Changed x.py. Ran `rm -rf y`. {closing}"}
        scene.tell((at, name, "conversation_text", text), (at, name, "stage_summary", saved))
    return scene


def told_files(text, count):
    return [number for number in range(count) if f"shop/customers/customer{number}/rounding.py" in text]


@pytest.mark.slow
def test_two_fifths_of_a_hundred_sessions_are_told_with_their_file():
    with TemporaryDirectory(prefix="scene-", dir="/tmp") as place:  # how much fits depends on the length of its name
        text = many(Scene(place), 114).ask(source="startup").context.text

    assert len(text) <= Settings().context.budget_chars
    assert len(told_files(text, 114)) >= 0.4 * 114
    assert "rm -rf" not in text


def test_of_few_sessions_all_are_told_with_what_came_of_them(tmp_path):
    text = many(Scene(tmp_path), 20).ask(source="startup").context.text

    assert told_files(text, 20) == list(range(20))
    assert len([line for line in text.split("\n") if "The cause was in the cache of rates" in line]) == 20


def test_the_last_session_comes_first_and_once(tmp_path):
    text = many(Scene(tmp_path), 3).ask(source="startup").context.text
    sections = text.split("\n# ")

    assert [one for one in sections if "customer 2 half even" in one] == sections[1:2]
    assert sections[1].startswith("Last session\n\n- [2026-02-01 02:00 00000002] Round the totals")


def test_what_was_left_open_is_told_however_long_ago_that_was(tmp_path):
    scene = Scene(tmp_path)
    scene.tell(
        ("01 09:00", "old", "stage_summary", {"summary": "Began", "todos": ["Rotate the keys", "Load test"]}),
        ("02 09:00", "then", "stage_summary", {"summary": "Went on", "done": ["Load test"]}),
    )
    text = scene.ask(source="startup", now="2026-02-27T12:00:00.000000Z").context.text

    assert "- [ ] Rotate the keys" in text
    assert "- [ ] Load test" not in text


def test_what_is_told_of_sessions_is_not_said_again_by_the_notes(tmp_path):
    text = many(Scene(tmp_path), 5).ask(source="startup", now="2026-02-01T12:00:00.000000Z").context.text

    assert "Notes of" not in text


@pytest.mark.parametrize(
    "talk", ["hi", "thanks, bye", "Hola, ¿qué tal?", "gracias, hasta mañana", "你好", "谢谢，再见"]
)
def test_small_talk_is_not_told_as_the_last_session(tmp_path, talk):
    scene = Scene(tmp_path)
    scene.tell(
        ("20 09:00", "work", "stage_summary", {"scope": "session", "topic": "Round the cart", "summary": "Half even"}),
        ("20 10:00", "talk", "stage_summary", {"scope": "session", "topic": talk, "summary": talk, "layer": 3}),
    )
    text = scene.ask(source="startup").context.text

    assert "# Last session\n\n- [2026-02-20 09:00 work] Round the cart · Half even" in text
    assert f"] {talk}" not in text


def test_a_session_that_broke_off_is_told_by_its_topic_alone(tmp_path):
    topic = {"scope": "session", "topic": "Migrate the cart", "summary": "Migrate the cart", "layer": 3}
    text = Scene(tmp_path).tell(("20 10:00", "cut", "stage_summary", topic)).ask(source="startup").context.text

    assert "# Last session\n\n- [2026-02-20 10:00 cut] Migrate the cart" in text


def test_a_session_whose_clock_was_ahead_is_not_the_last_for_ever(tmp_path):
    scene = Scene(tmp_path)
    scene.tell(
        ("21 23:00", "ahead", "stage_summary", {"scope": "session", "topic": "Invoices", "summary": "Numbered them"}),
        ("21 10:00", "since", "stage_summary", {
            "scope": "session", "topic": "Cart", "summary": "Rounded it", "after": "2026-02-21T23:00:00.000001Z",
        }),
    )  # fmt: skip

    assert "# Last session\n\n- [2026-02-21 10:00 since] Cart" in scene.ask(source="startup").context.text


def test_what_was_left_open_is_told_behind_what_was_left_since(tmp_path):
    scene = Scene(tmp_path)
    scene.log.append_many(
        scene.event("01 09:00", name, "stage_summary", summary="Went on", todos=[todo], ts=f"{day}T09:00:00.000000Z")
        for name, day, todo in (("old", "2025-12-20", "Rotate the keys"), ("new", "2026-02-20", "Load test"))
    )
    text = scene.ask(source="startup").context.text

    assert "# Open to-dos\n\n- [ ] Load test\n- [ ] Rotate the keys\n" in text
