"""The page as one HTML file: readable without JavaScript, with its data, script and style inside; nothing is loaded.

Texts of the log are escaped wherever they stand: as text, in attributes, and in the block of JSON. The policy before
the first script and style allows those of this package by their digests, and nothing else.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from html import escape
from pathlib import Path

import msgspec

from eventlog.app.page.page_model import PageModel, PageSession
from eventlog.app.page.timeline import FileTimeline, TimelineLine
from eventlog.format.text import harmless

_MOST_SESSIONS = 400  # in the HTML itself; the script shows the others
_COLOURS = 6
_WIDTH, _HEIGHT = 1000, 40  # of the strip, in its own units
_CHART, _CHART_HEIGHT = 300, 60
_BARS = 26  # of a chart: the newest
_UNSAFE = "<>&\u2028\u2029"  # in JSON inside a script
_KEYS = (
    ("j  k", "next, previous line"),
    ("w", "why: the events behind the line"),
    ("[  ]", "a day back, a day on; on the slider, the arrow keys"),
    ("/", "search"),
    ("f  u  e", "forget, undo, edit"),
    ("t", "light or dark"),
    ("?", "this help"),
    ("Esc", "close, leave the search"),
)


def html_of(page: PageModel, *, live: str = "") -> str:
    """Render the page; a `live` page, of that state of the log, may connect to the server it came from."""
    style, script = _asset("page.css"), _asset("page.js")
    server = "self" if live else "none"
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; connect-src '{server}'; "
        "base-uri 'none'; form-action 'none'"
    )
    data = msgspec.json.encode(page).decode()
    for character in _UNSAFE:
        data = data.replace(character, f"\\u{ord(character):04x}")
    title = "eventlog" if len(page.projects) != 1 else f"eventlog · {page.projects[0].name}"
    parts = (
        f'<!doctype html>\n<html lang="en" data-live="{live}">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>",
        *_top(page),
        "<main>",
        *_views(page),
        "</main>",
        _footer(page, data),
        _help(),
        '<p class="toast" role="status" aria-live="polite"></p>',
        f'<script type="application/json" id="data">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n',
    )
    return "\n".join(parts)


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(text: str) -> str:
    return escape(harmless(text))


def _top(page: PageModel) -> Iterator[str]:
    last = len(page.days) - 1
    options = "".join(
        f'<option value="{number}">{_text(project.name)}</option>' for number, project in enumerate(page.projects)
    )
    day = page.days[-1] if page.days else ""
    yield '<header class="top"><div class="bar"><h1>eventlog</h1>'
    yield f'<select data-projects aria-label="Project"><option value="">all projects</option>{options}</select>'
    yield (
        '<div class="grow"><input type="search" data-search aria-label="Search everything" '
        'placeholder="Search everything  /" autocomplete="off" spellcheck="false"></div>'
    )
    yield '<div class="when"><button type="button" data-step="-1" aria-label="A day back">◀</button>'
    yield f'<output class="num">{_day_name(day)}</output>'
    yield '<button type="button" data-step="1" aria-label="A day on">▶</button></div>'
    yield '<button type="button" data-theme-switch aria-label="Light or dark">◐</button>'
    yield '<button type="button" data-help aria-label="Help">?</button></div>'
    yield f'<div class="time" id="strip">{_strip(page)}'
    yield (
        f'<input type="range" data-slider min="0" max="{max(last, 0)}" value="{max(last, 0)}" step="1" '
        f'aria-label="As of" aria-valuetext="{day}"{" disabled" if last < 1 else ""}>'
    )
    yield f'<div class="legend">{"".join(_legend(page))}</div></div></header>'


def _views(page: PageModel) -> Iterator[str]:
    yield '<section class="card" id="hits" hidden><header><h2>Found</h2></header><ol></ol></section>'
    yield '<div class="pair"><section class="card" id="memory" data-view="memory"><header><h2>Memory</h2>'
    yield '<span class="soft" data-summary></span>'
    yield '<select class="push" data-files aria-label="Another file"><option value="">another file …</option></select>'
    yield "</header>"
    memories = [file for file in page.files if _is_memory(file)]
    yield "".join(
        _memory(file, page) for file in sorted(memories, key=lambda file: (file.path != "MEMORY.md", file.path))
    )
    if not memories:
        yield "<p>Nothing is known yet. Agents save facts once <code>eventlog install</code> has run.</p>"
    yield '</section>\n<section class="card" id="why" data-view="why" tabindex="-1"><header><h2>Why</h2></header>'
    yield '<p class="soft">Choose a line: who said it, when, and in which words. Without JavaScript: '
    yield "<code>eventlog why FILE:LINE</code></p></section></div>"
    yield '<div class="pair"><section class="card" id="sessions" data-view="sessions"><header><h2>Sessions</h2>'
    yield f'<span class="soft num">{len(page.sessions):,}</span></header>'
    yield "".join(_days_of_sessions(page))
    yield '</section>\n<section class="card" id="told" data-view="told">'
    yield "<header><h2>What the agent was told</h2></header>"
    yield '<p class="soft">Choose a session. Without JavaScript: '
    yield "<code>eventlog why --session ID</code></p></section></div>"
    yield '<div class="pair"><section class="card" id="open"><header><h2>Open</h2></header>'
    yield f"{''.join(_open(page))}</section>"
    yield '<section class="card" id="numbers"><header><h2>Numbers</h2></header>'
    yield f"{''.join(_numbers(page))}</section></div>"


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
    for session in page.sessions[:_MOST_SESSIONS]:
        shown.setdefault(session.started[:10], []).append(session)
    for day, sessions in shown.items():
        rows = "".join(_session(session, page) for session in sessions)
        yield f'<section class="day" data-day="{day}"><h3>{_day_name(day)}</h3>{rows}</section>'
    if len(page.sessions) > _MOST_SESSIONS:
        yield f'<p data-more class="soft">{len(page.sessions) - _MOST_SESSIONS:,} older sessions: eventlog sessions</p>'


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
    counts: dict[str, int] = {}
    for session in page.sessions:
        counts[session.agent or "unknown"] = counts.get(session.agent or "unknown", 0) + 1
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
        for number, count in enumerate(parts):
            if count:
                tall = count / highest * height
                top -= tall
                place = f'x="{_n(step * position + step * 0.1)}" y="{_n(top)}"'
                yield f'<rect class="{_colour(number)}" {place} width="{_n(step * 0.8)}" height="{_n(tall)}"/>'


def _numbers(page: PageModel) -> Iterator[str]:
    weeks = page.weeks[-_BARS:]
    agents = {agent: number for number, agent in enumerate(_agents(page))}
    by_week = {week.week: [0] * len(agents) for week in weeks}
    for session in page.sessions:
        if (monday := _monday(session.started[:10])) in by_week:
            by_week[monday][agents[session.agent or "unknown"]] += 1
    first = weeks[0].week if weeks else ""
    yield '<div class="charts">'
    yield _chart("Sessions a week, by agent", list(by_week.values()), first)
    used = [(week.used, week.lines - week.used) for week in weeks]
    shown, later = sum(week.lines for week in page.weeks), sum(week.used for week in page.weeks)
    yield _chart(f"Lines told with prompts: {shown:,}, later used: {later:,}", used, first)
    ages = _ages(page)
    yield _chart(
        "Lines known, by the month they were first said in", [(count,) for count in ages.values()], next(iter(ages), "")
    )
    yield "</div>"
    by_project = _by_project(page)
    if by_project:
        yield f"<h3>Projects</h3>{_list(by_project, 'plain')}"


def _chart(title: str, stacks: Sequence[Sequence[int]], first: str) -> str:
    bars = "".join(_stacked(stacks, _CHART, _CHART_HEIGHT))
    highest = max(map(sum, stacks), default=0)
    return (
        f'<figure><figcaption class="soft">{_text(title)}</figcaption><svg class="chart" viewBox="0 0 {_CHART} 74" '
        f'preserveAspectRatio="none" role="img" aria-label="{_text(title)}">{bars}'
        f'<rect class="base" x="0" y="{_CHART_HEIGHT}" width="{_CHART}" height="1"/></svg>'
        f'<p class="soft num">from {_text(first) or "–"} · at most {highest:,}</p></figure>'
    )


def _ages(page: PageModel) -> dict[str, int]:
    """Count the lines of memories by the month of their first event."""
    found: dict[str, int] = {}
    day = len(page.days)
    for line in (line for file in page.files if _is_memory(file) for line in file.at(day)):
        if line.text_at(day).startswith("- ") and (events := line.events_at(day)):
            month = page.events[events[0]].at[:7]
            found[month] = found.get(month, 0) + 1
    return dict(sorted(found.items()))


def _by_project(page: PageModel) -> list[str]:
    counts = [0] * len(page.projects)
    for session in page.sessions:
        if session.project >= 0:
            counts[session.project] += 1
    named = zip(counts, page.projects, strict=True)
    return [
        f"{project.name}: {count:,} sessions"
        for count, project in sorted(named, key=lambda pair: (-pair[0], pair[1].path))
    ]


def _footer(page: PageModel, data: str) -> str:
    digest = hashlib.sha256(data.encode()).hexdigest()[:16]
    held = (
        f" It holds {page.withdrawn:,} events that were withdrawn since: --without-withdrawn leaves them out."
        if page.withdrawn
        else ""
    )
    return (
        f'<footer id="foot">From {page.logged:,} events up to {_text(page.newest)}; times in {_text(page.zone)}; '
        f"digest sha256:{digest}. Nothing in this page is loaded from or sent to anywhere else.{held}</footer>"
    )


def _help() -> str:
    rows = "".join(f"<dt><kbd>{keys}</kbd></dt><dd>{what}</dd>" for keys, what in _KEYS)
    return (
        f'<dialog aria-label="Help"><h2>Keys</h2><dl>{rows}</dl><p class="soft">The address keeps what you look at: '
        "the day, the event, the search. Print leaves out what is for hands.</p>"
        '<button type="button" data-close>Close</button></dialog>'
    )


def _day_name(day: str) -> str:
    """Name a day: `Wed 18 Nov 2026`, in every locale."""
    if not day:
        return "no day"
    when = date.fromisoformat(day)
    weekday = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[when.weekday()]
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{weekday} {when.day} {months[when.month - 1]} {when.year}"


def _monday(day: str) -> str:
    when = date.fromisoformat(day)
    return date.fromordinal(when.toordinal() - when.weekday()).isoformat()


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
