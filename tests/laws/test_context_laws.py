"""What holds for every context: who may see what, what decays, what damage costs, what a budget cuts."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.build.user_files import take_bootstrap
from eventlog.app.serve.session_context import append_receipt
from eventlog.projections.context.agent_context import AgentContext, SessionType
from eventlog.settings.schema import ContextSettings, Settings
from eventlog.store import project_slug
from tests.support.context_scene import HEAD, NOW, Scene, history
from tests.support.tree import IMPORT_PATH

PRIVATE = ("Prefers pytest", "memory of the user")


def told(scene, **request):
    return [entry.content for entry in scene.ask(**request).context.recent_facts]


# ------------------------------------------------------------------------------------------------------ who may see what


def private(tmp_path):
    """A conversation of which nothing was said but what the user prefers, and files that tell of it."""
    scene = history(tmp_path)
    scene.tell(("21 10:00", "secret", "fact", {"content": "memory of the user", "memory_type": "B"}))
    return scene.replay()


def test_a_shared_session_is_told_nothing_about_the_user(tmp_path):
    context = private(tmp_path).ask(session_type=SessionType.SHARED).context

    assert not [text for text in PRIVATE if text in orjson.dumps(context, default=str).decode()]
    assert context.memory_content is None
    assert not [one for one in context.results if "MEMORY.md" in one.file_path]


def test_a_main_session_is_told_it_all(tmp_path):
    text = private(tmp_path).ask().context.text

    assert not [said for said in PRIVATE if said not in text]


@pytest.mark.slow
@pytest.mark.parametrize("source", ["startup", "resume", "compact", ""])
def test_nor_does_the_summary_of_a_session_bring_it_back(tmp_path, source):
    text = private(tmp_path).text(session_type=SessionType.SHARED, source=source, session_id="secret")

    assert not [said for said in PRIVATE if said in text]


def test_of_a_session_that_worked_elsewhere_only_what_it_said_of_this_project_is_told(tmp_path):
    scene = history(tmp_path)
    scene.tell(("21 10:00", "elsewhere", "fact", {"content": "Storks nest there", "project": "/src/elsewhere"}))
    scene.tell(("21 10:01", "elsewhere", "fact", {"content": "Herons nest here"}))
    text = scene.replay().text()

    assert "Herons nest here" in text
    assert "Storks nest there" not in text


def test_main_then_shared_then_main_in_one_process_each_see_their_own(tmp_path):
    scene = private(tmp_path)
    kinds = [SessionType.MAIN, SessionType.SHARED, SessionType.MAIN]
    first, shared, again = (scene.ask(session_type=kind).context for kind in kinds)

    assert first.text == again.text
    assert (first.memory_content, again.memory_content) == (again.memory_content, first.memory_content) != (None, None)
    assert PRIVATE[0] not in shared.text


@pytest.mark.slow
def test_main_then_shared_then_main_in_three_processes_each_see_their_own(tmp_path):
    scene = private(tmp_path)

    def seen(kind):
        command = [sys.executable, "-m", "eventlog", "--store", scene.log.store.root, "context", "--json"]
        where = ["--project", str(scene.project), "--session-type", kind]
        environ = {"HOME": str(scene.home), "PYTHONPATH": IMPORT_PATH, "PATH": ""}
        done = subprocess.run([*command, *where], capture_output=True, check=True, env=environ, cwd=tmp_path)
        return orjson.loads(done.stdout)

    first, shared, again = (seen(kind) for kind in ("main", "shared", "main"))

    assert (first["text"], first["memory_content"]) == (again["text"], again["memory_content"])
    assert PRIVATE[0] in first["memory_content"]
    assert shared["memory_content"] is None
    assert PRIVATE[0] not in orjson.dumps(shared).decode()


def test_what_the_user_keeps_about_themselves_is_not_for_a_shared_session(tmp_path):
    scene = private(tmp_path)
    main, shared = (scene.ask(session_type=kind).context for kind in SessionType)

    assert "# Profile" in main.text
    assert [] == shared.user_contents
    assert "# Profile" not in shared.text


def test_the_commands_a_shared_session_is_told_show_no_more_than_itself(tmp_path):
    text = private(tmp_path).ask(session_type=SessionType.SHARED, budget=700).context.text
    commands = [line.split("`")[1] for line in text.splitlines() if line.startswith("[")]

    assert commands
    assert not [one for one in commands if one.startswith("eventlog") and "--session-type shared" not in one]


def test_a_session_that_was_shared_once_stays_shared(tmp_path):
    scene = private(tmp_path)
    scene.tell(("21 11:00", "now", "session_start", {"session_type": "shared"}))
    context = scene.ask(session_type=None, source="resume").context

    assert context.session_type is SessionType.SHARED
    assert context.memory_content is None


def test_a_shared_context_with_a_memory_cannot_even_be_made(tmp_path):
    about: dict[str, Any] = {"session_id": "s", "created_at": None}
    with pytest.raises(ValueError, match="not for shared sessions"):
        AgentContext(session_type=SessionType.SHARED, memory_content="", **about)
    with pytest.raises(ValueError, match="yesterday"):
        AgentContext(session_type=SessionType.MAIN, daily_memories=["", "", ""], **about)


# ----------------------------------------------------------------------------------------------------------- what decays


def facts_of(tmp_path, *whens, **context):
    scene = Scene(tmp_path, Settings(context=ContextSettings(**context)))
    scene.tell(*((when, "c", "fact", {"content": f"said {when}", "confidence": sure}) for when, sure in whens))
    return [text.removeprefix("said ") for text in told(scene)]


def test_facts_younger_than_two_days_are_all_told(tmp_path):
    whens = [(f"{when}", 0.1) for when in ("19 12:01", "20 08:00", "20 09:00", "20 10:00", "20 11:00", "21 11:59")]

    assert [when for when, _ in reversed(whens)] == facts_of(tmp_path, *whens)


def test_of_older_days_the_newest_three_of_each(tmp_path):
    whens = [(f"{day} 0{hour}:00", 0.1) for day in (17, 18) for hour in range(5)]

    assert ["18 04:00", "18 03:00", "18 02:00", "17 04:00", "17 03:00", "17 02:00"] == facts_of(tmp_path, *whens)


def test_of_even_older_ones_those_of_high_confidence(tmp_path):
    whens = [("14 11:59", 1.0), ("14 12:01", 0.9), ("15 10:00", 0.89), ("16 11:59", 0.9)]

    assert ["16 11:59", "14 12:01"] == facts_of(tmp_path, *whens)


def test_never_more_than_fifteen(tmp_path):
    whens = [(f"21 {number // 60:02}:{number % 60:02}", 0.9) for number in range(100)]

    assert [when for when, _ in reversed(whens)][:15] == facts_of(tmp_path, *whens)


SETTINGS = [
    ({"facts": 1}, ["21 09:00"]),
    ({"facts": 0}, []),
    ({"days_full": 4, "partial_per_day": 0}, ["21 09:00", "18 08:00", "18 07:00", "15 09:00"]),
    ({"partial_per_day": 1}, ["21 09:00", "18 08:00", "15 09:00"]),
    ({"partial_per_day": 0}, ["21 09:00", "15 09:00"]),
    ({"days_partial": 2}, ["21 09:00", "15 09:00"]),
    ({"days_max": 5}, ["21 09:00", "18 08:00", "18 07:00"]),
    ({"days_max": 20, "days_partial": 20}, ["21 09:00", "18 08:00", "18 07:00", "15 09:00", "05 09:00"]),
    ({"min_confidence": 0.95}, ["21 09:00", "18 08:00", "18 07:00"]),
]


@pytest.mark.parametrize(("chosen", "expected"), SETTINGS, ids=[str(chosen) for chosen, _ in SETTINGS])
def test_every_setting_is_obeyed(tmp_path, chosen, expected):
    sure = 0.9
    whens = [("05 09:00", sure), ("15 09:00", sure), ("18 07:00", 0.1), ("18 08:00", 0.1), ("21 09:00", 0.1)]

    assert expected == facts_of(tmp_path, *whens, **chosen)


def test_what_is_filtered_takes_no_place_of_what_is_not(tmp_path):
    """Withdrawn, replaced, repeated, a helper's, another project's: fifteen places are for what remains."""
    scene = Scene(tmp_path, Settings(context=ContextSettings(facts=2)))
    scene.tell(
        ("21 06:00", "c", "fact", {"content": "First"}),
        ("21 07:00", "c", "fact", {"content": "Second"}),
        ("21 08:00", "c", "fact", {"content": "SECOND."}),
        *((f"21 08:{n:02}", "bad", "fact", {"content": f"Withdrawn {n}"}) for n in range(20)),
        *((f"21 09:{n:02}", "c", "fact", {"content": f"By a helper {n}", "subagent": "x"}) for n in range(20)),
        *((f"21 10:{n:02}", "c", "fact", {"content": f"Elsewhere {n}", "project": "/p"}) for n in range(20)),
        ("21 11:00", "d", "retraction", {"conversation": "bad"}),
    )

    assert ["SECOND.", "First"] == told(scene)


def test_days_are_those_of_the_users_calendar(tmp_path):
    """In Auckland it is the 22nd when it is noon of the 21st in Greenwich."""
    scene = history(tmp_path, Settings(timezone="Pacific/Auckland"))
    days = [note.splitlines()[0] for note in scene.ask(now="2026-02-21T11:30:00.000000Z").context.daily_memories]

    assert ["# 2026-02-22", "# 2026-02-21"][-len(days) :] == days
    assert "- [W][2026-02-21] Deploys happen on Fridays" in scene.text(now="2026-02-21T10:30:00.000000Z")


# ----------------------------------------------------------------------------------------------------- what damage costs

DAMAGE = {
    "half a line": b'{"v":1,"id":"019c7b',
    "not UTF-8": b'{"type":"fact","content":"\xff\xfe"}',
    "a null timestamp": b'{"v":1,"id":"x","ts":null,"type":"fact","conversation_id":"c","content":"y"}',
    "a number": b"123",
    "a list": b'["fact"]',
    "a fact that is a number": b'{"type":"fact"}',
    "an unknown type": b'{"v":1,"id":"x","ts":"2026-02-21T09:00:00.000000Z","type":"from the \\"fact\\" future","conversation_id":"c"}',
    "a blank line": b"",
}


@pytest.mark.slow
@pytest.mark.parametrize("line", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_line_costs_nothing_else(tmp_path, line):
    scene = history(tmp_path).replay()
    before = scene.ask().context
    for day in ("2026-02-15", "2026-02-20", "2026-02-21"):
        file = Path(scene.log.store.log, f"{day}.jsonl")
        whole = file.read_bytes()
        lines = whole.splitlines(keepends=True)
        file.write_bytes(b"".join([lines[0], line + b"\n", *lines[1:], line]))
        after = scene.ask().context
        file.write_bytes(whole)

        assert (before.text, before.version) == (after.text, after.version), day


@pytest.mark.parametrize("name", ["MEMORY.md", "projects/{slug}/MEMORY.md", "projects/{slug}/INDEX.md"])
def test_a_damaged_knowledge_file_costs_nothing_else(tmp_path, name):
    scene = history(tmp_path).replay()
    slug = next(Path(scene.log.store.knowledge, "projects").iterdir()).name
    Path(scene.log.store.knowledge, name.format(slug=slug)).write_bytes(b"\xff\x00- [half")
    text = scene.text()

    assert "Deploys happen on Fridays" in text
    assert "Calm, brief." in text
    assert "Moved login to JWT" in text


@pytest.mark.parametrize("where", ["log", "knowledge", "cache"])
def test_a_room_of_the_store_that_is_no_directory_costs_only_itself(tmp_path, where):
    scene = Scene(tmp_path)
    Path(scene.log.store.root).mkdir()
    Path(scene.log.store.root, where).write_text("in the way")

    assert "Calm, brief." in scene.text()


# ------------------------------------------------------------------------------------------------------ what a session is


def test_what_was_withdrawn_this_minute_is_not_told_whatever_the_files_still_say(tmp_path):
    scene = history(tmp_path).replay()
    scene.tell(("21 11:00", "forget", "retraction", {"conversation": "yesterday"}))
    context = scene.ask().context

    assert "Moved login to JWT" not in "".join((*context.summaries, *context.daily_memories))
    assert "Prefers pytest" not in [entry.content for entry in context.recent_facts]


def remembered(scene):
    """What the memories say that are told, of rendered files as old as they are."""
    return (scene.ask().context.memory_content or "").splitlines()


def withdraw(scene, content, when="21 11:00"):
    target = next(event.id for event in scene.log.read() if getattr(event, "content", None) == content)
    return scene.tell((when, "later", "retraction", {"target": target}))


def test_what_was_withdrawn_after_the_last_replay_is_in_no_memory(tmp_path):
    scene = history(tmp_path).replay()
    before = remembered(scene)
    withdraw(scene, "Deploys happen on Fridays")
    withdraw(scene, "Nine days old, important all the same")
    withdraw(scene, "Prefers pytest")
    gone = {"- [2026-02-21] Deploys happen on Fridays", "- [2026-02-12] Nine days old, important all the same"}

    assert gone | {"- [2026-02-20] Prefers pytest"} == set(before) - set(remembered(scene))
    assert not [line for line in scene.ask().context.text.splitlines() if "Deploys happen on" in line]


def test_what_a_conversation_said_that_was_withdrawn_as_a_whole_is_in_no_memory(tmp_path):
    scene = history(tmp_path).replay()
    scene.tell(("21 11:00", "later", "retraction", {"conversation": "yesterday"}))
    told = "\n".join(remembered(scene))

    assert not [said for said in ("RS256", "8443", "Prefers pytest") if said in told]
    assert "Deploys happen on Fridays" in told


def test_a_withdrawn_conversation_too_large_to_search_costs_no_context(tmp_path, monkeypatch):
    monkeypatch.setattr("eventlog.hooks.conversation._SEARCH_AT_MOST", 0)
    scene = history(tmp_path).replay()
    scene.tell(("21 11:00", "later", "retraction", {"conversation": "yesterday"}))
    told = "\n".join(remembered(scene))

    assert "RS256" not in told
    assert "Deploys happen on Fridays" in told


def test_what_others_said_too_stays_and_so_does_what_was_restored(tmp_path):
    scene = history(tmp_path).replay()
    before = remembered(scene)
    withdraw(scene, "the api listens on PORT 8443.")
    withdraw(scene, "Deploys happen on Fridays", "21 11:10")
    (*_, last) = (event.id for event in scene.log.read() if event.type == "retraction")
    scene.tell(("21 11:30", "later", "retraction", {"target": last}))

    assert before == remembered(scene)


def test_a_withdrawal_of_nothing_known_changes_nothing(tmp_path):
    scene = history(tmp_path).replay()
    before = remembered(scene)
    scene.tell(("21 11:00", "later", "retraction", {"target": "no-such-event"}))

    assert before == remembered(scene)


def test_an_old_summary_is_found_where_nothing_was_said_lately(tmp_path):
    scene = history(tmp_path).replay()
    later = "2026-06-01T00:00:00.000000Z"
    context = scene.ask(now=later).context

    told = [text.partition("] ")[0].rpartition(" ")[2] for text in context.summaries]
    assert ["today", "yesterday", "mid", "old"] == told
    assert ([], []) == (context.recent_facts, context.daily_memories)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_as_many_summaries_as_the_settings_say(tmp_path, count):
    scene = history(tmp_path, Settings(context=ContextSettings(summaries=count))).replay()

    assert count == len(scene.ask().context.summaries)


@pytest.mark.parametrize("source", ["resume", "compact", "fork"])
def test_a_session_that_came_back_gets_no_summary_but_its_own(tmp_path, source):
    scene = history(tmp_path).replay()

    assert scene.ask(source=source, session_id="never said a word").context.summaries == []
    assert "Moved login to JWT" in scene.ask(source=source, session_id="yesterday").context.summaries[0]


def test_where_the_host_does_not_say_a_session_with_a_summary_came_back(tmp_path):
    scene = history(tmp_path).replay()

    assert len(scene.ask(source="", session_id="yesterday").context.summaries) == 1
    assert len(scene.ask(source="", session_id="fresh").context.summaries) == 4


def test_the_version_tells_two_contexts_apart(tmp_path):
    scene = history(tmp_path)
    first, same = scene.ask().context.version, scene.ask().context.version
    (scene.project / "AGENTS.md").write_text("Changed")

    assert first == same != scene.ask().context.version


def test_looking_at_a_context_leaves_nothing_in_the_log_and_nothing_in_the_home(tmp_path):
    scene = history(tmp_path)
    before = (len(list(scene.log.read())), sorted(scene.home.rglob("*")))
    scene.ask()

    assert before == (len(list(scene.log.read())), sorted(scene.home.rglob("*")))


@given(budget=st.integers(1, 4000), source=st.sampled_from(["startup", "resume"]))
def test_no_context_is_longer_than_its_budget_nor_cuts_how_to_save(shared_scene, budget, source):
    context = shared_scene.ask(budget=budget, source=source, session_id="yesterday").context

    assert len(context.text) <= budget
    assert context.text.startswith(HEAD) or budget < len(HEAD)


@pytest.fixture(scope="module")
def shared_scene(tmp_path_factory):
    return history(tmp_path_factory.mktemp("scene")).replay()


def test_the_moment_of_a_context_is_the_callers(tmp_path):
    assert NOW == history(tmp_path).ask().context.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# ---------------------------------------------------------------------------------------------- nothing is said twice


def test_a_fact_that_stands_in_a_persons_own_file_is_told_there(tmp_path):
    scene = history(tmp_path).replay()
    (scene.project / "AGENTS.md").write_text("# Shop\n\n* The API listens on port 8443.\n")
    text = scene.text()

    assert 1 == text.casefold().count("the api listens on port 8443")
    assert "Deploys happen on Fridays" in text


def test_a_fact_is_told_where_the_file_that_says_it_is_cut_before_it(tmp_path):
    scene = history(tmp_path).replay()
    rules = "".join(f"- Rule {number}\n" for number in range(5000))
    (scene.project / "AGENTS.md").write_text(f"{rules}- The API listens on port 8443\n")

    assert 1 == scene.text().casefold().count("the api listens on port 8443")


def test_two_files_that_say_the_same_are_told_once(tmp_path):
    scene = history(tmp_path)
    (scene.project / "AGENTS.md").unlink()
    (scene.project / "AGENTS.md").write_bytes((scene.home / ".config/agents/AGENTS.md").read_bytes())
    text = scene.text()

    assert 1 == text.count("# AGENTS.md (")


@pytest.mark.slow
def test_at_any_budget_each_fact_is_told_at_most_once(tmp_path):
    scene = history(tmp_path).replay()
    (scene.project / "AGENTS.md").write_text(
        "- Deploys happen on Fridays\n- a\n- Prefers pytest\n- The API listens on port 8443\n"
    )
    for budget in range(300, 3000, 90):
        text = scene.text(budget=budget)
        facts = ("Deploys happen", "Prefers pytest", "listens on port 8443")

        assert len(text) <= budget + 200  # paths are spelled shorter, or longer, than they are
        assert not [said for said in facts if text.count(said) > 1], budget


# ----------------------------------------------------------------------------------------------------- where to look


@pytest.mark.parametrize("project", [True, False])
def test_a_session_is_told_of_the_index_where_there_is_one(tmp_path, project):
    scene = history(tmp_path)
    asked = {} if project else {"project": ""}
    before = scene.ask(**asked).context.text
    scene.tell(("21 10:00", "c", "fact", {"content": "Likes tea", "memory_type": "O", "project": None})).replay()
    place = f"{scene.log.store.knowledge}/{f'projects/{project_slug(str(scene.project))}/' if project else ''}INDEX.md"

    assert "INDEX.md" not in before
    assert 1 == scene.ask(**asked).context.text.count(place)
    assert "INDEX.md" not in scene.ask(**asked, session_type=SessionType.SHARED).context.text


# ------------------------------------------------------------------------------------------------ bytes that are no text


def test_names_of_files_that_are_no_text_reach_no_prompt_either(tmp_path):
    scene = history(tmp_path).replay()
    project = Path(os.fsdecode(os.fsencode(scene.home) + b"/caf\xe9"))
    project.mkdir()
    for file in (project / "AGENTS.md", Path(os.fsdecode(os.fsencode(scene.home) + b"/.config/agents/user/\xff.md"))):
        file.write_text("- Told all the same\n")
    built = scene.ask(project=str(project), budget=20_000)
    told = orjson.dumps(built.context, default=str).decode()  # what cannot be encoded cannot be written

    assert built.context.text.encode().count(b"Told all the same") == 1
    assert "/user/\ufffd.md" in told
    assert append_receipt(scene.log.store, built, "")


@pytest.mark.slow
@pytest.mark.parametrize("data", [b"\xff\xfe\0", b"caf\xe9\n", b"a\0b\n"])
def test_bytes_that_are_no_text_reach_no_prompt_from_whatever_file(tmp_path, data):
    scene = history(tmp_path).replay()
    (scene.home / ".config/agents/BOOTSTRAP.md").write_text("Introduce yourself.\n")
    knowledge = Path(scene.log.store.knowledge)
    for file in (*scene.home.rglob("*.md"), *knowledge.rglob("*.md")):
        file.write_bytes(data + file.read_bytes())
    contexts = [
        scene.ask(source=source, session_id=session, bootstrap=take_bootstrap(scene.settings, str(scene.home), NOW))
        for source, session in (("startup", "now"), ("resume", "yesterday"))
    ]
    told = orjson.dumps([context.context for context in contexts], default=str).decode()

    assert "\ufffd" not in told
    assert "\\u0000" not in told
    assert "Moved login to JWT" in told
