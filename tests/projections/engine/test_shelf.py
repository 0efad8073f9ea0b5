"""Rows of days that are fetched together are those that are fetched one by one, or none."""

import pytest

from eventlog.projections.engine.row_store import DaysAtOnce, MemoryRows, RowsDamaged


class Counted(MemoryRows):
    """Counts how often all rows of a name are asked for; damaged, it has none to give."""

    def __init__(self, *, damaged=False):
        super().__init__()
        self.asked = 0
        self.damaged = damaged

    def rows(self, kind, name):
        self.asked += 1
        if self.damaged:
            raise RowsDamaged("torn")
        return super().rows(kind, name)


@pytest.mark.parametrize(("damaged", "expected"), [(False, [b"1", b"2", None]), (True, [None, None, None])])
def test_days_are_fetched_once_and_all_or_none(damaged, expected):
    below = Counted(damaged=damaged)
    below.write("day", "", "2026-01-01", b"1")
    below.write("day", "", "2026-01-02", b"2")
    shelf = DaysAtOnce(below)

    assert expected == [shelf.read("day", "", f"2026-01-0{day}") for day in (1, 2, 3)]
    assert 1 == below.asked


def test_other_rows_are_read_as_they_lie():
    below = Counted()
    below.write("said", "", "2026-01-01", b"words")
    shelf = DaysAtOnce(below)

    assert (b"words", 0) == (shelf.read("said", "", "2026-01-01"), below.asked)
    assert [("2026-01-01", b"words")] == list(shelf.rows("said", ""))
    with pytest.raises(NotImplementedError):
        shelf.write("day", "", "2026-01-01", b"")
