"""The law of the cache: whatever happens between two replays, the files are those of a log that was never read before."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog.app.ask.brief import known
from eventlog.app.ask.period import period
from eventlog.app.ask.review import review
from eventlog.app.ask.sessions import SessionRow
from eventlog.app.ask.why import explain
from eventlog.app.ask.why_not import why_not
from eventlog.app.build import cache, program
from eventlog.app.open_store import OpenStore
from eventlog.app.write.correct import correctable
from eventlog.app.write.forget import forgettable
from eventlog.format.errors import BadRequest
from eventlog.format.marks import digest_of
from eventlog.projections.engine.documents import Layouts
from eventlog.projections.engine.row_store import RowsDamaged
from eventlog.projections.views.daily_notes import DAILY_NOTES
from eventlog.projections.views.keyword_index import KEYWORD_INDEX
from eventlog.projections.views.memory import MEMORY
from eventlog.projections.views.sessions import LINES
from eventlog.projections.views.stats import COUNTS, summed, weeks
from eventlog.settings.schema import MemorySettings, Settings, SummarySettings
from tests.support.builders import replay
from tests.support.effort import rounds, stride
from tests.support.golden import rendered, tree
from tests.support.histories import DAYS, REPLICAS, a_log, histories, ts_of
from tests.support.use_cases import opened, rebuild

SMALL = Settings(memory=MemorySettings(max_lines=14, max_bytes=1000), summaries=SummarySettings(keep=1, max_chars=50))
CHOICES = [Settings(), Settings(), SMALL, Settings(locale="zh", timezone="Asia/Shanghai")]


class Happenings:
    """A store, and what may happen to it between two replays."""

    def __init__(self, log, data, patch):
        self.log = log
        self.chosen = CHOICES[0]
        self._draw = data.draw
        self._patch = patch
        self._left = self._draw(histories(max_size=20))

    def events(self):
        """Some more of the history: late ones, withdrawals, copies in other files."""
        count = self._draw(st.integers(1, 6))
        some, self._left = self._left[:count], self._left[count:]
        for line in some:
            file = Path(self.log.store.log, f"{ts_of(line)[:10]}{self._draw(st.sampled_from(REPLICAS))}.jsonl")
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as opened:
                opened.write(line + b"\n")

    def a_machine(self):
        """It becomes known that a path is a repository, that two are one, or that it is not so."""
        path, ts = self._draw(st.sampled_from(["/p/shop", "/q/shop"])), f"{self._draw(st.sampled_from(DAYS))}T13:00:00Z"
        common = {"conversation_id": "machine", "replica": self._draw(st.sampled_from(["laptop", "desk"])), "ts": ts}
        remote = self._draw(st.sampled_from(["git.example/shop", "git.example/other"]))
        seen = {"type": "project_seen", "project": path, "path": path, "remote": remote}
        joined = {
            "type": "project_joined",
            "projects": ["/p/shop", self._draw(st.sampled_from(["/q/shop", "/p/写作"]))],
        }
        (told,) = self.log.put([{**common, **self._draw(st.sampled_from([seen, seen, joined]))}])
        if self._draw(st.booleans()):
            self.log.append({"type": "retraction", "conversation_id": "by-hand", "target": told.event.id})
        self.log.append({"type": "fact", "content": "Here", "project": path, **common, "conversation_id": "machine-c"})

    def a_day_goes(self):
        day = self._draw(st.sampled_from(DAYS))
        Path(self.log.store.log, f"{day}.jsonl").unlink(missing_ok=True)

    def a_person(self):
        """A file is edited, emptied or deleted; a new bullet, a bullet less."""
        if files := sorted(tree(self.log.store.knowledge)):
            file = Path(self.log.store.knowledge, self._draw(st.sampled_from(files)))
            data = file.read_bytes()
            way = self._draw(st.sampled_from(["delete", "empty", "bullet", "less"]))
            if way == "delete":
                file.unlink()
            else:
                lines = [line for line in data.splitlines(keepends=True) if not line.startswith(b"- [")]
                file.write_bytes(
                    {"empty": b"", "bullet": b"- [2026-02-20] Mine\n" + data, "less": b"".join(lines)}[way]
                )

    def settings(self):
        self.chosen = self._draw(st.sampled_from(CHOICES))

    def another_program(self):
        name = self._draw(st.sampled_from("abc"))
        self._patch.setattr(program, "program_key", lambda: name)

    def some_projections(self):
        few = self._draw(st.lists(st.sampled_from([MEMORY, DAILY_NOTES, KEYWORD_INDEX]), unique=True))
        rebuild(self.log, self.chosen, projections=few)

    def a_look(self):
        """Replays that write nothing, of now and of then."""
        rebuild(self.log, self.chosen, check=True)
        rendered(self.log, CHOICES[-1], save=False)
        then = f"{self._draw(st.sampled_from(DAYS))}T12:00:00.000000Z"

        assert rendered(self.log, self.chosen, until=then) == rendered(self.log, self.chosen, until=then, anew=True)

    def damage(self):
        """A byte of the database is another, or a piece of it is gone."""
        file = Path(self.log.store.cached("knowledge.db"))
        if file.exists() and (size := file.stat().st_size):
            data, at = bytearray(file.read_bytes()), self._draw(st.integers(0, size - 1))
            data[at : at + 200] = self._draw(st.sampled_from([bytes(200), bytes([data[at] ^ 1]), b""]))
            file.write_bytes(data)


def figures(log, chosen, **options):
    """What `stats` counts, session by session; what is kept of whole days comes to the same."""
    replayed = replay(log, chosen, save=False, **options)
    counted = weeks(replayed.rows(COUNTS))
    assert counted == summed(chain.from_iterable(replayed.totals(COUNTS)), [])
    return counted


def assert_lines_are_explained_alike(scene, data):
    """A line of a memory has the reasons it has where the whole file is explained."""
    files = sorted(Path(scene.log.store.knowledge).glob("**/MEMORY.md"))
    with suppress(BadRequest):  # nothing is rendered there any more
        for file in [data.draw(st.sampled_from(files))] if files else ():
            whole = explain(opened(scene.log, scene.chosen), file)
            for line in data.draw(st.lists(st.sampled_from(whole), max_size=2)) if whole else ():
                assert [line] == explain(opened(scene.log, scene.chosen), file, line.number)


HAPPENINGS = [
    *(
        "events",
        "events",
        "events",
        "a_machine",
        "a_day_goes",
        "a_person",
        "settings",
        "another_program",
        "some_projections",
    ),
    *("a_look", "damage"),
]


@pytest.mark.slow
@settings(max_examples=rounds(fixed=3, fuzz=400))
@given(st.lists(st.sampled_from(HAPPENINGS), min_size=3, max_size=8), st.data())
def test_an_incremental_replay_a_full_one_and_one_elsewhere_give_the_same_bytes(happenings, data):
    with a_log() as log, pytest.MonkeyPatch.context() as patch:
        scene = Happenings(log, data, patch)
        for happening in ("events", *happenings):
            getattr(scene, happening)()
            assert_lines_are_explained_alike(scene, data)
            done = rebuild(log, scene.chosen)
            fresh = rendered(log, scene.chosen, anew=True, save=False)
            files = {path: data for path, data in tree(log.store.knowledge).items() if ".edited-" not in path}
            left = {*done.published.left}

            assert fresh == {path: data for path, data in files.items() if path not in left - fresh.keys()}
            assert fresh == rendered(log, scene.chosen, save=False)
            assert fresh.keys() == replay(log, scene.chosen, save=False).paths
            assert figures(log, scene.chosen, anew=True) == figures(log, scene.chosen)
            assert 0 == rebuild(log, scene.chosen).published.changes
            assert_lines_are_explained_alike(scene, data)


@pytest.mark.slow
@settings(max_examples=rounds(fixed=12, fuzz=200))
@given(st.lists(st.sampled_from(["", "5a17", "cafe", 0, 1, 2, "says", "elsewhere"]), min_size=2, max_size=8))
@example(["5a17", "cafe", "elsewhere"])
@example(["5a17", 0, "cafe", "elsewhere"])
@example(["5a17", "cafe", 0, 1, "elsewhere"])
def test_what_several_machines_reject_each_by_a_salt_of_its_own_is_dated_alike_everywhere(happenings):
    """By a salt a text is rejected, by a number a rejection is taken back."""
    with a_log() as log:
        text, by = "Use RS256", {"conversation_id": "human", "agent": "human"}
        for day in DAYS[:2]:
            said = {"conversation_id": f"c{day}", "project": "/p/shop", "ts": f"{day}T10:00:00Z"}
            log.append({**said, "type": "fact", "content": text, "category": "lesson"})
            log.append({**said, "type": "stage_summary", "summary": "Done", "decisions": [text, "Port 8443"]})
            log.append({**said, "type": "fact", "content": "Keep it short"})
        rebuild(log, Settings())
        made: list[str] = []
        for number, what in enumerate(happenings):
            by["ts"] = f"2026-02-22T10:00:{number:02}Z"
            if isinstance(what, int):
                log.put([{**by, "type": "restored", "target": found} for found in made[what : what + 1]])
            elif what == "says":
                log.append({**by, "type": "fact", "content": text, "conversation_id": f"d{number}"})
            elif what == "elsewhere":  # something else of these conversations
                log.append({**by, "type": "fact", "content": "Late", "conversation_id": f"c{DAYS[0]}"})
            else:
                rejected = {"statement": text} if not what else {"salt": what, "digest": digest_of(text, what)}
                made += [stored.event.id for stored in log.put([{**by, "type": "rejected", **rejected}])]
            rebuild(log, Settings())

            assert rendered(log, anew=True, save=False) == tree(log.store.knowledge)
            assert rendered(log, keep=lambda _: True) == tree(log.store.knowledge)


def test_what_was_withdrawn_here_and_taken_back_elsewhere_before_that_is_in_no_session(log):
    said = {"conversation_id": "human-2026-02-20", "agent": "human", "project": "/p/shop"}
    (added,) = log.put([{**said, "type": "fact", "content": "Mine", "ts": f"{DAYS[1]}T10:00:00Z"}])
    by = {"conversation_id": "human", "agent": "human", "target": added.event.id}
    log.put([{**by, "type": "retraction", "ts": f"{DAYS[2]}T12:00:00Z"}])
    rebuild(log, Settings())
    log.put([{**by, "type": "restored", "ts": f"{DAYS[2]}T11:00:00Z"}])  # the undo of another machine arrives
    rebuild(log, Settings())

    assert rendered(log, anew=True, save=False) == tree(log.store.knowledge)


@given(st.lists(st.sampled_from(["", "short", "long " * 90, "longer " * 9000, None]), min_size=1, max_size=6))
def test_a_row_is_read_as_it_was_last_written_and_what_it_said_before_is_erased(said):
    with a_log() as log:
        path = log.store.cached("knowledge.db")
        for number, words in enumerate(said):
            data = None if words is None else f"{number} {words}".encode()
            shelf = cache.StoreCache(path, "a program")
            for block in ("a", "b"):
                shelf.write("kind", "name", block, data)
            shelf.save()
            shelf.close()
        there = {} if data is None else {"a": data, "b": data}
        shelf = cache.StoreCache(path, "a program", writes=False)

        assert there == dict(shelf.rows("kind", "name"))
        assert [*there] == shelf.blocks("kind", "name")
        assert there.get("b") == shelf.read("kind", "name", "b")
        erased = [word for word in ("short", "longer ", "long ") if word not in (words or "")]
        kept = Path(path).read_bytes()
        assert not [word for word in erased if word.encode() in kept]


_BLOCKS = st.sampled_from("abcd")
_WORDS = st.sampled_from(["", "short", "long " * 90, "longer " * 200, None])


@given(st.lists(st.tuples(_BLOCKS, _WORDS), max_size=12), st.sampled_from([0, 500, 2000, 1 << 20]), st.booleans())
def test_rows_are_read_as_they_were_last_written_whatever_of_them_stays_at_hand(writes, room, saves):
    with a_log() as log, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "_AT_HAND", room)
        shelf = cache.StoreCache(log.store.cached("knowledge.db"), "a program")
        there: dict[str, bytes | None] = {}
        for number, (block, words) in enumerate(writes):
            data = None if words is None else f"{number} {words}".encode()
            shelf.write("kind", "name", block, data)
            there |= {block: data}
            if saves:
                shelf.save()
            left = {block: data for block, data in sorted(there.items()) if data is not None}

            assert [*left.items()] == list(shelf.rows("kind", "name"))
            assert there == {block: shelf.read("kind", "name", block) for block in there}
            assert sum(map(len, shelf._at_hand.values())) == room - shelf._room <= room
        shelf.close()


def test_what_has_not_changed_since_then_is_not_made_anew_for_a_replay_of_then(log):
    for day in (19, 20, 21):
        fact = {"type": "fact", "content": f"Fact {day}", "project": f"/p/{day}"}
        log.append({**fact, "conversation_id": f"c{day}", "ts": f"2026-02-{day}T12:00:00Z"})
    rebuild(log, Settings())
    then = replay(log, Settings(), until="2026-02-21T11:00:00.000000Z", save=False).index.current_files

    assert {"/p/19", "/p/20"} == {
        name for (view, name), files in then.items() if view == MEMORY.name and name and files
    }


@pytest.mark.parametrize("how", ["locked", "read-only", "a directory", "full"])
def test_where_there_can_be_no_cache_a_replay_works_without(log, monkeypatch, how):
    log.append({"type": "fact", "conversation_id": "c", "content": "x"})
    path = Path(log.store.cached("knowledge.db"))
    monkeypatch.setattr(cache, "_PATIENCE", 0)
    if how == "a directory":
        path.mkdir(parents=True)
    elif how == "locked":
        replay(log, Settings())
        holder = sqlite3.connect(path)
        holder.execute("BEGIN EXCLUSIVE")
    elif how == "read-only":
        monkeypatch.setattr(cache, "_PRAGMAS", ("query_only = ON",))
    else:
        monkeypatch.setattr(cache, "_PRAGMAS", ("max_page_count = 1",))
    first = rebuild(log, Settings())

    assert "MEMORY.md" in first.published.written
    assert 0 == rebuild(log, Settings()).published.changes
    if how == "locked":
        holder.close()


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("access", ["read", "rows", "write"])
def test_whenever_a_row_turns_out_to_be_damaged_all_files_are_those_of_the_log(log, monkeypatch, access):
    """Also while files are written: some have been looked at by then, and rest on rows that are not asked again."""
    for number, name in enumerate(["shop", "billing", "desk"] * 2):
        log.append(
            {"type": "fact", "conversation_id": f"c{number}", "content": f"Fact {number}", "project": f"/p/{name}"}
        )
    real = getattr(cache.StoreCache, access)
    for after in range(0, 60, stride(9)):
        rebuild(log, Settings())
        left = iter(range(after))

        def damaged(*arguments, left=left):
            if next(left, None) is None:
                raise RowsDamaged("damaged", for_good=True)
            return real(*arguments)

        log.append({"type": "fact", "conversation_id": "later", "content": f"Fact {after}", "project": "/p/shop"})
        with monkeypatch.context() as patch:
            patch.setattr(cache.StoreCache, access, damaged)
            rebuild(log, Settings())

        assert rendered(log, Settings(), anew=True, save=False) == tree(log.store.knowledge)


@pytest.mark.slow
@pytest.mark.parametrize("access", ["of", "store"])
@pytest.mark.parametrize("after", range(8))
def test_whenever_the_layout_of_a_long_file_turns_out_to_be_damaged_the_file_is_that_of_the_log(
    log, monkeypatch, access, after
):
    log.append({"type": "fact", "conversation_id": "c", "content": "Port 8443", "project": "/p/shop"})
    rebuild(log, Settings())
    real, left = getattr(Layouts, access), iter([True] * after + [False])

    def damaged(*arguments):
        if not next(left, True):
            raise RowsDamaged("damaged", for_good=True)
        return real(*arguments)

    log.append({"type": "fact", "conversation_id": "later", "content": "Use RS256", "project": "/p/shop"})
    with monkeypatch.context() as patch:
        patch.setattr(Layouts, access, damaged)
        rebuild(log, Settings())

    assert rendered(log, Settings(), anew=True, save=False) == tree(log.store.knowledge)


ASKS: dict[str, Callable[[OpenStore], object]] = {
    "why": lambda asked: explain(asked, Path(asked.store.knowledge, "INDEX.md")),
    "edit": lambda asked: correctable(asked, "Fact 1").text,
    "review": review,
    "why --not": lambda asked: why_not(asked, "Fact 1"),
    "on": lambda asked: period(asked, "2026-01-01T00:00:00.000000Z"),
    "memory": lambda asked: known(asked, None),
    "forget": lambda asked: [line.text for line in forgettable(asked, "Fact 1")],
}


@pytest.mark.slow
@pytest.mark.parametrize("access", ["read", "rows", "blocks"])
@pytest.mark.parametrize("ask", ASKS)
def test_who_asks_gets_the_answer_whatever_row_turns_out_to_be_damaged(log, monkeypatch, ask, access):
    for number in range(3):
        log.append({"type": "fact", "conversation_id": f"c{number}", "content": f"Fact {number}", "project": "/p/shop"})
    rebuild(log, Settings())
    answered = ASKS[ask](opened(log))
    real = getattr(cache.StoreCache, access)
    for after in range(rounds(fixed=5, fuzz=40)):
        left = iter(range(after))

        def damaged(*arguments, left=left):
            if next(left, None) is None:
                raise RowsDamaged("damaged", for_good=True)
            return real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(cache.StoreCache, access, damaged)

            assert answered == ASKS[ask](opened(log))


@pytest.mark.parametrize("kind", [LINES, COUNTS])
def test_a_row_that_turns_out_to_be_damaged_when_it_is_read_late_is_made_of_the_log(log, monkeypatch, kind):
    """The lines of a long document, and what sessions and figures are told of, are read when somebody asks for them."""
    log.append({"type": "fact", "conversation_id": "c", "content": "x"})
    rebuild(log, Settings())
    read = {name: getattr(cache.StoreCache, name) for name in ("read", "rows", "blocks")}

    def damaged(name, shelf, *place):
        if place[0] == kind.name:
            raise RowsDamaged("damaged", for_good=True)
        return read[name](shelf, *place)

    for name in read:
        monkeypatch.setattr(cache.StoreCache, name, lambda *given, name=name: damaged(name, *given))

    assert rendered(log, anew=True, save=False) == rendered(log, save=False)
    assert figures(log, Settings(), anew=True) == figures(log, Settings())
    assert ["c"] == [row.session_id for row in SessionRow.all_of(replay(log, Settings(), save=False))]
