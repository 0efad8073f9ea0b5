"""What a user meets in the third week: texts like code, changes of USER.md, helpers, crashes, what the next session knows."""

import time

from tests.realhosts.model.script import TOLD_TOOL, Call, Fact, Find, Run, Use
from tests.realhosts.outcome import expect
from tests.realhosts.scene import KNOWN, SETTLING, Scene

NASTY = (
    "After a schema change run `touch ran` first; it costs $5 per run", "a $(touch ran) b", "${HOME} $HOME $5 $$ $?",
    "x; touch ran", "x && touch ran", "x | touch ran", "x > ran", "x & touch ran &", "don't `touch ran`",
    "it's $(touch ran) \"quoted\" 'both'", "'; touch ran; '", "' $(touch ran) '", "\\' \\\\ \\n",
    "two\nlines\n`touch ran`", "~ * ? [a] {a,b} # no comment", "- one\n- it's two", "端口是 8443：`touch ran`",
    "tab\tand  two spaces", "<b>it's</b> <<'X'", "4 kB of `touch ran`: " + "$(touch ran) " * 320 + "end",
)  # fmt: skip
_UNTIL_HELPERS_ARE_DONE = "sleep 8  # intentional-sleep: for the helpers"  # Qwen Code allows no other sleep


def nasty(scene: Scene) -> str:
    """Store texts that look like code byte for byte, by the way the agent was told; no shell runs any of them."""
    return _nasty(scene, "--allow")


def nasty_by_shell(scene: Scene) -> str:
    """The same with the commands of an installation without tools; what the host refuses is refused visibly."""
    return _nasty(scene, "--no-mcp", "--allow")


def no_allow(scene: Scene) -> str:
    """The same texts without --allow and the user's consent: saved, or refused visibly; never said to be saved and lost."""
    return _nasty(scene)


def no_allow_by_shell(scene: Scene) -> str:
    """The same without tools."""
    return _nasty(scene, "--no-mcp")


def _nasty(scene: Scene, *installed: str) -> str:
    scene.install(*installed)
    scene.model.script.obedient = False  # what eventlog asks for beside these texts is another matter
    stored = refused = 0
    for first in range(0, len(NASTY), 5):
        texts = NASTY[first : first + 5]
        scene.model.script.when("Keep these", *map(Fact, texts))
        turn = scene.say("Keep these.", free=False)
        if not turn.main and "--allow" not in installed:
            return "its agent is offered no tool that would have to ask"
        expect(turn.main, f"the model was never asked; the host ended with {turn.ended.code}")
        kept = {event["content"] for event in scene.events("fact", turn.session)}
        answers = [message.text for message in turn.main[-1].talk.messages if message.role == "tool"]
        odd = sorted(kept - {text.rstrip("\n") for text in texts} - {*texts})
        expect(not odd, f"stored otherwise than said: {odd[:2]!r}")
        lost = [text for text in texts if text not in kept]
        silent = [answer for answer in answers if '"status": "ok"' in answer or "Saved: " in answer]
        expect(len(silent) <= len(kept), f"said to be saved, and is not: {lost[:2]!r}; the tool said {answers[-1:]!r}")
        stored, refused = stored + len(kept), refused + len(lost)
    made = [str(path) for root in (scene.project, scene.home) for path in root.rglob("ran*") if path.name == "ran"]
    expect(not made, f"a shell ran what a text said: {made}")
    return f"{stored} stored, {refused} refused"


def named_tool(scene: Scene) -> str:
    """Name our tool before any command in what the model is given, in the default installation."""
    scene.install()
    told = scene.answered("Hello, please fix the cart.").main[0].talk.text
    expect(TOLD_TOOL in told, "the tool is not named")
    command = told.find("eventlog fact")
    expect(command < 0 or told.index(TOLD_TOOL) < command, "a command is named before the tool")
    expect("eventlog summary" not in told, "commands are told beside the tool")
    return ""


def plan(scene: Scene) -> str:
    """Change a section of USER.md by the tool, and keep what a person wrote in it."""
    user = scene.home / ".config" / "agents" / "USER.md"
    user.parent.mkdir(parents=True)
    user.write_text("# Ada\n\n## Communication\n\n- Be brief.\n\n## Tools\n\n- make\n")
    scene.install("--allow")
    wanted = {"kind": "section", "about": "user", "heading": "Communication"}
    change = Use("remember", {**wanted, "content": "- Be brief.\n- Answer in Swahili."})
    scene.model.script.when("Swahili", Find(), change)
    turn = scene.answered("From now on answer me in Swahili.", free=False)
    expect("USER.md" in turn.main[0].talk.text, "nobody told the model how to change USER.md")
    planned = scene.wait_for("plan_entry", turn.session)
    answers = [message.text for message in turn.main[-1].talk.messages if message.role == "tool"]
    expect(planned, f"nothing was planned; the tools said {answers!r}")
    end = time.monotonic() + SETTLING
    while "Swahili" not in user.read_text() and time.monotonic() < end:
        scene.eventlog("settle")
    said = user.read_text()
    expect("- Be brief.\n- Answer in Swahili.\n" in said, f"USER.md holds {said!r}")
    expect(said.startswith("# Ada\n") and said.endswith("## Tools\n\n- make\n"), f"USER.md holds {said!r}")
    return ""


def helpers(scene: Scene) -> str:
    """Give a helper what is known with its first request, where its host lets a hook, and ask it nothing."""
    return _helpers(scene, 1, background=False)


def background_helpers(scene: Scene) -> str:
    """Count one prompt with five helpers in the background as one turn, and ask nobody to save."""
    return _helpers(scene, 5, background=True)


def _helpers(scene: Scene, count: int, *, background: bool) -> str:
    tool, key, arguments = scene.host.helper
    scene.install()
    more = scene.host.in_background if background else {}
    asked = [f"Where does the kingfisher nest, number {number}?" for number in range(count)]
    calls = [Call(tool, {**arguments, **more, key: prompt}) for prompt in asked]
    scene.model.script.when("Look everywhere", *calls, Run(_UNTIL_HELPERS_ARE_DONE))
    turn = scene.answered("Look everywhere.")
    began = [next((call for call in turn.main if prompt in call.talk.prompt), None) for prompt in asked]
    expect(all(began), f"{sum(map(bool, began))} of {count} helpers asked the model")
    told = [call.talk.text for call in began if call]
    expect(not any(TOLD_TOOL in text or "eventlog fact" in text for text in told), "a helper was told to save")
    knew = sum(KNOWN in text for text in told)
    expect(knew == (count if scene.host.tells_helpers else 0), f"{knew} of {count} helpers were told what is known")
    turns, requests = scene.events("turn_end", turn.session), scene.events("save_requested", turn.session)
    expect(len(turns) == 1, f"{len(turns)} turns are in the log")
    expect(not requests, "somebody was asked to save")
    machines = sum(event["name"] == "MachinePrompt" for event in scene.events("host_event", turn.session))
    notes = [
        "" if scene.host.tells_helpers else "its helpers are told nothing",
        f"{machines} prompts of the host" * bool(machines),
    ]
    return "; ".join(filter(None, notes))


def killed(scene: Scene) -> str:
    """Name what a host was asked that was killed in mid-turn at the next start, and draw its session after that."""
    scene.install()
    scene.configure("save: {stop_fallback: never}")
    session = scene.killed("Work on the wallet page.")
    told = scene.answered("Hello.").main[0].talk.text
    expect("wallet page" in told, "the next session is not told what the killed one was asked")
    texts = scene.wait_for("conversation_text", session)
    expect(texts, "nothing was drawn of the session that was killed")
    return ""


def next_session_tells(scene: Scene) -> str:
    """Tell the next session what the last one was about."""
    scene.install()
    scene.configure("save: {stop_fallback: never}")
    first = scene.answered("Work on the wallet page.")
    scene.answered("And its tests.", first.session)
    if not scene.host.tells_of_ends:
        scene.eventlog("settle")  # it sees that the host is gone, as the next start would
    scene.wait_for("conversation_text", first.session)
    told = scene.answered("Hello.").main[0].talk.text
    expect("wallet page" in told, "the next session is not told what the last one was about")
    return ""
