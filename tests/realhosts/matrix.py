"""The result as Markdown: hosts by behaviours, and a line for all that is not plainly well."""

from collections.abc import Iterable, Mapping, Sequence

from tests.realhosts.expected import Expected
from tests.realhosts.outcome import Outcome


def render(outcomes: Sequence[Outcome], versions: Mapping[str, str], expected: Expected) -> str:
    """The table, and below it what each verdict means; `versions` is host -> title and version."""
    hosts = list(versions)
    found = {(outcome.scenario, outcome.host): outcome for outcome in outcomes}
    scenarios = list(dict.fromkeys(outcome.scenario for outcome in outcomes))
    rows = [["behaviour", *versions.values()], ["---"] * (len(hosts) + 1)]
    rows += [[f"`{name}`", *(_cell(found.get((name, host))) for host in hosts)] for name in scenarios]
    return "\n".join([*map(_row, rows), "", *_notes(outcomes, expected)])


def _cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return ""
    verdict = f"{outcome.verdict} at the second try" if outcome.failed_first else outcome.verdict
    return f"{verdict}: {outcome.note}" if outcome.verdict == "ok" and outcome.note else verdict


def _notes(outcomes: Iterable[Outcome], expected: Expected) -> Iterable[str]:
    for outcome in outcomes:
        if outcome.failed_first:
            yield f"- `{outcome.scenario}` {outcome.host} failed first: {_one_line(outcome.failed_first)}"
        if outcome.verdict == "ok":
            continue
        reason = expected.reason(outcome) if outcome.verdict == "fails" else ""
        known = f" (known: {reason})" if reason else ""
        yield f"- `{outcome.scenario}` {outcome.host} {outcome.verdict}: {_one_line(outcome.note)}{known}"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
