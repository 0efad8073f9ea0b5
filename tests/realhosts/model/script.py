"""What the model says: an answer or a tool call for each prompt, and obedience to what eventlog asks.

A prompt is recognised by words in it; the steps of its script follow each other as the tools answer. What eventlog asks
beside a prompt is done after them.
"""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from tests.realhosts.model.talk import Talk

OUR_REQUEST = "[eventlog]"  # what a request of eventlog begins with, in every host
TOPIC, SUMMARY, FACT = "The cart", "Prices of the cart became integers.", "Round half even, once per line item"

_KEPT = ("--session", "--agent", "--layer", "--store", "--project")
_COMMAND = re.compile(r"(?:^\s*|`)((?:[^\s`]*/)?eventlog (?:summary|fact) [^`\n]+)", re.MULTILINE)


class Say(NamedTuple):
    """Words, which end the turn."""

    text: str


class Run(NamedTuple):
    """One call of the host's shell tool."""

    command: str


class Save(NamedTuple):
    """Save with the commands the conversation gives, as told there; words where it gives none."""


Step = Say | Run | Save
Answer = Say | Run


class Script:
    """Which steps answer which prompt."""

    def __init__(self, *, obedient: bool = True) -> None:
        self.obedient = obedient
        self._rules: dict[str, Sequence[Step]] = {}

    def when(self, words: str, *steps: Step) -> None:
        """Answer the prompt that holds these words with these steps, then with a text."""
        self._rules[words] = steps

    def answer(self, talk: Talk) -> Answer:
        """The model's next step."""
        steps = [*self._steps(talk.prompt)]
        if self.obedient and OUR_REQUEST in talk.news and Save() not in steps:
            steps.append(Save())
        step = steps[talk.steps] if talk.steps < len(steps) else Say("Done; prices stay integers.")
        return saving(talk) if isinstance(step, Save) else step

    def _steps(self, prompt: str) -> Sequence[Step]:
        """Those of the rule whose words stand last: hosts put what hooks say before a prompt."""
        rules = {**self._rules, OUR_REQUEST: (Save(),) if self.obedient else ()}
        found = max(rules, key=prompt.rfind)
        return rules[found] if found in prompt else ()


def saving(talk: Talk) -> Answer:
    """The commands a conversation gives for saving, the newest of each kind, with words of the model's own."""
    given = {words[1]: words for words in map(_words, _COMMAND.findall(talk.text))}
    if not given:
        return Say("I was not told how to save.")
    own = {"summary": ["--topic", TOPIC, "--summary", SUMMARY], "fact": [FACT]}
    commands = [[*words[:2], *own[verb], *_options(words)] for verb, words in sorted(given.items(), reverse=True)]
    return Run(" && ".join(map(shlex.join, commands)))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _options(words: list[str]) -> list[str]:
    """The options that say whose conversation it is; placeholders are the model's to fill."""
    kept = [word for at, word in enumerate(words) if word in _KEPT or (at and words[at - 1] in _KEPT)]
    return [*kept, *(["--stage"] if "--stage" in words else [])]
