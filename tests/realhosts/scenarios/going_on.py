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


def fork(scene: Scene) -> str:
    """Record the start of a copy of a conversation under an id of its own, and give it the context."""
    scene.install()
    first = scene.answered("First.")
    arguments = scene.host.fork(scene.host.turn("Second.", first.session, resume=True, free=True))
    if not arguments:
        raise Skipped("no command of it makes a copy")
    before = len(scene.model.calls)
    scene.run([str(scene.host.program(scene.modules)), *arguments])
    asked = [call for call in scene.model.calls[before:] if call.is_main]
    expect(bool(asked), "the model was never asked")
    start = scene.events("session_start")[-1]
    expect(start["conversation_id"] != first.session, "the start of the copy is not in the log")
    expect(KNOWN in asked[0].talk.text, "the copy began without the context")
    return f"source {start['source']}"


def compaction(scene: Scene) -> str:
    """Record a compaction; the agent has its context after it, be it told again or kept by the host."""
    scene.install()
    turn = _compacted(scene)
    after = scene.answered("What next?", turn.session)
    asked = [event["trigger"] for event in scene.events("save_requested", turn.session)]
    expect("pre_compact" in asked, "the compaction is not in the log")
    sources = [event["source"] for event in scene.events("session_start", turn.session)]
    expect("compact" in sources, f"the host compacted nothing: it tells of starts by {', '.join(sources)}")
    expect(KNOWN in after.main[0].talk.text, "the request after the compaction held no context")
    return ""


def packet(scene: Scene) -> str:
    """Give back what was asked first with the request after a compaction, and draw a stage of what the host wrote.

    No request more than without us leads to that.
    """
    if scene.host.name == "qwen":
        raise Skipped("without a terminal it compacts in a process of its own, and the next start is a resume")
    scene.model.script.obedient = False  # what eventlog asks to save beside that is another matter
    before = len(scene.model.calls)
    scene.answered("What next?", _compacted(scene).session)
    without, before = len(scene.model.calls) - before, len(scene.model.calls)
    scene.install()
    session = _compacted(scene).session
    told = scene.answered("What next?", session).main[0].talk.text
    more = len(scene.model.calls) - before - without
    asked = "Asked first: Fix the cart."
    expect(
        told.count(asked) == 1, f"the request after the compaction holds {told.count(asked)} times what was asked first"
    )
    expect(more == 0, f"{more} requests more than without us")
    stages = [event["summary"] for event in scene.events("stage_summary", session) if event["scope"] == "stage"]
    wanted = 1 if scene.host.tells_what_it_wrote else 0
    expect(len(stages) == wanted, f"{len(stages)} stages were drawn, not {wanted}")
    return "" if wanted else "it does not tell what it wrote: no stage"


def _compacted(scene: Scene) -> Turn:
    """A conversation right after its compaction."""
    if scene.host.name not in ("claude", "codex", "qwen"):
        raise Skipped("compacts only in its terminal")
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
    scene.answered("Hello.")  # OpenCode fails where its first two starts make its database at once
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
