"""Conversations that go on: resumed, compacted, side by side."""

from concurrent.futures import ThreadPoolExecutor

from tests.realhosts.model.script import Run, Save
from tests.realhosts.outcome import Skipped, expect
from tests.realhosts.scene import ENOUGH, KNOWN, Scene, Turn


def resume_twice(scene: Scene) -> str:
    """Record two resumes shortly after each other, and give the context to each."""
    scene.install()
    turns = [scene.answered("First.")]
    turns += [scene.answered(prompt, turns[0].session) for prompt in ("Second.", "Third.")]
    starts = scene.events("session_start", turns[0].session)
    without = [at for at, turn in enumerate(turns, 1) if KNOWN not in turn.main[0].talk.text]
    expect(not without, f"no context in turn {' and '.join(map(str, without))} of 3")
    expect(len(starts) == 3, f"{len(starts)} of 3 starts are in the log")
    return ""


def compaction(scene: Scene) -> str:
    """Record a compaction; the agent has its context after it, be it told again or kept by the host."""
    turn = _compacted(scene)
    after = scene.answered("What next?", turn.session)
    asked = [event["trigger"] for event in scene.events("save_requested", turn.session)]
    expect("pre_compact" in asked, "the compaction is not in the log")
    sources = [event["source"] for event in scene.events("session_start", turn.session)]
    expect("compact" in sources, f"the host compacted nothing: it tells of starts by {', '.join(sources)}")
    expect(KNOWN in after.main[0].talk.text, "the request after the compaction held no context")
    return ""


def _compacted(scene: Scene) -> Turn:
    """A conversation right after its compaction."""
    if scene.host.name not in ("claude", "codex", "qwen"):
        raise Skipped("compacts only in its terminal")
    scene.install()
    scene.model.tokens = ENOUGH
    turn = scene.answered("Fix the cart.")
    if scene.host.name != "codex":
        scene.say(scene.host.compact, turn.session)
        return turn
    scene.model.tokens = 900_000  # more than any window: it compacts before the next prompt
    turn = scene.answered("Now the basket.", turn.session)
    scene.model.tokens = 110
    return scene.answered("And the wheel.", turn.session)


def parallel(scene: Scene) -> str:
    """Keep two sessions of one project apart that run side by side."""
    scene.install()
    prompts = ("Fix the left cart.", "Fix the right cart.")
    for prompt in prompts:
        scene.model.script.when(prompt, Run("sleep 1"), Save())
    with ThreadPoolExecutor(2) as pool:
        turns = list(pool.map(scene.say, prompts))
    sessions = {turn.session for turn in turns}
    expect(len(sessions) == 2, "the host gave both one id")
    for session in sessions:
        saved = len(scene.events("stage_summary", session)), len(scene.events("fact", session))
        expect(saved == (1, 1), f"{saved[0]} summaries and {saved[1]} facts under one id, not one of each")
    scene.eventlog("verify")
    return ""
