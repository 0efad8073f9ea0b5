"""The law of a day that is not over: folded piece by piece as it grows, it is what it is folded at once."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog.format import codec
from eventlog.projections.engine import day_fold, day_states
from eventlog.settings.schema import Settings
from tests.support import builders
from tests.support.builders import DAY, replay
from tests.support.effort import rounds
from tests.support.histories import a_log, histories, log_of, ts_of


@contextmanager
def tails():
    """Note of each changed day whether only what was appended to it was folded."""
    found = []

    def noted(*arguments):
        fold = day_fold.fold_tail(*arguments)
        found.append(fold is not None)
        return fold

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(day_states, "fold_tail", noted)
        yield found


def replayed(log):
    """What a replay with the cache renders; it is stored."""
    done = replay(log, Settings())
    documents = {document.path: document.data for document in done.documents}
    done.save()
    return documents, done.events, done.damage


def file_of(log, day=DAY):
    return Path(log.store.log, f"{day}.jsonl")


def append(log, data, day=DAY):
    file_of(log, day).parent.mkdir(parents=True, exist_ok=True)
    with file_of(log, day).open("ab") as opened:
        opened.write(data)


def fresh(log):
    """What the same files say to who never read them."""
    with a_log() as other:
        for file in Path(log.store.log).iterdir():
            append(other, file.read_bytes(), file.stem)
        documents, events, damage = replayed(other)
        return documents, events, len(damage)


def same(found):
    documents, events, damage = found
    return documents, events, len(damage)


@pytest.mark.slow
@settings(max_examples=rounds(fixed=8, fuzz=1000))
@given(histories(max_size=14), st.data())
def test_a_log_cut_anywhere_and_grown_piece_by_piece_says_what_it_says_at_once(lines, data):
    files: dict[str, bytes] = {}
    for line in sorted(lines, key=ts_of):
        files[ts_of(line)[:10]] = files.get(ts_of(line)[:10], b"") + line + b"\n"
    with log_of([]) as log:
        for day, content in sorted(files.items()):
            ends = [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]
            cuts = data.draw(st.lists(st.sampled_from(ends) | st.integers(0, len(content)), max_size=3))
            for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(content)], strict=True):
                append(log, content[start:end], day)
                found = same(replayed(log))

        assert fresh(log) == found


def grown(log, pieces=3, **fields):
    """A day that was replayed, and again after it grew, so that its next lines are folded alone."""
    for piece in range(pieces):
        some = (builders.fact(10 * piece + number, **fields) for number in range(3))
        append(log, b"".join(codec.encode(codec.from_fields(one)) + b"\n" for one in some))
        replayed(log)


def test_of_a_day_that_grows_only_what_was_appended_is_folded(log):
    with tails() as found:
        grown(log, 4)

    assert [False, True, True] == found
    assert fresh(log) == same(replayed(log))


def test_a_late_line_is_folded_alone_unless_the_day_may_have_it_already(log):
    grown(log)
    for late, is_alone in (
        (builders.line(5), True),
        (builders.line(6), True),
        (builders.line(7).replace(b'"id":"0', b'"id":"\\u0030'), True),
        (builders.line(8), False),  # the line before spells its id otherwise
        (builders.line(5, content="told again"), False),
    ):
        append(log, late + b"\n")
        with tails() as found:
            assert fresh(log) == same(replayed(log))
        assert [is_alone] == found


def test_a_line_that_was_changed_where_it_stands_is_seen_though_the_day_grew(log):
    grown(log)
    file = file_of(log)
    with file.open("r+b") as opened:
        opened.write(file.read_bytes().replace(b"fact 1", b"tact 1", 1))
    append(log, builders.line(90) + b"\n")
    with tails() as found:
        done = same(replayed(log))

    assert [False] == found
    assert fresh(log) == done
    assert any(b"tact 1" in data for data in done[0].values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd",
    [
        builders.line(1, content="told again") + b"\n",
        builders.line(90)[:40],
        b"{}\n",
        b"\n",
        builders.line(90, conversation_id="x", day="2026-02-19") + b"\n",
        builders.line(90) + b"\n" + builders.line(90, content="twice") + b"\n",
    ],
    ids=["a copy", "a torn line", "damage", "blank", "of another day", "twice"],
)
def test_what_is_odd_about_new_lines_is_found_as_in_a_whole_day(log, odd):
    grown(log)
    append(log, odd)
    with tails() as found:
        first = fresh(log) == same(replayed(log))
        append(log, b"\n" + builders.line(95) + b"\n")
        second = fresh(log) == same(replayed(log))

    assert (True, True) == (first, second)
    assert True not in found


def test_what_was_withdrawn_earlier_that_day_stays_out_as_it_grows(log):
    grown(log)
    (event,) = [event for event in log.read() if getattr(event, "content", "") == "fact 1"]
    append(log, codec.encode(codec.from_fields(_retraction(event.id))) + b"\n")
    replayed(log)
    with tails() as found:
        append(log, builders.line(95) + b"\n")
        done = same(replayed(log))

    assert [True] == found
    assert fresh(log) == done
    assert b"fact 1\n" not in b"".join(done[0].values())
    assert b'"fact 1"' not in Path(log.store.cached("knowledge.db")).read_bytes()


def _retraction(target):
    fields = {**builders.fact(50), "type": "retraction", "target": target}
    del fields["content"]
    return fields


def test_a_day_whose_file_another_took_the_place_of_is_folded_by_what_it_holds(log):
    grown(log)
    file = file_of(log)
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(data + builders.line(95) + b"\n")
    os.utime(file)
    with tails() as found:
        done = same(replayed(log))

    assert [True] == found
    assert fresh(log) == done
