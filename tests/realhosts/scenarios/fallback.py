"""The last net: a conversation nobody saved is asked to, once. Sessions without a terminal end after each turn and get
a summary then, so here the first turn is enough to be asked: at its end, or with its prompt.
"""

from tests.realhosts.model.script import OUR_REQUEST, SUMMARY
from tests.realhosts.outcome import expect
from tests.realhosts.scene import Scene


def stop_obeyed(scene: Scene) -> str:
    """Ask once at the end of a turn; the agent saves, and the turn ends."""
    _ask_at_once(scene)
    turn = scene.answered("Fix the cart.")
    saved = [event for event in scene.events("stage_summary", turn.session) if event["summary"] == SUMMARY]
    expect(_requests(scene, turn.session) == 1, f"asked {_requests(scene, turn.session)} times, not once")
    expect(any(OUR_REQUEST in call.talk.text for call in turn.main), "the request never reached the model")
    expect(saved, f"asked, not saved; the model was told last: {turn.main[-1].talk.messages[-1].text[-200:]!r}")
    expect(saved[0].get("layer") == 4, f"saved as layer {saved[0].get('layer')}, not 4")
    scene.answered("Now the basket.", turn.session)
    expect(_requests(scene, turn.session) == 1, "asked again after it was saved")
    return f"{len(turn.main)} requests in that turn"


def stop_ignored(scene: Scene) -> str:
    """Ask an agent that does not obey no second time."""
    _ask_at_once(scene)
    scene.model.script.obedient = False
    turn = scene.answered("Fix the cart.")
    expect(_requests(scene, turn.session) == 1, f"asked {_requests(scene, turn.session)} times, not once")
    scene.answered("Now the basket.", turn.session)
    expect(_requests(scene, turn.session) == 1, "asked again after it was ignored")
    return ""


def _ask_at_once(scene: Scene) -> None:
    scene.install()
    scene.configure("save: {min_turns: 0}")


def _requests(scene: Scene, session: str) -> int:
    return sum(event["trigger"] == "stop" for event in scene.events("save_requested", session))
