"""What the model says: an answer or a tool call for each prompt, and obedience to what eventlog asks.

A prompt is recognised by words in it; the steps of its script follow each other as the tools answer. What eventlog asks
beside a prompt is done after them.
"""

import re
import shlex
import time
from collections.abc import Sequence
from typing import NamedTuple

from tests.realhosts.model.talk import JSON, Talk

OUR_REQUEST = "[eventlog]"  # what a request of eventlog begins with, in every host
TOPIC, SUMMARY, FACT = "The cart", "Prices of the cart became integers.", "Round half even, once per line item"

TOLD_TOOL = "`remember`"  # how our texts name the tool
_SEARCHES = ("ToolSearch", "tool_search")  # tools by which a model finds those that are held back
_CALL = "tool_call"  # the tool that calls one of those, where they stay so
_KEPT = ("--session", "--agent", "--layer", "--store", "--project")
_COMMAND = re.compile(r"(?:^\s*|`)((?:[^\s`]*/)?eventlog (?:summary|fact) [^`\n]+)", re.MULTILINE)


class Say(NamedTuple):
    """Words, which end the turn."""

    text: str


class Run(NamedTuple):
    """One call of the host's shell tool."""

    command: str


class Use(NamedTuple):
    """One call of a tool of ours; hosts put names of their own before its name."""

    tool: str
    arguments: JSON


class Call(NamedTuple):
    """One call of a tool of the host, by its own name."""

    tool: str
    arguments: JSON


class Find(NamedTuple):
    """Look for our tools, where the host holds them back until they are looked for."""


class Save(NamedTuple):
    """Save as the conversation says: by tool where it names ours, else with its commands; words where it says nothing."""


class Fact(NamedTuple):
    """Save this text as a fact, as the conversation says: by tool, else with its command, filled in as told."""

    text: str


class Refuse(NamedTuple):
    """Answer the request with an error that no host tries again."""

    message: str = "the model refuses this request"


class Hang(NamedTuple):
    """Think for so many seconds before the answer."""

    seconds: float


Step = Say | Run | Use | Call | Find | Save | Fact | Hang | Refuse
Answer = Say | Run | Use


class Script:
    """Which steps answer which prompt."""

    def __init__(self, *, obedient: bool = True) -> None:
        self.obedient = obedient
        self._rules: dict[str, Sequence[Step]] = {}

    def when(self, words: str, *steps: Step) -> None:
        """Answer the prompt that holds these words with these steps, then with a text."""
        self._rules[words] = steps

    def answer(self, talk: Talk) -> Answer | Refuse:
        """The model's next step."""
        steps = [*self._steps(talk.prompt)]
        if self.obedient and OUR_REQUEST in talk.news and not any(isinstance(step, Save) for step in steps):
            steps.append(Save())
        steps = [each for step in steps for each in by_tool(talk, step) if not isinstance(each, Find) or _search(talk)]
        step = steps[talk.steps] if talk.steps < len(steps) else Say("Done; prices stay integers.")
        match step:
            case Save() | Fact():
                return filled(talk, step.text) if isinstance(step, Fact) else saving(talk)
            case Hang():
                time.sleep(step.seconds)
                return Say("That took long.")
            case Find():
                return Use(_search(talk), {"query": "eventlog"})
            case Use():
                return using(talk, step)
            case Call():
                return Use(step.tool, step.arguments)
            case _:
                return step

    def _steps(self, prompt: str) -> Sequence[Step]:
        """Those of the rule whose words stand last: hosts put what hooks say before a prompt."""
        rules = {**self._rules, OUR_REQUEST: (Save(),) if self.obedient else ()}
        found = max(rules, key=prompt.rfind)
        return rules[found] if found in prompt else ()


def by_tool(talk: Talk, step: Step) -> Sequence[Step]:
    """What a step comes to where the conversation says to save by tool; else the step itself."""
    if TOLD_TOOL not in talk.text or not isinstance(step, Save | Fact):
        return (step,)
    if isinstance(step, Fact):
        return Find(), Use("remember", {"content": step.text})
    summary = Use("remember", {"kind": "summary", "topic": TOPIC, "content": SUMMARY})
    return Find(), summary, Use("remember", {"content": FACT})


def filled(talk: Talk, text: str) -> Answer:
    """The newest command for a fact with a text in the place of the example, in single quotes or as a here-document."""
    given = [line.strip() for line in talk.text.splitlines() if re.match(r"\s*\S*eventlog fact ", line)]
    if not given:
        return Say("I was not told how to save.")
    head, _, rest = given[-1].partition("'")
    tail = rest.partition("'")[2]
    if "'" not in text:
        return Run(f"{head}'{text}'{tail}")
    return Run(f"{head}-{tail} <<'EOF'\n{text}\nEOF")


def saving(talk: Talk) -> Answer:
    """The commands a conversation gives for saving, the newest of each kind, with words of the model's own."""
    given = {words[1]: words for words in map(_words, _COMMAND.findall(talk.text))}
    if not given:
        return Say("I was not told how to save.")
    own = {"summary": ["--topic", TOPIC, "--summary", SUMMARY], "fact": [FACT]}
    commands = [[*words[:2], *own[verb], *_options(words)] for verb, words in sorted(given.items(), reverse=True)]
    return Run(" && ".join(map(shlex.join, commands)))


def using(talk: Talk, wanted: Use) -> Answer:
    """A call of the tool by the name the host gives it; words where it is not among those the model may call."""
    names = [name for name in talk.tools if "eventlog" in name and name.endswith(wanted.tool)]
    if wanted.tool in talk.tools and any("eventlog" in name for name in talk.tools):  # within a namespace of ours
        names.append(wanted.tool)
    if not names and _CALL in talk.tools:
        return Use(_CALL, {"name": f"mcp__eventlog__{wanted.tool}", "arguments": wanted.arguments})
    return wanted._replace(tool=names[0]) if names else Say(f"No {wanted.tool} among {', '.join(talk.tools)}")


def _search(talk: Talk) -> str:
    return next((name for name in _SEARCHES if name in talk.tools), "")


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _options(words: list[str]) -> list[str]:
    """The options that say whose conversation it is; placeholders are the model's to fill."""
    kept = [word for at, word in enumerate(words) if word in _KEPT or (at and words[at - 1] in _KEPT)]
    return [*kept, *(["--stage"] if "--stage" in words else [])]
