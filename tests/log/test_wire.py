"""A log of any release is read whole by today's reader, and says the same when it is written again."""

import re

import pytest

from eventlog.format import codec
from eventlog.format.events import TYPES, VERSIONS, UnknownEvent
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.log.verify import verify
from tests.support import wire
from tests.support.golden import copied, rendered
from tests.support.tree import ROOT, needs_tree

RELEASES = sorted(path.name for path in wire.FIXTURES.iterdir())


def lines_of(release):
    files = sorted((wire.FIXTURES / release / "log").iterdir())
    return [line for file in files for line in file.read_bytes().splitlines()]


def test_every_release_of_the_changelog_has_its_log():
    needs_tree()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert sorted(re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changelog, re.MULTILINE)) == RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_a_log_of_any_release_is_read_whole(release, tmp_path):
    log = copied(wire.FIXTURES / release, tmp_path)

    found = verify(log)

    assert found.damage == []
    assert found.events == len(lines_of(release)) == len(list(log.read()))


@pytest.mark.parametrize("release", RELEASES)
def test_what_any_release_wrote_is_written_again_byte_for_byte(release):
    for line in lines_of(release):
        event = codec.decode(line)
        if event.v == VERSIONS.get(event.type, event.v):  # an older version is lifted, and says so in its `v`
            assert codec.encode(event) == line


@pytest.mark.parametrize("release", RELEASES)
def test_no_type_of_any_release_is_forgotten(release):
    unknown = [event for event in map(codec.decode, lines_of(release)) if isinstance(event, UnknownEvent)]

    assert {(event.type, event.v) for event in unknown} == {("dream", 1), ("fact", 7)}


@pytest.mark.parametrize("release", RELEASES)
def test_a_log_of_any_release_is_rendered(release, tmp_path):
    files = rendered(copied(wire.FIXTURES / release, tmp_path))

    assert files["sessions.jsonl"].count(b"\n") == 3


def test_the_next_release_can_be_written_down(tmp_path):
    wire.write(tmp_path / "next")

    log = EventLog(tmp_path / "next", fsync=False)
    assert {event.type for event in log.read()} == {*TYPES, "dream"}
    assert len(days.list_days(log.store.log)) == 2
    with pytest.raises(FileExistsError):  # what is released is never written again
        wire.write(tmp_path / "next")
