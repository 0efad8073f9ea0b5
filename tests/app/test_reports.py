"""The list of reports, and the text in them."""

from pathlib import Path

from eventlog.app.write.erasing.redact import _report_text, _written_reports, write_report
from eventlog.store import Store


def test_reports_are_listed_once_while_they_are_there(tmp_path):
    store = Store(str(tmp_path / "store"))
    places = [write_report(store, str(tmp_path / name), "<html>") for name in ("a.html", "b.html", "a.html")]

    assert _written_reports(store) == [places[1], places[0]]

    Path(places[0]).unlink()

    assert _written_reports(store) == [places[1]]


def test_a_damaged_list_is_no_list(tmp_path):
    store = Store(str(tmp_path))
    place = Path(store.cached("reports.json"))
    place.parent.mkdir()
    place.write_text("{")

    assert _written_reports(store) == []


def test_texts_are_read_as_events_have_them(tmp_path):
    (tmp_path / "r.html").write_text(r'"a \u003cb\u003e \u0026 \"c\""')

    assert 'a <b> & "c"' in _report_text(str(tmp_path / "r.html"))
    assert _report_text(str(tmp_path / "none.html")) == ""
