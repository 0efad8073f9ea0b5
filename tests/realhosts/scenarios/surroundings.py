"""What surrounds a conversation: a plugin in the place of an installation, other hosts, worktrees, a model that fails."""

import json

from tests.realhosts.hosts import HOSTS
from tests.realhosts.model.script import FACT, Refuse, Save
from tests.realhosts.outcome import Skipped, expect
from tests.realhosts.scene import KNOWN, Scene

_LOOKS_FOR_TOOLS = ("ToolSearch", "tool_search", "tool_call")


def plugin(scene: Scene) -> str:
    """Install the plugin by the host's own commands: context and tools; beside `install` once; removed, nothing."""
    if not scene.host.removes:
        raise Skipped("it takes no plugin of ours")
    place = scene.home.parent / "plugin"
    built = json.loads(scene.eventlog("plugin", "build", str(place), "--json"))
    scene.eventlog("fact", KNOWN, "--session", "earlier", "--project", str(scene.project))
    scene.shell(scene.host.consenting(built["install"][_name(scene)]))
    _expect_context_and_tools(scene, "Hello from the plugin.")
    scene.eventlog("install", scene.host.name)
    _expect_context_and_tools(scene, "Hello from both.")
    scene.eventlog("uninstall", scene.host.name)
    scene.shell(scene.host.removes)
    before = len(scene.events("session_start"))
    scene.answered("Hello from nobody.")
    expect(len(scene.events("session_start")) == before, "its hooks are called after it was removed")
    return ""


def _expect_context_and_tools(scene: Scene, prompt: str) -> None:
    turn = scene.answered(prompt)
    told, tools = turn.main[0].talk.text, turn.main[0].talk.tools
    expect(told.count(KNOWN) == 1, f"{prompt} The known fact is told {told.count(KNOWN)} times")
    saving = [name for name in tools if "eventlog" in name and name.endswith("remember")]
    expect(len(saving) <= 1, f"{prompt} Its agent has a tool twice: {saving}")
    is_there = any("eventlog" in name for name in tools) or any(name in _LOOKS_FOR_TOOLS for name in tools)
    expect(is_there, f"{prompt} No tool of ours among {', '.join(tools)}")
    starts = scene.events("session_start", turn.session)
    expect(len(starts) == 1, f"{prompt} {len(starts)} starts are in the log")
    expect(starts[0]["agent"] == scene.host.agent, f"{prompt} Recorded under {starts[0]['agent']}")


def _name(scene: Scene) -> str:
    """The host as its profile names it."""
    return {"copilot": "GitHub Copilot CLI"}.get(scene.host.name, scene.host.title)


def cross_host(scene: Scene) -> str:
    """Tell another host, started right after, what the first one saved in this repository."""
    names = [*HOSTS]
    other = scene.with_host(HOSTS[names[(names.index(scene.host.name) + 1) % len(names)]])
    scene.install()
    other.install()
    scene.model.script.when("save it", Save())
    turn = scene.answered("Fix the cart, then save it.")
    expect(scene.events("fact", turn.session), "the first host saved nothing")
    told = other.answered("Hello, what is next?").main[0].talk.text
    expect(FACT in told, f"{other.host.title} was not told what {scene.host.title} saved")
    agents = {event["agent"] for event in scene.events("session_start")}
    expect({scene.host.agent, other.host.agent} <= agents, f"sessions stand under {', '.join(sorted(agents))}")
    return f"told {other.host.title}"


def worktree(scene: Scene) -> str:
    """Count a worktree to its repository: what is known there is told, what is saved belongs to it."""
    scene.install()
    scene.run(["git", "worktree", "add", "-q", "-b", "side", "trees/side"])
    scene.where = scene.project / "trees" / "side"
    scene.model.script.when("save it", Save())
    turn = scene.answered("Fix the cart, then save it.")
    expect(KNOWN in turn.main[0].talk.text, "the session in a worktree is not told what is known of its repository")
    saved = {
        event["project"]
        for event in (*scene.events("fact", turn.session), *scene.events("session_start", turn.session))
    }
    expect(saved == {str(scene.project)}, f"saved for {', '.join(sorted(saved))}")
    return ""


def api_error(scene: Scene) -> str:
    """Record a turn that the model's error ended, and tell the next session what was asked in it."""
    scene.install()
    scene.configure("save: {stop_fallback: never}")
    scene.model.script.when("wallet page", Refuse())
    turn = scene.say("Work on the wallet page.")
    expect(turn.calls, "the model was never asked")
    scene.model.script.when("wallet page")
    (begun,) = scene.events("session_start")
    ended = [event["status"] for event in scene.events("turn_end", begun["conversation_id"])]
    expect(not scene.host.tells_of_failures or ended == ["error"], f"the turn ended as {ended}")
    scene.wait_for("stage_summary", begun["conversation_id"])  # drawn in the background
    told = scene.answered("Hello.").main[0].talk.text
    expect("wallet page" in told, "the next session is not told what the failed one was asked")
    return "" if ended else "it tells of no end of such a turn"
