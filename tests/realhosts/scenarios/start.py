"""What a session is given at its start, and what its turns leave in the log."""

from tests.realhosts.model.script import FACT, SUMMARY, Run, Save
from tests.realhosts.outcome import expect
from tests.realhosts.scene import KNOWN, Scene


def start(scene: Scene) -> str:
    """Give the model the context at the first prompt, once."""
    scene.install()
    turn = scene.answered("Hello, please fix the cart.")
    told = turn.main[0].talk.text
    expect(KNOWN in told, "the model was not told what is known")
    beginning = scene.beginning_of_context()
    expect(told.count(beginning) == 1, f"the context stands {told.count(beginning)} times in the request")
    (receipt,) = scene.events("context_injected", turn.session)
    return f"{receipt['chars']:,} characters"


def told_once(scene: Scene) -> str:
    """Tell a known fact once in a context."""
    scene.install()
    told = scene.answered("Hello, please fix the cart.").main[0].talk.text
    expect(told.count(KNOWN) == 1, f"the one known fact is told {told.count(KNOWN)} times")
    return ""


def save(scene: Scene) -> str:
    """Let the agent save by the tool it was told of, under its own id."""
    scene.install()
    return _save(scene)


def save_by_shell(scene: Scene) -> str:
    """Let the agent save through its shell tool, with the commands it was told, under its own id."""
    scene.install("--no-mcp")
    return _save(scene)


def _save(scene: Scene) -> str:
    scene.model.script.when("save it", Save())
    turn = scene.answered("Fix the cart, then save it.")
    expect(len(turn.main) > 1, "the agent had no command to save with, or no tool to run it")
    answer = turn.main[-1].talk.messages[-1].text
    summaries, facts = scene.events("stage_summary", turn.session), scene.events("fact", turn.session)
    expect(summaries, f"no summary in the log; the tool said: {answer.strip()[-200:]}")
    expect([event["summary"] for event in summaries] == [SUMMARY], "another summary than the agent's")
    expect([event["content"] for event in facts] == [FACT], "the fact is not in the log")
    expect({event["agent"] for event in (*summaries, *facts)} == {scene.host.agent}, "saved under another agent's name")
    expect({event["project"] for event in (*summaries, *facts)} == {str(scene.project)}, "saved for another project")
    return ""


def four_turns(scene: Scene) -> str:
    """Record four turns of a conversation as four, all under one id."""
    scene.install()
    scene.configure("save: {stop_fallback: never}")  # a request of ours would be a turn, too
    turn = scene.answered("Turn one.")
    for prompt in ("Turn two.", "Turn three.", "Turn four."):
        turn = scene.answered(prompt, turn.session)
    ended = scene.wait_for("turn_end", turn.session, 4)
    expect(len(scene.events("turn_end")) == len(ended), "some turns stand under another id")
    expect(len(ended) == 4, f"{len(ended)} of 4 turns are in the log")
    return ""


def no_false_flush(scene: Scene) -> str:
    """Record no flush where nothing was compacted."""
    scene.install()
    scene.model.script.when("fix the cart", Run("git status --short"))
    turn = scene.answered("Please fix the cart.")
    flushes = [event for event in scene.events("save_requested", turn.session) if event["trigger"] == "pre_compact"]
    expect(not flushes, f"save requests before compactions that never were: {len(flushes)} in one turn")
    return ""


def own_words(scene: Scene) -> str:
    """Take none of our own words for the user's, nor those of a file that a prompt names."""
    scene.install()
    (scene.project / "notes.md").write_text("The walrus sings at noon.\n")
    turn = scene.answered("Please fix the cart as in @notes.md")
    beginning = scene.beginning_of_context()
    printed = scene.eventlog("query", "--session", turn.session, "--format", "jsonl")
    ours = [line for line in printed.splitlines() if beginning in line]
    expect(not ours, f"{len(ours)} events hold {beginning!r}, the beginning of our context")
    asked = [event["payload"].get("prompt", "") for event in scene.events("host_event", turn.session)]
    expect(not any("walrus" in words for words in asked), f"a file stands among the user's words: {asked[:1]!r}")
    return ""


def drawn_summary(scene: Scene) -> str:
    """Draw a summary of a session nobody saved: what was asked, done, and said last.

    Where the host tells of no end, that is done when the session has been silent for hours.
    """
    scene.install()
    scene.model.script.when("fix the cart", Run('git commit --allow-empty -m "Make prices integers"'))
    turn = scene.answered("Please fix the cart.")
    if not scene.host.tells_of_ends:
        scene.let_hours_pass()
    summaries = scene.wait_for("stage_summary", turn.session)
    expect(summaries, "no summary was drawn")
    topic, text = summaries[-1]["topic"], summaries[-1]["summary"]
    expect(topic.startswith("Please fix the cart"), f"its topic is not what the user asked: {topic[:80]!r}")
    expect("Make prices integers" in text, f"it lacks what was committed: {text[:120]!r}")
    expect("prices stay integers" in text, f"it lacks how the session ended: {text[:120]!r}")
    return "" if scene.host.tells_of_ends else "after hours of silence: it tells of no end"
