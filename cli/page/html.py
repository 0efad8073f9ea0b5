"""The page as one HTML file: readable without JavaScript, with its data, script and style inside; nothing is loaded.

Texts of the log are escaped wherever they stand: as text, in attributes, and in the block of JSON. The policy before
the first script and style allows those of this package by their digests, and nothing else.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from html import escape
from pathlib import Path
from string import Template

import msgspec

from eventlog.app.page.page_model import PageModel, PageSession
from eventlog.app.page.timeline import FileTimeline, TimelineLine
from eventlog.cli.terminal import count
from eventlog.format.text import harmless
from eventlog.projections.views.stats import monday_of

_MAX_SESSIONS = 400  # in the HTML itself; the script shows the others
_COLOURS = 6
_WIDTH, _HEIGHT = 1000, 40  # of the strip, in its own units
_CHART, _CHART_HEIGHT = 300, 60
_BARS = 26  # of a chart: the newest
_UNSAFE = "<>&\u2028\u2029"  # in JSON inside a script


def html_of(page: PageModel, *, live: str = "") -> str:
    """Render the page; a `live` page, of that state of the log, may connect to the server it came from."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        f"connect-src '{'self' if live else 'none'}'; base-uri 'none'; form-action 'none'"
    )
    data = msgspec.json.encode(page).decode()
    for character in _UNSAFE:
        data = data.replace(character, f"\\u{ord(character):04x}")
    day, last = page.days[-1] if page.days else "", max(len(page.days) - 1, 0)
    held = f" It holds {page.withdrawn:,} events that were withdrawn since: --without-withdrawn leaves them out."
    return Template(_asset("page.html")).substitute(
        live=live,
        policy=escape(policy),
        style=style,
        script=script,
        data=data,
        title=_text("eventlog" if len(page.projects) != 1 else f"eventlog · {page.projects[0].name}"),
        projects="".join(
            f'<option value="{number}">{_text(project.name)}</option>' for number, project in enumerate(page.projects)
        ),
        day=day,
        day_name=_day_name(day),
        last=last,
        disabled="" if last else " disabled",
        strip=_strip(page),
        legend="".join(_legend(page)),
        memories=_memories(page),
        count=f"{len(page.sessions):,}",
        sessions="".join(_days_of_sessions(page)),
        open="".join(_open(page)),
        numbers="".join(_numbers(page)),
        logged=count(page.logged, "event"),
        newest=f" up to {_text(page.newest)}" if page.newest else "",
        zone=_text(page.zone),
        digest=hashlib.sha256(data.encode()).hexdigest()[:16],
        withdrawn=held if page.withdrawn else "",
        missing=_text(f" Not all is here: {page.missing}.") if page.missing else "",
    )


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(text: str) -> str:
    return escape(harmless(text))


def _memories(page: PageModel) -> str:
    memories = [file for file in page.files if _is_memory(file)]
    if not memories:
        return "<p>Nothing is known yet. Agents save facts once <code>eventlog install</code> has run.</p>"
    return "".join(
        _memory(file, page) for file in sorted(memories, key=lambda file: (file.path != "MEMORY.md", file.path))
    )


def _is_memory(file: FileTimeline) -> bool:
    return file.path.rpartition("/")[2] == "MEMORY.md"


def _memory(file: FileTimeline, page: PageModel) -> str:
    day = len(page.days)
    rows = "".join(_line(file.path, number, line, page, day) for number, line in enumerate(file.at(day), 1))
    head = f'<article class="file" data-file="{_text(file.path)}"><h3>{_text(file.path)}</h3>'
    return f'{head}<ol class="lines">{rows}</ol></article>' if rows else ""


def _line(path: str, number: int, line: TimelineLine, page: PageModel, day: int) -> str:
    ids = " ".join(page.events[event].id for event in line.events_at(day))
    text = line.text_at(day)
    place = f'data-line="{_text(path)}:{number}" data-ids="{_text(ids)}"'
    return f'<li class="{_kind_of_line(text)}" {place}>{_text(text)}</li>'


def _kind_of_line(text: str) -> str:
    """Name how a line of Markdown is shown: a heading, a statement, a note in small print, or other text."""
    if text.startswith("#"):
        return "head"
    if text.startswith("- "):
        return "item"
    return "note" if text.startswith("<!--") else "other"


def _days_of_sessions(page: PageModel) -> Iterator[str]:
    if not page.sessions:
        yield "<p>No session yet.</p>"
    shown: dict[str, list[PageSession]] = {}
    for session in page.sessions[:_MAX_SESSIONS]:
        shown.setdefault(session.started[:10], []).append(session)
    for day, sessions in shown.items():
        rows = "".join(_session(session, page) for session in sessions)
        yield f'<section class="day" data-day="{day}"><h3>{_day_name(day)}</h3>{rows}</section>'
    if len(page.sessions) > _MAX_SESSIONS:
        yield f'<p data-more class="soft">{len(page.sessions) - _MAX_SESSIONS:,} older sessions: eventlog sessions</p>'


def _session(session: PageSession, page: PageModel) -> str:
    name = page.projects[session.project].name if session.project >= 0 else ""
    who = " · ".join(filter(None, (session.agent, name)))
    topic = session.topic or session.summary or "nothing saved"
    inside = f"<p>{_text(session.summary)}</p>" if session.summary and session.summary != session.topic else ""
    inside += _list(session.decisions, "") + _list(session.todos, "todo")
    return (
        f'<details class="session" data-session="{_text(session.id)}"><summary><span class="clock">'
        f'{session.started[11:]}</span><span class="topic">{_text(topic)}</span>'
        f'<span class="who">{_text(who)}</span></summary><div class="inside">{inside}</div></details>'
    )


def _list(texts: Iterable[str], kind: str) -> str:
    items = "".join(f"<li>{_text(text)}</li>" for text in texts)
    return f'<ul class="{kind}">{items}</ul>' if items else ""


def _open(page: PageModel) -> Iterator[str]:
    """Render what is open: to-dos, what waits for a person, lines that contradict each other."""
    yield "<h3>To do</h3>" + (_list(page.todos, "todo") if page.todos else '<p class="soft">Nothing.</p>')
    yield "<h3>Waiting for you</h3>"
    yield "" if page.waiting else '<p class="soft">Nothing.</p>'
    for entry in page.waiting:
        yield (
            f'<div data-waiting="{_text(entry.event)}"><p><b>{_text(entry.file)}</b> {_text(entry.heading)} '
            f'<span class="soft">{_text(entry.reason)}</span></p><pre>{_text(entry.content)}</pre>'
            f'<p class="hands"><button type="button" data-do="resolve" data-target="{_text(entry.event)}" '
            f'data-choice="apply">Write it</button><button type="button" data-do="resolve" '
            f'data-target="{_text(entry.event)}" data-choice="discard">Discard it</button></p></div>'
        )
    yield "<h3>In doubt: they differ in a number</h3>"
    yield "" if page.doubts else '<p class="soft">None.</p>'
    for path, lines in page.doubts:
        yield f'<p class="soft">{_text(path)}</p>' + _list(lines, "plain")


# ------------------------------------------------------------------------------------------------- pictures


def _agents(page: PageModel) -> list[str]:
    """List the agents, those with most sessions first."""
    counts = Counter(session.agent or "unknown" for session in page.sessions)
    return sorted(counts, key=lambda agent: (-counts[agent], agent))


def _legend(page: PageModel) -> Iterator[str]:
    for number, agent in enumerate(_agents(page)):
        square = (
            f'<svg viewBox="0 0 1 1" aria-hidden="true"><rect class="{_colour(number)}" width="1" height="1"/></svg>'
        )
        yield f"<span>{square}{_text(agent)}</span>"


def _colour(number: int) -> str:
    return f"c{min(number, _COLOURS - 1)}"


def _strip(page: PageModel) -> str:
    """Draw the sessions of each day, agents one above the other."""
    places = {day: number for number, day in enumerate(page.days)}
    agents = {agent: number for number, agent in enumerate(_agents(page))}
    stacks = [[0] * len(agents) for _ in page.days]
    for session in page.sessions:
        if session.started[:10] in places:
            stacks[places[session.started[:10]]][agents[session.agent or "unknown"]] += 1
    bars = "".join(_stacked(stacks, _WIDTH, _HEIGHT))
    step = _WIDTH / max(len(page.days), 1)
    hits = "".join(
        f'<rect class="hit" data-day="{day}" x="{_n(step * number)}" y="0" width="{_n(step)}" height="{_HEIGHT}">'
        f"<title>{_day_name(day)}: {sum(stacks[number])}</title></rect>"
        for day, number in (places.items() if len(places) <= _WIDTH else ())
    )
    return (
        f'<svg class="strip" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="Sessions by day">{bars}{hits}<line class="now" x1="-9" x2="-9" y1="0" y2="{_HEIGHT}"/>'
        '<g data-dots="strip"></g></svg>'
    )


def _stacked(stacks: Sequence[Sequence[int]], width: int, height: int) -> Iterator[str]:
    """Draw bars of several parts, scaled to the highest."""
    highest, step = max(map(sum, stacks), default=0) or 1, width / max(len(stacks), 1)
    for position, parts in enumerate(stacks):
        top = float(height)
        for number, part in enumerate(parts):
            if part:
                tall = part / highest * height
                top -= tall
                place = f'x="{_n(step * position + step * 0.1)}" y="{_n(top)}"'
                yield f'<rect class="{_colour(number)}" {place} width="{_n(step * 0.8)}" height="{_n(tall)}"/>'


def _numbers(page: PageModel) -> Iterator[str]:
    weeks = page.weeks[-_BARS:]
    agents = {agent: number for number, agent in enumerate(_agents(page))}
    by_week = {week.week: [0] * len(agents) for week in weeks}
    for session in page.sessions:
        if (monday := monday_of(session.started[:10])) in by_week:
            by_week[monday][agents[session.agent or "unknown"]] += 1
    if not weeks:
        yield '<p class="soft">None.</p>'
        return
    yield '<div class="charts">'
    yield _chart("Sessions a week, by agent", list(by_week.values()), weeks[0].week)
    used = [(week.used, week.lines - week.used) for week in weeks]
    shown, later = sum(week.lines for week in page.weeks), sum(week.used for week in page.weeks)
    yield _chart(f"Lines told with prompts: {shown:,}, later used: {later:,}", used, weeks[0].week)
    ages = _ages(page)
    yield _chart(
        "Lines known, by the month they were first said in", [(lines,) for lines in ages.values()], next(iter(ages), "")
    )
    yield "</div>"
    if by_project := _by_project(page):
        yield f"<h3>Projects</h3>{_list(by_project, 'plain')}"


def _chart(title: str, stacks: Sequence[Sequence[int]], first: str) -> str:
    bars = "".join(_stacked(stacks, _CHART, _CHART_HEIGHT))
    highest = max(map(sum, stacks), default=0)
    return (
        f'<figure><figcaption class="soft">{_text(title)}</figcaption><svg class="chart" viewBox="0 0 {_CHART} 74" '
        f'preserveAspectRatio="none" role="img" aria-label="{_text(title)}">{bars}'
        f'<rect class="base" x="0" y="{_CHART_HEIGHT}" width="{_CHART}" height="1"/></svg>'
        f'<p class="soft num">from {_text(first) or "–"} · highest {highest:,}</p></figure>'
    )


def _ages(page: PageModel) -> dict[str, int]:
    """Count the lines of memories by the month of their first event."""
    day = len(page.days)
    lines = [line for file in page.files if _is_memory(file) for line in file.at(day)]
    behind = [line.events_at(day) for line in lines if line.text_at(day).startswith("- ")]
    return dict(sorted(Counter(page.events[events[0]].at[:7] for events in behind if events).items()))


def _by_project(page: PageModel) -> list[str]:
    counts = Counter(session.project for session in page.sessions)
    named = [(counts[number], project) for number, project in enumerate(page.projects)]
    named.sort(key=lambda pair: (-pair[0], pair[1].path))
    return [f"{project.name}: {count(sessions, 'session')}" for sessions, project in named]


def _day_name(day: str) -> str:
    """Name a day: `Wed 18 Nov 2026`; no locale is ever set."""
    if not day:
        return "no day"
    when = date.fromisoformat(day)
    return f"{when:%a} {when.day} {when:%b} {when.year}"


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
