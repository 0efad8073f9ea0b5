"""What an agent is told with a prompt: what bears on it, and with any other nothing."""

import itertools

from tests.realhosts.model.script import Call, Run, Step
from tests.realhosts.outcome import Skipped, expect
from tests.realhosts.scene import KNOWN, Scene, Turn

_ASKS = "In which column does the kingfisher nest?"
_PATCH = """apply_patch <<'EOF'
*** Begin Patch
*** Update File: README.md
@@
-# {before}
+# {after}
*** End Patch
EOF"""
_RULE = "README.md is written by hand"
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


def recall_before_file(scene: Scene) -> str:
    """Tell what was decided about a file when it is opened, once, where the user wants that."""
    steps = _opens(scene)
    scene.install()
    scene.configure("recall: {file: true, prompt: false}\ncontext: {budget_chars: 200}")
    scene.eventlog("install", scene.host.name)
    scene.eventlog("fact", _RULE, "--session", "earlier", "--project", str(scene.project))
    scene.model.script.when("read it", *steps)
    turn = scene.answered("Please read it.")
    told = [call.talk.text.count(_RULE) for call in turn.main]
    expect(told[:1] == [0], "it was told before the file was opened")
    expect(told[-1] == 1, f"the line stands {told[-1]} times in the last request, not once")
    receipts = [event for event in scene.events("context_injected", turn.session) if event.get("trigger") == "file"]
    expect(len(receipts) == 1, f"{len(receipts)} receipts, not one")
    return ""


def _opens(scene: Scene) -> list[Step]:
    """Open a file twice, as the host does it; raises Skipped."""
    match scene.host.name:
        case "claude":
            return [Call("Read", {"file_path": str(scene.project / "README.md")})] * 2
        case "codex":
            names = ("A shop", "The shop", "Our shop")
            return [Run(_PATCH.format(before=before, after=after)) for before, after in itertools.pairwise(names)]
        case _:
            raise Skipped("no hook of it speaks before a file is opened")


def _told(turn: Turn) -> int:
    return turn.main[0].talk.text.count(KNOWN)


def _receipts(scene: Scene, turn: Turn) -> int:
    return sum(event.get("trigger") == "prompt" for event in scene.events("context_injected", turn.session))
