"""What an agent is told with a prompt: what bears on it, and with any other nothing."""

from tests.realhosts.outcome import expect
from tests.realhosts.scene import KNOWN, Scene, Turn

_ASKS = "In which column does the kingfisher nest?"
_FOREIGN = "Please rename the README of the shop."


def recall(scene: Scene) -> str:
    """Tell what bears on a prompt with it, once in a conversation; with an unrelated prompt nothing."""
    scene.install()
    scene.configure("context: {budget_chars: 200}")  # so that the start leaves something to be told
    foreign = scene.answered(_FOREIGN)
    expect(not _told(foreign), "an unrelated prompt was told something")
    expect(_receipts(scene, foreign) == 0, "nothing was told, and there is a receipt for it")
    asked = scene.answered(_ASKS)
    expect(_told(asked) == 1, f"the line stands {_told(asked)} times in the request, not once")
    again = scene.answered(_ASKS, asked.session)
    expect(_told(again) <= 1, f"asked again, the line stands {_told(again)} times in the request")
    expect(_receipts(scene, asked) == 1, f"{_receipts(scene, asked)} receipts of one conversation, not one")
    return f"{_told(again)} ×, asked again"


def _told(turn: Turn) -> int:
    return turn.main[0].talk.text.count(KNOWN)


def _receipts(scene: Scene, turn: Turn) -> int:
    return sum(event.get("trigger") == "prompt" for event in scene.events("context_injected", turn.session))
