"""Behaviours that show only where a person sits at the host."""

import re

from tests.realhosts.model.script import OUR_REQUEST, SUMMARY
from tests.realhosts.outcome import expect
from tests.realhosts.scene import ENOUGH, KNOWN, Scene
from tests.realhosts.terminal.screen import Terminal

_ALARM = re.compile(r".*(?:problem|failed|blocked|error).*", re.IGNORECASE)


def asked_once(scene: Scene) -> str:
    """Ask once, after the third turn of a conversation nobody saved; it is saved, and a turn stays a turn."""
    scene.install()
    with Terminal(scene) as terminal:
        for prompt in ("Turn one.", "Turn two.", "Turn three.", "Turn four."):
            terminal.say(prompt)
    asked = [event for event in scene.events("save_requested") if event["trigger"] == "stop"]
    saved = [event for event in scene.events("stage_summary") if event["summary"] == SUMMARY]
    expect(len(asked) == 1, f"asked {len(asked)} times, not once")
    expect(len(saved) == 1, f"saved {len(saved)} times after it was asked")
    turns = len(scene.events("turn_end"))
    expect(turns == 4, f"{turns} of 4 turns are in the log")
    return ""


def asked_kindly(scene: Scene) -> str:
    """Ask without a word of alarm on the person's screen."""
    scene.install()
    scene.configure("save: {min_turns: 0}")
    with Terminal(scene) as terminal:
        calls = terminal.say("Fix the cart.")
        alarms = [match.strip() for match in _ALARM.findall(terminal.screen)]
    expect(any(OUR_REQUEST in call.talk.text for call in calls), "the request never reached the model")
    expect(not alarms, f"on the screen: {'; '.join(alarms)[:300]!r}")
    return ""


def compacted(scene: Scene) -> str:
    """Give the context again after a compaction the person asked for."""
    scene.install()
    scene.model.tokens = ENOUGH
    with Terminal(scene) as terminal:
        terminal.say("Fix the cart.")
        terminal.say("And the basket.")
        terminal.type(scene.host.compact)
        after = terminal.say("What next?")
    expect(KNOWN in after[0].talk.text, "the request after the compaction held no context")
    return ""


def cleared(scene: Scene) -> str:
    """Give the context to the conversation after a clear, under its own id, once."""
    scene.install()
    with Terminal(scene) as terminal:
        terminal.say("Fix the cart.")
        terminal.type("/clear")
        after = terminal.say("What next?")[0].talk
    sessions = {event["conversation_id"] for event in scene.events("session_start")}
    expect("Fix the cart." not in after.prompt, "the host did not clear the conversation")
    expect(KNOWN in after.text, "the request after the clear held no context")
    expect(len(sessions) == 2, f"{len(sessions)} conversations in the log, not 2")
    return ""


def left(scene: Scene) -> str:
    """Record the end of a conversation the person leaves, once."""
    scene.install()
    with Terminal(scene) as terminal:
        terminal.say("Fix the cart.")
        terminal.type(scene.host.quit)
        ends = scene.wait_for("session_end")
    expect(len(ends) == 1, f"{len(ends)} ends in the log")
    return ""
