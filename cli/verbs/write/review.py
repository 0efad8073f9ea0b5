"""Decide about one line after another: `eventlog review`."""

import sys
from collections.abc import Iterator, Sequence

import click

from eventlog.app.ask.review import ReviewLine, review
from eventlog.app.build.staging import StagedEntry
from eventlog.app.open_store import OpenStore
from eventlog.app.write.correct import correctable, edit
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.resolve import Choice, decide
from eventlog.cli import options
from eventlog.cli.progress import phase
from eventlog.cli.show.changes import show_waiting
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import count, edited, emit, hang, is_terminal, print_error, print_lines, say, styled, table
from eventlog.format.errors import EventLogError
from eventlog.format.events import Event
from eventlog.format.text import last_mention, one_line, project_name
from eventlog.store import Store

_LISTED = 50  # lines in a pipe
_KEYS = ("y", "n", "e", "s", "q", "?")
_WORDS = {"yes": "y", "no": "n", "edit": "e", "skip": "s", "quit": "q", "help": "?"}
_QUESTIONS = {
    "waits": "write it into the file?",
    "contradicts": "keep the first and forget the others?",
    "old": "is it still true?",
    "repeated": "keep it?",
}
_HELP = {
    "waits": "y write it, n discard it, e edit it first",
    "contradicts": "y keep the first and forget the others, n forget the first, e edit the first",
    "old": "y say it again today, n forget it, e edit it",
    "repeated": "y keep it, n forget it, e edit it",
}


@options.verb("eventlog review", "eventlog review --all-projects", "eventlog review --json")
@options.scope
def _review_command(project: str | None, as_json: bool, store: Store) -> None:
    """Decide about each thing in turn: what waits, what contradicts, what is older than 60 days, what is repeated most.

    Asks y, n, e (edit), s (skip) or q (quit) for each, and carries it out at once; `eventlog undo` undoes the last.
    Without a terminal, prints the first 50.
    """
    opened, display = options.open_store(store), Display(store)
    with phase():
        waiting, lines = review(opened, project)
    if as_json:
        emit(
            {"waiting": [each.as_fields() for each in waiting], "lines": [line._asdict() for line in lines]},
            pretty=True,
        )
    elif not (waiting or lines):
        say("nothing to decide")
    elif is_terminal() and sys.stdin.isatty():
        asked = (_Line(opened, line, display) for line in lines)
        _ask_each([*(_Waiting(opened, each) for each in waiting), *asked], display)
    else:
        table(_rows(waiting, lines[:_LISTED], display), concern=0, place=0, said=0, text=0)
        if len(lines) > _LISTED:
            say(f"and {len(lines) - _LISTED:,} more: --json lists all")


def _rows(waiting: Sequence[StagedEntry], lines: Sequence[ReviewLine], display: Display) -> Iterator[tuple[str, ...]]:
    for staged in waiting:
        yield "waits", staged.entry.id, f"{display.local(staged.entry.ts):%Y-%m-%d}", staged.section
    for line in lines:
        yield (
            line.concern,
            line.place,
            last_mention(f"{display.local(line.last):%Y-%m-%d}", line.times, is_doubtful=False),
            " | ".join((line.text, *line.against)),
        )


def _ask_each(asked: "Sequence[_Waiting | _Line]", display: Display) -> None:
    """Ask about everything in turn, until the person quits."""
    decided = 0
    for number, step in enumerate(asked, 1):
        print_lines([styled(f"({number}/{len(asked)}) {step.concern}", bold=True)])
        step.show()
        key = _key(step.concern)
        if key == "q":
            break
        try:
            done = [] if key == "s" else step.decide(key)
        except EventLogError as error:
            print_error(str(error), error.hint)
            continue
        decided += key != "s"
        if done:
            say(f"  undo: eventlog undo {display.short(done[0].id)}")
    say(f"{count(decided, 'decision')} of {len(asked)}")


def _key(concern: str) -> str:
    while True:
        answer = click.prompt(f"{_QUESTIONS[concern]} [{','.join(_KEYS)}]", prompt_suffix=" ").strip().casefold()
        key = _WORDS.get(answer, answer)
        if key in _KEYS and key != "?":
            return str(key)
        say(f"{_HELP[concern]}, s skip it, q quit")


class _Waiting:
    """A plan entry that waits."""

    concern = "waits"

    def __init__(self, opened: OpenStore, staged: StagedEntry) -> None:
        self._opened = opened
        self._staged = staged

    def show(self) -> None:
        """Print the section, why it waits, and its difference to the file."""
        say(f"  {self._staged.section}: {self._staged.reason}")
        show_waiting(self._opened, self._staged)

    def decide(self, key: str) -> list[Event]:
        """Write, discard or edit it."""
        choices: dict[str, Choice] = {"y": "apply", "n": "discard", "e": "edited"}
        content = edited(self._staged.read(self._opened.store).content or "") if key == "e" else None
        return [decide(self._opened, self._staged, choices[key], content).event]


class _Line:
    """A line of a memory."""

    def __init__(self, opened: OpenStore, line: ReviewLine, display: Display) -> None:
        self._opened = opened
        self._line = line
        self._display = display

    @property
    def concern(self) -> str:
        """Return why the line is shown."""
        return self._line.concern

    def show(self) -> None:
        """Print the line, its last time, and what it contradicts."""
        line = self._line
        where = f"{project_name(line.subject) if line.subject else 'you'}  {line.place}"
        repeated = last_mention("", line.times, is_doubtful=False)
        texts = [f"{one_line(line.text)}  {self._display.ago(line.last)}{repeated}", *map(one_line, line.against)]
        print_lines([styled(f"  {one_line(where)}", dim=True), *(part for text in texts for part in hang("  ", text))])

    def decide(self, key: str) -> list[Event]:
        """Keep, forget or edit it."""
        line, opened = self._line, self._opened
        if key == "n":
            return forget(opened, forgettable(opened, line.text)).events
        if key == "e":
            found = correctable(opened, line.text, line.subject)
            return edit(opened, found, edited(f"{found.text}\n")).events
        if line.against:
            return forget(opened, [item for text in line.against for item in forgettable(opened, text)]).events
        is_old = line.concern == "old"
        return correctable(opened, line.text, line.subject).confirm(opened).events if is_old else []
