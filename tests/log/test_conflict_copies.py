import pytest

from eventlog.log.verify import sync_program
from eventlog.store import day_of

COPIES = {
    "2026-02-20.sync-conflict-20260221-080000-ABCDEFG.jsonl": "Syncthing",
    "2026-02-20.bobs.local.sync-conflict-20260221-080000-ABCDEFG.jsonl": "Syncthing",
    "2026-02-20 (bob's conflicted copy 2026-02-21).jsonl": "Dropbox",
    "2026-02-20 (conflicted copy 2026-02-21 080000).jsonl": "Nextcloud",
    "2026-02-20.bobs_conflict-20260221-080000.jsonl": "Nextcloud",
    "2026-02-20 (SFConflict bob@example.org 2026-02-21-08-00-00).jsonl": "Seafile",
    "2026-02-20.bobs.Conflict.jsonl": "Resilio",
    "2026-02-20.conflict2.jsonl": "rclone",
    "2026-02-20_bobs_Feb-21-080000-2026_Conflict.jsonl": "Synology Drive",
    "2026-02-20 (1).jsonl": "Google Drive",
    "2026-02-20 2.jsonl": "iCloud",
    "2026-02-20.bobs 2.jsonl": "iCloud",
    "2026-02-20-LAPTOP-3F2A.jsonl": "OneDrive",
}


@pytest.mark.parametrize(("name", "program"), COPIES.items())
def test_a_copy_of_a_sync_program_is_known_by_its_name_and_is_no_day_file(name, program):
    assert (program, "") == (sync_program(name), day_of(name))


@pytest.mark.parametrize(
    "name",
    ["2026-02-20.jsonl", "2026-02-20.bobs.local.jsonl", "notes 2.jsonl", "2026-02-30 2.jsonl", "2026-02-20.json"],
)
def test_other_files_are_none(name):
    assert "" == sync_program(name)
