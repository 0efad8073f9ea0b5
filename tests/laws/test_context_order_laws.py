"""What comes first in a context, and that nothing is told twice: the work at hand, then what is merely new."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog.app.open_store import Machine, OpenStore
from eventlog.app.search.search import SearchQuery, search
from eventlog.app.serve.bearing import with_bearings
from eventlog.app.serve.session_context import request_of
from eventlog.format import fence
from eventlog.format.text import same_text
from eventlog.hosts import protocol
from eventlog.projections.context.agent_context import SessionType
from eventlog.settings.schema import ContextSettings, Settings
from tests.support.builders import NOON
from tests.support.context_scene import HEAD, Scene, history
from tests.support.repositories import git

TODO = "- [ ] Load test the payment form before the sale"
BUDGETS = range(40, 2400, 130)


def summary(when, session, **fields):
    return when, session, "stage_summary", {"scope": "session", "topic": "", "summary": "Did things", **fields}


def fact(when, session, content, **fields):
    return when, session, "fact", {"content": content, **fields}


def opened(scene):
    return OpenStore(scene.log, scene.settings, Machine(str(scene.home), {}, lambda: NOON, "eventlog"))


def text_of(fields):
    """What a session starts with whose start has said so much."""
    return "conversation_text", {"prompts": [], "closing": "", **fields}


# ------------------------------------------------------------------------------------------------------------- to-dos


@pytest.mark.slow
def test_an_open_todo_stands_before_any_fact_at_every_budget_that_holds_it(tmp_path):
    scene = Scene(tmp_path).tell(
        *(
            fact(f"{day:02} 10:00", "old", f"Fact of day {day}, told at some length", confidence=1.0)
            for day in range(1, 22)
        ),
        summary("20 10:00", "s", todos=[TODO.removeprefix("- [ ] ")]),
        *(fact(f"21 09:{minute:02}", "new", f"New fact {minute}") for minute in range(20)),
    )
    scene.replay()
    least = len(HEAD + fence.fenced("start", f"\n# Open to-dos\n\n{TODO}\n", "en", ""))

    for budget in BUDGETS:
        text = scene.ask(budget=budget).context.text
        facts = [text.index(line) for line in text.splitlines() if "act " in line and line.startswith("- [")]
        assert (TODO in text) or not facts, budget
        assert not facts or text.index(TODO) < min(facts)
        assert TODO in text or budget < least


def test_todos_of_several_sessions_are_told_newest_first_and_each_once(tmp_path):
    scene = Scene(tmp_path).tell(
        summary("19 10:00", "a", todos=["Rotate the keys", "Load test"]),
        summary("20 10:00", "b", todos=["rotate the keys.", "Name the release"]),
    )

    assert todos(scene) == ["rotate the keys.", "Name the release", "Load test"]


def test_what_a_later_session_has_done_is_open_no_more_whoever_named_it(tmp_path):
    scene = Scene(tmp_path).tell(
        summary("19 10:00", "a", todos=["Rotate the keys", "Load test"]),
        summary("20 10:00", "b", done=["rotate the KEYS"]),
        summary("20 11:00", "c", todos=["Load test"]),
        summary("18 10:00", "d", done=["Load test"]),
    )

    assert todos(scene) == ["Load test"]


def test_todos_of_other_projects_and_withdrawn_ones_are_not_told(tmp_path):
    scene = Scene(tmp_path).tell(
        summary("19 10:00", "a", todos=["Elsewhere"], project="/elsewhere"),
        summary("19 11:00", "b", todos=["Withdrawn"]),
        ("20 10:00", "x", "retraction", {"conversation": "b"}),
        summary("19 12:00", "c", todos=["Told"]),
    )

    assert todos(scene) == ["Told"]


def test_a_session_that_came_back_has_its_own_todos_only(tmp_path):
    scene = history(tmp_path).replay()

    assert todos(scene) == ["Load test", "Rotate the keys"]
    assert todos(scene, source="resume", session_id="yesterday") == ["Rotate the keys"]


def todos(scene, **request):
    return re.findall(r"^- \[ \] (.*)$", scene.ask(**request).context.text, re.MULTILINE)


# ---------------------------------------------------------------------------------------------------------- bearings


@pytest.fixture
def shop(tmp_path):
    """Months of work, and an index of the search."""
    scene = Scene(tmp_path).tell(
        summary(
            "01 10:00",
            "checkout",
            topic="Postcodes",
            summary="Empty ones give an error",
            decisions=["Hong Kong has none"],
        ),
        ("01 10:05", "checkout", *text_of({"title": "Postcode crash", "files": ["shop/zones.py", "shop/forms.py"]})),
        fact("02 10:00", "other", "The postcode of Hong Kong is left empty", confidence=0.5),
        fact("02 11:00", "other", "Ada was born in Hong Kong, postcode unknown", memory_type="B"),
        fact("02 12:00", "other", "Hong Kong postcodes of another project", project="/elsewhere"),
        summary("03 10:00", "mail", topic="Mail", summary="Moved to SES", decisions=["Bounces are kept"]),
        ("03 10:05", "mail", *text_of({"title": "Mail", "files": ["mail/send.py"]})),
        *(fact(f"21 09:{minute:02}", "new", f"New fact {minute}") for minute in range(20)),
    )
    scene.replay()
    search(opened(scene), SearchQuery("anything"))
    return scene


def about(scene, branch="", files=(), **request):
    work = with_bearings(scene.log.store, str(scene.project), branch, files)
    return scene.ask(work=work, source="startup", **request).context.text


def test_what_bears_on_the_branch_comes_before_what_is_new(shop):
    text = about(shop, "fix/hong-kong-postcode")
    first, _, rest = text.partition("# Recent facts")

    assert "# What bears on the branch fix/hong-kong-postcode" in first
    for line in (
        "- [2026-02-01 checkout] Postcodes · shop/zones.py, shop/forms.py · Empty ones give an error",
        "- [2026-02-01] Hong Kong has none",
        "- [W][2026-02-02] The postcode of Hong Kong is left empty",
        "- [B][2026-02-02] Ada was born in Hong Kong, postcode unknown",
    ):
        assert line in first
        assert text.count(line.partition("] ")[2]) == 1
    assert "another project" not in text
    assert "SES" not in first.partition("# What bears")[2]
    assert "New fact 19" in rest


def test_what_names_a_changed_file_is_told(shop):
    shop.tell(summary("04 10:00", "later", topic="Later", summary="Something else"))
    first = about(shop, files=["mail/send.py"]).partition("# Recent facts")[0]
    line = "- [2026-02-03 mail] Mail · mail/send.py · Moved to SES"

    assert f"# What bears on the files changed lately\n\n{line}\n" in first
    assert "- [2026-02-03] Bounces are kept" in first
    assert "Postcodes" not in first


def test_a_file_is_known_by_its_name_alone_where_few_have_it(shop):
    shop.tell(
        fact("04 10:00", "x", "Totals are computed in Totals.java only"), fact("04 11:00", "x", "Totals are dear")
    )
    shop.tell(*(fact(f"05 10:{n:02}", "x", f"Package {n} has a file __init__.py") for n in range(9)))
    first = about(shop, files=["src/Totals.java", "src/a/__init__.py"]).partition("# Recent facts")[0]

    assert "Totals.java" in first
    assert "Totals are dear" not in first
    assert "__init__.py" not in first


def test_a_branch_nothing_is_known_of_changes_nothing(shop):
    assert about(shop, "feature/quantum-teapot") == about(shop) == about(shop, files=["nowhere/at/all.py"])


def test_what_is_withdrawn_bears_on_nothing_from_that_moment_on(shop):
    shop.tell(("21 11:00", "x", "retraction", {"conversation": "checkout"}))
    wrong = next(event.id for event in shop.log.read() if "is left empty" in getattr(event, "content", ""))
    shop.tell(("21 11:01", "x", "retraction", {"target": wrong}))
    text = about(shop, "fix/hong-kong-postcode", ["shop/zones.py"])

    assert "Ada was born in Hong Kong" in text
    assert not [said for said in ("Hong Kong has none", "zones.py", "is left empty") if said in text]


def test_what_is_known_of_the_user_bears_on_no_shared_session(shop):
    text = about(shop, "fix/hong-kong-postcode", session_type=SessionType.SHARED)

    assert "is left empty" in text
    assert "Ada was born" not in text


def test_a_session_that_came_back_is_told_facts_and_nothing_it_said_itself(shop):
    work = with_bearings(shop.log.store, str(shop.project), "fix/hong-kong-postcode", [])
    back = shop.ask(work=work, source="resume", session_id="mail").context.text
    itself = shop.ask(work=work, source="resume", session_id="other").context.text.partition("# Recent facts")[0]

    assert "is left empty" in back
    assert "Postcodes" not in back
    assert "is left empty" not in itself


def test_the_receipt_has_what_bears_on_the_work(shop):
    work = with_bearings(shop.log.store, str(shop.project), "fix/hong-kong-postcode", [])
    behind = {event for bearing in work.bearings for event in bearing.sources}

    assert len(behind) == 4
    assert behind <= set(shop.ask(work=work).receipt["sources"])


@pytest.mark.slow
def test_the_branch_and_the_files_are_those_of_the_directory_it_works_in(shop):
    (shop.project / "zones.py").write_text("a")
    git(shop.project, "init", "-q", "-b", "main")
    git(shop.project, "add", ".")
    git(shop.project, "commit", "-q", "-m", "first")
    here = opened(shop)
    on_trunk = request_of(here, str(shop.project)).work
    (shop.project / "zones.py").write_text("ab")
    changed = request_of(here, str(shop.project)).work
    git(shop.project, "checkout", "-q", "-b", "fix/hong-kong-postcode")
    on_branch = request_of(here, str(shop.project)).work

    assert (on_trunk.branch, on_trunk.files, on_trunk.bearings) == ("", (), ())
    assert (changed.branch, changed.files) == ("", ("zones.py",))
    assert (on_branch.branch, on_branch.files[0]) == ("fix/hong-kong-postcode", "zones.py")
    assert len(on_branch.bearings) == 3


@pytest.mark.slow
def test_a_linked_worktree_is_on_a_branch_of_its_own_and_a_place_elsewhere_does_not_count(tmp_path):
    scene = Scene(tmp_path)
    git(scene.project, "init", "-q", "-b", "main")
    git(scene.project, "commit", "-q", "--allow-empty", "-m", "first")
    git(scene.project, "worktree", "add", "-q", "-b", "fix/rotate-keys", str(scene.path / "linked"))
    git(scene.home, "init", "-q", "-b", "elsewhere")
    project, here = str(scene.project), opened(scene)

    assert request_of(here, project, where=str(scene.path / "linked")).work.branch == "fix/rotate-keys"
    assert request_of(here, project, where=project).work.branch == ""
    assert request_of(here, project, where=str(scene.home)).work.branch == ""


def test_without_an_index_nobody_waits_for_one(tmp_path):
    scene = history(tmp_path).replay()
    work = with_bearings(scene.log.store, str(scene.project), "fix/rotate-keys", ["a.py"])

    assert (work.branch, work.files, work.bearings) == ("fix/rotate-keys", ("a.py",), ())


# ------------------------------------------------------------------------------------------------- bytes and characters

SENTENCES = [
    "Prices are integers in cents", "Tokens are signed with RS256", "Deploys happen on Fridays", "金额一律用分保存",
    "Invoices are never deleted", "测试用真实的数据库",
]  # fmt: skip
worded = st.sampled_from(SENTENCES).flatmap(
    lambda text: st.sampled_from([text, text.upper(), f"{text}.", f"{text}; and nothing else was said", f" {text} "])
)
told = st.lists(st.tuples(st.sampled_from(["fact", "decisions", "todos", "summary"]), worded), max_size=12)


def lines_of(drawn):
    for number, (kind, text) in enumerate(drawn):
        when, session = f"{19 + number % 3} 10:{number:02}", f"s{number % 4}"
        fields = {"summary": text} if kind == "summary" else {kind: [text]}
        yield fact(when, session, text) if kind == "fact" else summary(when, session, **fields)


@pytest.mark.slow
@given(drawn=told, budget=st.integers(1, 3000))
@example(drawn=[("fact", SENTENCES[0]), ("decisions", f"{SENTENCES[0]}.")], budget=3000)
def test_nothing_stands_twice_no_budget_is_exceeded_and_the_same_state_gives_the_same_bytes(
    tmp_path_factory, drawn, budget
):
    one, other = (Scene(tmp_path_factory.mktemp("scene")) for _ in range(2))
    said = list(lines_of(drawn))
    one.tell(*said)
    for line in reversed(said):
        other.tell(line)
    one.replay()
    other.replay()
    text = one.ask(budget=budget).context.text
    bullets = [same_text(re.sub(r"^- (\[.*?\] ?)*", "", line)) for line in text.splitlines() if line[:2] == "- "]

    assert len(text) <= budget
    assert sorted(bullets) == sorted(set(bullets))
    assert one.text() == other.text()


CHINESE = "账单生成后不可修改，差错通过红字账单冲销，再重新出账，第{number}条"


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["codex", "claude-code"])
def test_a_host_is_given_no_more_than_it_takes_and_what_matters_is_in_it(tmp_path, agent):
    scene = Scene(tmp_path, Settings(locale="zh", context=ContextSettings(budget_chars=40_000, facts=500)))
    scene.tell(
        *(fact(f"21 {n // 60:02}:{n % 60:02}", "s", CHINESE.format(number=n)) for n in range(500)),
        summary("20 10:00", "t", todos=["轮换密钥"]),
    )
    encoding, most = protocol(agent).most_at_start
    text = scene.ask(agent=agent).context.text

    assert 0.9 * most < len(text.encode(encoding)) <= most
    assert "- [ ] 轮换密钥" in text
    assert "eventlog search 关键词" in text
    assert len(scene.ask(agent=agent, budget=30_000).context.text) > 12_000  # who asks for so much gets it
    assert len(scene.ask(agent="somebody").context.text) > 12_000


def test_how_to_search_is_told_in_one_line_where_anything_is_known(tmp_path):
    scene = Scene(tmp_path)
    nothing = scene.ask().context.text
    scene.tell(fact("21 10:00", "s", "Likes tea"))
    line = "`eventlog search WORDS` finds what is known, `show ID` all of a session."

    assert "WORDS" not in nothing
    assert line in scene.ask().context.text.splitlines()
    assert "`eventlog search --store /s WORDS`" in scene.ask(store_option=" --store /s").context.text
    assert "WORDS" not in scene.ask(session_type=SessionType.SHARED).context.text
