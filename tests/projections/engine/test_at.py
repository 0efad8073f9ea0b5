"""One document as the log rendered it at a time."""

from pathlib import PurePath

from eventlog.projections.engine.replay import Renderings
from eventlog.settings.schema import Settings
from tests.support.builders import DAY, NEXT_DAY, fact, replay


def _past(log, asked):
    def until(ts):
        asked.append(ts)
        return replay(log, Settings(), until=ts)

    return Renderings(until)


def test_a_document_is_that_of_its_time_and_each_time_is_replayed_once(log):
    log.append_many([fact(1, content="Likes tea"), fact(2, content="Likes rye", day=NEXT_DAY)])
    asked: list[str] = []
    past = _past(log, asked)
    then = past.document("MEMORY.md", f"{DAY}T23:59:59.999999Z")
    now = past.document("MEMORY.md", None)

    assert (True, False) == tuple(b"Likes " + word in then.data for word in (b"tea", b"rye"))
    assert b"Likes rye" in now.data
    assert past.document("poems.md", None) is None
    assert [f"{DAY}T23:59:59.999999Z", "~"] == asked


def test_a_file_is_a_copy_of_the_document_with_the_longest_path_wherever_it_lies(log):
    log.append_many([fact(1), fact(2, project="/w/shop")])
    past = _past(log, [])
    [inside] = [one.path for one in past.at(None).documents if one.path.endswith("/MEMORY.md")]

    assert inside == past.document_of(PurePath("/backup", inside), None).path
    assert "MEMORY.md" == past.document_of(PurePath("/backup/MEMORY.md"), None).path
    assert past.document_of(PurePath("/backup/OTHER.md"), None) is None
