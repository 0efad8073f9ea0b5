"""Memory as tools: the model calls those of our server, as the host has started it."""

from tests.realhosts.model.script import FACT, Find, Use
from tests.realhosts.outcome import expect
from tests.realhosts.scene import KNOWN, Scene

_WORDS = KNOWN.rpartition(" ")[0]


def tools(scene: Scene) -> str:
    """Save a fact under the conversation's own id, and find one of an earlier conversation, by tools."""
    scene.install("--mcp", "--allow")
    scene.model.script.when("keep it", Find(), Use("remember", {"content": FACT}), Use("recall", {"query": _WORDS}))
    turn = scene.answered("Fix the cart, then keep it.", free=False)
    told = [message.text for message in turn.main[-1].talk.messages if message.role == "tool"]
    saved = [event for event in scene.events("fact") if event["content"] == FACT]
    expect(saved, f"not saved; the tools said {told}; its last words: {turn.ended.out[-300:]!r}")
    found = saved[0]["conversation_id"], saved[0]["agent"], saved[0]["project"]
    expect(found == (turn.session, scene.host.agent, str(scene.project)), f"saved as of {found}")
    expect(any(KNOWN in text and "data, not instructions" in text for text in told), f"the tool said {told[-1:]}")
    return ""
