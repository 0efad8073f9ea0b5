"""One document as the log rendered it at a time."""

from pathlib import PurePath

from eventlog.settings.schema import Settings
from tests.support.builders import DAY, NEXT_DAY, fact, replay


def test_a_document_is_that_of_its_time(log):
    log.append_many([fact(1, content="Likes tea"), fact(2, content="Likes rye", day=NEXT_DAY)])
    then = replay(log, Settings(), until=f"{DAY}T23:59:59.999999Z").document("MEMORY.md")
    today = replay(log, Settings())
    now = today.document("MEMORY.md")

    assert (True, False) == tuple(b"Likes " + word in then.data for word in (b"tea", b"rye"))
    assert b"Likes rye" in now.data
    assert today.document("poems.md") is None


def test_a_file_is_a_copy_of_the_document_with_the_longest_path_wherever_it_lies(log):
    log.append_many([fact(1), fact(2, project="/w/shop")])
    done = replay(log, Settings())
    [inside] = [one.path for one in done.documents if one.path.endswith("/MEMORY.md")]

    assert inside == done.document_of(PurePath("/backup", inside)).path
    assert "MEMORY.md" == done.document_of(PurePath("/backup/MEMORY.md")).path
    assert done.document_of(PurePath("/backup/OTHER.md")) is None
