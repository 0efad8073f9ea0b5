"""The engine: days -> states -> documents."""

from collections import Counter

import pytest

from eventlog.fast import fastjson
from eventlog.format import codec
from eventlog.format.errors import BadRequest
from eventlog.projections.catalog import ALL, chosen
from eventlog.projections.engine import conversation_rows
from eventlog.projections.engine.replay import replay as fold_and_render
from eventlog.projections.engine.row_store import MemoryRows
from eventlog.projections.views.sessions import SESSIONS
from eventlog.settings.schema import Settings
from tests.support import builders
from tests.support.builders import DAY, NEXT_DAY, replay
from tests.support.golden import DAMAGED, HISTORY, copied, rendered, tree


@pytest.fixture
def history(tmp_path):
    return copied(HISTORY, tmp_path)


def test_documents_are_ordered_by_path(history):
    paths = [document.path for document in replay(history, Settings()).documents]

    assert sorted(tree(HISTORY / "expected" / "en")) == paths


def test_an_empty_log_has_no_documents_and_creates_nothing(log, tmp_path):
    result = replay(log, Settings())

    assert ([], 0, 0) == (result.documents, result.days, result.events)
    assert not (tmp_path / "store").exists()


def test_only_the_chosen_projections_are_rendered(history):
    assert ["sessions.jsonl"] == list(rendered(history, projections=[SESSIONS]))


def test_projections_are_chosen_by_name_and_all_where_none_is_named():
    assert (SESSIONS,) == chosen(["sessions"])
    assert chosen([]) == ALL


def test_a_projection_that_does_not_exist_is_refused():
    with pytest.raises(BadRequest, match="'poems'"):
        chosen(["memory", "poems"])


def test_what_is_left_out_was_never_said(history):
    without = rendered(history, keep=lambda event: event.conversation_id != "auth-0220")

    assert "sessions/auth-0220.md" not in without
    assert b"RS256" not in without["projects/shop-6dbe44/MEMORY.md"]


def test_leaving_events_out_neither_uses_nor_fills_the_cache(history, tmp_path):
    replay(history, Settings(), keep=lambda _: False)
    nothing_kept = not (tmp_path / "store" / "cache").exists()
    replay(history, Settings())

    assert nothing_kept
    assert {} == rendered(history, keep=lambda _: False)


def test_progress_is_told_day_by_day(history):
    told = []
    fold_and_render(history, Settings(), progress=lambda done, total: told.append((done, total)))

    assert [(day, 10) for day in range(1, 11)] == told


def test_damage_is_reported_and_also_where_the_cache_stands_for_the_day(tmp_path):
    log = copied(DAMAGED, tmp_path)
    first, second = replay(log, Settings()), replay(log, Settings())

    assert ["bom", "blank", "not-utf8", "not-json", "not-object", "invalid", "wrong-day", "conflict"] == builders.kinds(
        first.damage
    )
    assert first.damage == second.damage
    assert 10 == first.events == second.events


def test_an_event_told_on_two_days_counts_once_on_the_day_its_id_names(log):
    told = builders.fact(1, day=DAY)
    log.append(told)
    again = fastjson.dumps({**told, "ts": builders.at(1, NEXT_DAY), "content": "told again"})
    builders.write(log.store.log, again + b"\n", f"{NEXT_DAY}.jsonl")
    result = replay(log, Settings())

    assert 1 == result.events
    assert b"told again" not in b"".join(document.data for document in result.documents)


class CountedReads(MemoryRows):
    """Rows in memory that count how often each day's conversations are read."""

    def __init__(self):
        super().__init__()
        self.reads: Counter[str] = Counter()

    def read(self, kind, name, block):
        self.reads[block] += kind == "said"
        return super().read(kind, name, block)


def test_conversations_that_go_on_for_weeks_are_read_once_a_day_not_once_each(log):
    rows, days = CountedReads(), [f"2026-02-{day:02}" for day in range(1, 21)]
    for day in days:
        facts = (builders.fact(number, day=day, conversation_id=f"c{number}") for number in range(10))
        log.put([codec.from_fields(fact) for fact in facts])
    result = fold_and_render(log, Settings(), cache=rows)

    assert 10 == len(result.conversations.by_id)
    assert max(rows.reads.values()) <= 4


def test_an_address_of_a_project_makes_the_rows_of_its_own_conversations_anew_and_no_others(log, monkeypatch):
    rows, made = MemoryRows(), list[str]()
    maker = conversation_rows.RowMaintainer.catch_up

    def counted(maintainer, changed, *rest):
        made.extend(changed)
        maker(maintainer, changed, *rest)

    monkeypatch.setattr(conversation_rows.RowMaintainer, "catch_up", counted)
    for number, name in enumerate(("a", "b", "bb")):
        said = builders.fact(number, conversation_id=name, project=f"/p/{name}", replica="laptop")
        log.put([codec.from_fields(said)])
    fold_and_render(log, Settings(), cache=rows)
    made.clear()
    seen = {"project": "/p/b", "path": "/p/b", "replica": "laptop", "remote": "github.com/ada/b"}
    log.put([codec.from_fields({**builders.fact(9, conversation_id="laptop"), "type": "project_seen", **seen})])
    result = fold_and_render(log, Settings(), cache=rows)

    assert ["b"] == made
    assert "projects/b" in " ".join(document.path for document in result.documents)
