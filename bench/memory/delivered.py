"""What users get: is what a follow-up task needs literally in the lines told, and is what they say true?

Asked of sessions imported from transcripts, with all the noise of real ones (`work.jsonl`), and of the own set's
sessions. A line is false where it states what another session said and its own did not; it is noise where it tells of
intentions, praise, or what every session does.
"""

import os
import random
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from bench.memory import transcripts
from bench.memory.arms import Arm, Line
from bench.memory.metrics import Interval, interval
from bench.memory.own import rows
from bench.memory.world import Haystack, Need, Query, Question, Unit, World

_SEED = 11
_NOISE = re.compile(
    r"git clone|rm -rf|pip install|ls -la|task_id|base_commit|task\.yaml|_preds\.json|test_issue\.py|debug_\d"
    r"|\bI'll\b|\bLet me\b|Perfect!|Excellent!|## |✅|我来帮你|让我|完美！|太好了"
)


class Wanted(NamedTuple):
    """What a follow-up task needs of an earlier session, as far as it is known; "" for what is not."""

    file: str
    cause: str = ""
    decision: str = ""


class Said(NamedTuple):
    """What tells a session from others, and all that was said and done in it."""

    statements: Sequence[str]
    text: str


class Delivery(NamedTuple):
    """Questions with what they want, what each unit said, and prompts that need nothing."""

    questions: Mapping[Question, Wanted]
    said: Mapping[str, Said]
    foreign: Sequence[Query] = ()


class Delivered(NamedTuple):
    """Shares of the tasks with a line of the right session, with the file, cause or decision literally in the lines.

    Then of the lines: those of the right session, the false ones, noise; and of foreign prompts those told something.
    """

    asked: int
    right: Interval
    file: Interval
    cause: Interval | None
    decision: Interval | None
    precision: Interval
    false: Interval
    noise: Interval
    foreign: Interval | None
    chars: float  # per task


def measure(arm: Arm, delivery: Delivery) -> dict[str, Delivered]:
    """Ask all questions, by group; the foreign prompts are those of the first."""
    foreign = [float(bool(arm.answer(query))) for query in delivery.foreign]
    told = {question: arm.answer(question.query) for question in delivery.questions}
    groups = dict.fromkeys(question.group for question in told)
    found = {}
    for number, group in enumerate(groups):
        asked = {question: told[question] for question in told if question.group == group}
        found[group] = _measured(asked, delivery, foreign if number == 0 else [])
    return found


def _measured(told: Mapping[Question, Sequence[Line]], delivery: Delivery, foreign: Sequence[float]) -> Delivered:
    pairs = [(question, line) for question, lines in told.items() for line in lines]
    wanted = {question: delivery.questions[question] for question in told}
    return Delivered(
        asked=len(told),
        right=interval([float(any(line.unit in question.gold for line in lines)) for question, lines in told.items()]),
        file=_there([(one.file, told[question]) for question, one in wanted.items()]) or interval([]),
        cause=_there([(one.cause, told[question]) for question, one in wanted.items()]),
        decision=_there([(one.decision, told[question]) for question, one in wanted.items()]),
        precision=interval([float(line.unit in question.gold) for question, line in pairs]),
        false=interval([float(is_false(line, delivery.said)) for _, line in pairs]),
        noise=interval([float(bool(_NOISE.search(line.text))) for _, line in pairs]),
        foreign=interval(foreign) if foreign else None,
        chars=fmean(sum(len(line.text) for line in lines) for lines in told.values()),
    )


def _there(pairs: Iterable[tuple[str, Sequence[Line]]]) -> Interval | None:
    """The share of texts, of those that are known, which stand literally in their lines."""
    found = [float(any(_plain(text) in _plain(line.text) for line in lines)) for text, lines in pairs if text]
    return interval(found) if found else None


def is_false(line: Line, said: Mapping[str, Said]) -> bool:
    """Tell whether a line states what some session said, and its own did not."""
    text, own = _plain(line.text), _plain(said[line.unit].text) if line.unit in said else ""
    foreign = (_plain(statement) for other, one in said.items() if other != line.unit for statement in one.statements)
    return any(statement in text and statement not in own for statement in foreign)


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("`", "").replace("*", "").split())


# ------------------------------------------------------------------------------------------------------------- the sets


def of_own(world: World) -> Delivery:
    """The own set's tasks: each needs a file or a decision of an earlier session."""
    needs = {row["prompt"]: row["needs"] for row in rows("tasks")}
    lang = {row["prompt"]: row["lang"] for row in rows("tasks")}
    decided = {text for row in rows("sessions") for text in row["decisions"]}
    questions = {}
    for question in world.questions:
        if question.group == "sessions":
            need = needs[question.query.text]
            wanted = Wanted("", decision=need) if need in decided else Wanted(need)
            query = question.query._replace(conversation=f"{question.query.conversation}-delivered")
            questions[question._replace(group=f"own tasks {lang[query.text]}", query=query)] = wanted
    said = {
        row["id"]: Said((row["title"], *row["files"], *row["decisions"]), text)
        for row in rows("sessions")
        if (text := "\n".join((row["title"], *row["prompts"], row["closing"], *row["decisions"], *row["files"])))
    }
    return Delivery(questions, said)


class Work(NamedTuple):
    """The sessions of `work.jsonl` in a store, as a host's transcripts were imported, and what is asked of them."""

    haystack: Haystack
    world: World
    delivery: Delivery

    def needs(self) -> Iterator[Need]:
        """The file that each follow-up task needs, for starts of sessions."""
        for question, wanted in self.delivery.questions.items():
            yield Need(question.group, question.query.project, wanted.file)


def work(scratch: Path, now: datetime) -> Work:
    """Write repositories and transcripts below `scratch`, import them, and ask of them what follows up on them."""
    chance = random.Random(_SEED)
    told = rows("work")
    projects = {name: _repository(scratch / "src" / name, told) for name in sorted({row["project"] for row in told})}
    made: dict[str, transcripts.Transcript] = {}
    for number, row in enumerate(told):
        began = now - timedelta(days=40 - number, minutes=37 * number)
        made[row["id"]] = transcripts.of_work(row, projects[row["project"]], began, chance)
    transcripts.exchange_titles([(made[row["id"]], row["title"]) for row in told], chance)
    for transcript in made.values():
        transcript.write(scratch / "claude" / "projects")
    log = transcripts.imported(scratch / "claude", scratch / "store")
    of = {transcript.id: unit for unit, transcript in made.items()}
    owners = {event.id: of[event.conversation_id] for event in log.read() if event.conversation_id in of}
    units = [_unit(row, str(projects[row["project"]]), made[row["id"]]) for row in told]
    questions = dict(_questions(told, projects))
    said = {row["id"]: _said(row, made[row["id"]]) for row in told}
    delivery = Delivery(questions, said, list(_foreign(told, projects)))
    return Work(Haystack(units, scratch / "store", owners), World(units, [], list(questions)), delivery)


def _repository(place: Path, told: Sequence[Mapping[str, Any]]) -> Path:
    """Make a project whose files git knows."""
    for row in told:
        for file in row["files"] if row["project"] == place.name else ():
            for path in (place / file, place / "tests" / f"test_{Path(file).name}"):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"# {row['title']}\n")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # of a caller's own
    about = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), (*about, "commit", "-q", "-m", "Begin")):
        subprocess.run(("git", *command), cwd=place, env=environ, check=True)
    return place


def _unit(row: Mapping[str, Any], project: str, made: transcripts.Transcript) -> Unit:
    shown = f"{row['title']}: {row['problem']}"[:300]
    return Unit(row["id"], project, row["id"], made.text, shown)


def _said(row: Mapping[str, Any], made: transcripts.Transcript) -> Said:
    """A title, a cause, a fix, a decision and the file that was changed are of one session alone."""
    statements = [row["title"], row["cause"], row["fix"], row["files"][0], *filter(None, [row.get("decision")])]
    return Said(statements, made.text)


def _questions(told: Sequence[Mapping[str, Any]], projects: Mapping[str, Path]) -> Iterator[tuple[Question, Wanted]]:
    groups = {"prompt": "work {}", "prompt_zh": "zh of en"}
    for name, group in groups.items():
        for row in told:
            if name in row:
                query = Query(row[name], str(projects[row["project"]]), f"asks-{row['id']}-{name}")
                question = Question(group.format(row["lang"]), query, frozenset({row["id"]}))
                yield question, Wanted(row["files"][0], row["cause"], row.get("decision", ""))


def _foreign(told: Sequence[Mapping[str, Any]], projects: Mapping[str, Path]) -> Iterator[Query]:
    """Prompts that need nothing of these sessions: small talk, other tasks, and follow-ups of other projects."""
    names = sorted(projects)
    for number, row in enumerate(rows("foreign")):
        yield Query(row["prompt"], str(projects[names[number % len(names)]]), f"foreign-{row['id']}")
    for row in rows("elsewhere"):
        yield Query(row["prompt"], str(projects[row["project"]]), f"foreign-{row['id']}")
    for follow_up in told:
        for name in names:
            if name != follow_up["project"]:
                yield Query(follow_up["prompt"], str(projects[name]), f"foreign-{follow_up['id']}-{name}")
