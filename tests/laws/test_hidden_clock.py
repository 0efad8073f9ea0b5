"""No view reads a hidden clock: the same events give the same bytes on any day of this machine, in any time zone."""

import time
from contextlib import contextmanager
from importlib import import_module
from operator import attrgetter

import pytest
from freezegun import freeze_time
from msgspec.structs import replace as changed

from eventlog import fold
from eventlog.format.events import Fact, PlanEntry, ProjectSeen, SectionKey
from eventlog.projections.base import Document, Line
from eventlog.projections.catalog import ALL
from eventlog.projections.views.knowledge import KNOWLEDGE
from eventlog.projections.views.stats import STATS
from eventlog.settings.schema import KnowledgeBase, Settings
from tests.laws.test_fold_laws import days_of, parts_of
from tests.support.builders import replay
from tests.support.golden import DAMAGED, HISTORY, copied

pytestmark = pytest.mark.slow

# years and half a day apart: another date on most clocks of the world, another rule of summer time, another leap year
MOMENTS = [("2026-02-21 23:59:59", "Pacific/Kiritimati"), ("2031-07-01 11:30:00", "America/Los_Angeles")]
BASES = {"user": KnowledgeBase(path="~/.config/agents/USER.md")}
SETTINGS = [
    Settings(knowledge_bases=BASES),
    Settings(locale="zh", timezone="Asia/Shanghai", knowledge_bases=BASES),
]


def log_of(source, tmp_path):
    """The events of a fixture, and what gives a knowledge base and the list of projects something to say."""
    log = copied(source, tmp_path)
    entry = PlanEntry(conversation_id="s", key=SectionKey(heading="Interests", path="user"), content="- agents")
    seen = ProjectSeen(conversation_id="s", path="/p/shop", remote="github.com/ada/shop")
    fact = Fact(conversation_id="s", project="/p/shop", content="Prices are integers")
    log.put([entry, seen, fact])
    return log


@contextmanager
def clock(monkeypatch, moment, zone):
    """Stop every clock of this process at a moment, and let it run in a time zone."""
    with monkeypatch.context() as patch, freeze_time(moment, ignore=["_pytest"]):
        patch.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()


def by_replay(log, settings, projections=ALL):
    """The bytes of every document of a log, as a replay without a cache renders them."""
    done = replay(log, settings, projections=[*projections, STATS], anew=True, save=False)
    return {document.path: document.data for document in done.documents}


def by_parts(log, settings):
    """The bytes of every document of a log, as those without a store render them."""
    return {document.path: document.data for document in fold.render(fold.merge(parts_of(days_of(log))), settings)}


@pytest.mark.parametrize("settings", SETTINGS, ids=["en", "zh"])
@pytest.mark.parametrize("source", [HISTORY, DAMAGED], ids=["history", "damaged"])
def test_every_view_renders_the_same_bytes_at_any_time_in_any_time_zone(tmp_path, monkeypatch, source, settings):
    log, found = log_of(source, tmp_path), []
    for moment, zone in MOMENTS:
        with clock(monkeypatch, moment, zone):
            found += [by_replay(log, settings), by_parts(log, settings)]

    assert found[0]
    assert found[0] == found[1] == found[2] == found[3]


def test_every_view_is_rendered_of_the_history(tmp_path):
    paths = by_replay(log_of(HISTORY, tmp_path), SETTINGS[0])

    assert [] == [view.name for view in ALL if view.owns and not any(map(view.owns_path, paths))]


@pytest.mark.parametrize(
    ("module", "question"),
    [
        ("time", "time_ns"),
        ("time", "time"),
        ("time", "localtime"),
        ("datetime", "datetime.now"),
        ("datetime", "date.today"),
        ("eventlog.format.timestamps", "system_clock"),
    ],
)
def test_a_view_that_reads_the_clock_is_found(tmp_path, monkeypatch, module, question):
    def render(state, settings):
        del state, settings
        yield Document("CLOCK.md", (Line(repr(attrgetter(question)(import_module(module))())),))

    log, found = copied(HISTORY, tmp_path), []
    rogue = changed(KNOWLEDGE, name="clock", render=render, owns=("CLOCK.md",))
    for moment, zone in [MOMENTS[0], *MOMENTS]:
        with clock(monkeypatch, moment, zone):
            found.append(by_replay(log, Settings(), [rogue])["CLOCK.md"])

    assert found[0] == found[1] != found[2]
