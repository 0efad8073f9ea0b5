"""A log in the cache is bounded, and holds whole lines only."""

from eventlog.store.files import append_bounded


def test_a_long_log_is_started_anew_and_the_old_one_kept(tmp_path):
    path = tmp_path / "notes.log"
    for number in range(4):
        append_bounded(str(path), f"line {number}".encode(), 10)

    assert b"line 0\nline 1\nline 2\n" == (tmp_path / "notes.log.1").read_bytes()
    assert b"line 3\n" == path.read_bytes()


def test_a_long_log_takes_no_more_where_it_is_not_started_anew(tmp_path):
    path = tmp_path / "notes.log"
    for number in range(4):
        append_bounded(str(path), f"line {number}".encode(), 10, starts_anew=False)

    assert b"line 0\nline 1\n" == path.read_bytes()
