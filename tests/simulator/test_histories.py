"""The promises hold in whole histories, and a simulator that looks at a broken program says so."""

import pytest

from eventlog.app.open_store import OpenStore
from tests.simulator.history import Broken, Step, drawn, play
from tests.support.effort import rounds

pytestmark = pytest.mark.slow

# what broke a promise once, as short as it can be
FOUND = {
    "an entry reached its file and not the log, and the cache was deleted": [
        Step("write_entry", 0, 355, 828),
        Step("settle", 0, 0, 0, "full", 6),
        Step("lose_cache", 0, 0, 0),
    ],
    "a redaction had no room, and was completed later": [
        Step("turn_end", 0, 286, 251, "full", 1),
        Step("settle", 0, 805, 417, "full", 11),
        Step("append", 0, 583, 632),
        Step("redact", 0, 21, 268, "full", 0),
    ],
    "an entry reached its file and not the log, and the log lost the entry": [
        Step("start", 2, 561, 172),
        Step("write_entry", 0, 621, 389),
        Step("write_entry", 2, 718, 471),
        Step("take", 0, 923, 799),
        Step("settle", 0, 936, 513, "full", 10),
        Step("torn_take", 0, 487, 629),
    ],
    "a memory was edited whose path another machine had first, and that machine's log came torn": [
        Step("plan", 2, 988, 105),
        Step("summary", 0, 537, 10),
        Step("replay", 0, 492, 70),
        Step("take", 0, 277, 398),
        Step("edit_memory", 0, 486, 157),
        Step("forget", 0, 22, 502),
        Step("torn_take", 0, 231, 413),
    ],
    "a redaction took what another machine had redacted for its own": [
        Step("append", 0, 92, 212),
        Step("copy", 2, 54, 703),
        Step("redact", 2, 593, 926),
        Step("take", 0, 81, 370),
        Step("redact", 0, 738, 17),
    ],
    "a base has the text of an entry that was cut from the log, after another of its section": [
        Step("plan", 0, 257, 554),
        Step("summary", 0, 701, 146),
        Step("write_entry", 1, 404, 479),
        Step("take", 1, 879, 831),
        Step("forget", 1, 265, 206),
        Step("torn_take", 1, 407, 810),
    ],
    "a base has the text of an entry that is gone from the log": [
        Step("plan", 0, 903, 45),
        Step("plan", 1, 66, 505, "kill", 35),
        Step("take", 0, 380, 516),
        Step("replay", 0, 788, 537),
        Step("drop", 0, 163, 802),
    ],
    "an entry plans what an entry that is gone from the log has written": [
        Step("plan", 1, 277, 489),
        Step("take", 0, 580, 102),
        Step("replay", 0, 203, 520),
        Step("drop", 0, 258, 731),
        Step("plan", 0, 847, 758),
    ],
    "a machine has another name now, and the log has lost an entry that it applied": [
        Step("write_entry", 2, 153, 286),
        Step("plan", 2, 988, 892),
        Step("fact", 0, 384, 953),
        Step("take", 0, 551, 317),
        Step("edit_line", 0, 804, 810),
        Step("drop", 0, 376, 774),
        Step("replay", 0, 354, 899),
        Step("lose_name", 0, 395, 159),
        Step("plan", 0, 18, 752),
    ],
    "a replay was killed between a base and the log, and the home was copied to another machine": [
        Step("replay", 2, 32, 413),
        Step("plan", 2, 788, 183),
        Step("replay", 2, 471, 349, "kill", 24),
        Step("copy", 1, 900, 992),
    ],
    "a repair moved a line that another machine's file had brought back after it was redacted": [
        Step("plan", 2, 504, 353),
        Step("copy", 1, 172, 745),
        Step("undo", 1, 492, 1, "full", 2),
        Step("append", 1, 714, 288, "kill", 39),
        Step("copy", 2, 507, 459),
        Step("redact", 2, 461, 222),
        Step("take", 2, 631, 70),
        Step("repair", 2, 461, 585),
    ],
    "a memory was edited of a project that the log has no more, and a line of it forgotten": [
        Step("fact", 0, 91, 491),
        Step("forget", 1, 368, 167),
        Step("summary", 1, 34, 811),
        Step("summary", 0, 945, 193),
        Step("take", 0, 846, 244),
        Step("replay", 0, 465, 776, "full", 5),
        Step("torn_take", 0, 296, 62),
        Step("edit_memory", 0, 987, 449),
        Step("forget", 0, 81, 438),
    ],
    "a copy of an edited memory was swept in another state of the memory": [
        Step("keyed", 0, 467, 438),
        Step("summary", 0, 733, 771),
        Step("forget", 0, 820, 27),
        Step("fact", 0, 729, 498),
        Step("torn_take", 1, 43, 167),
        Step("edit_line", 1, 757, 435),
        Step("undo", 0, 95, 484),
        Step("undo", 1, 344, 602),
        Step("edit_memory", 0, 919, 119),
        Step("take", 0, 336, 142),
        Step("replay", 0, 914, 79, "full", 20),
        Step("summary", 0, 657, 363),
    ],
    "a machine has another name now, and what it sent by the first is gone from the remote": [
        Step("plan", 1, 829, 598),
        Step("summary", 0, 460, 667),
        Step("sync", 1, 948, 165),
        Step("sync", 0, 326, 302),
        Step("lose_name", 0, 259, 668),
        Step("lose_remote", 2, 29, 344),
    ],
    "an entry reached its file and not the log, and the store was lost and restored from a backup": [
        Step("plan", 0, 857, 184),
        Step("replay", 0, 71, 589, "full", 2),
        Step("back_up", 0, 280, 305),
    ],
    "an entry reached its file and not the log, which lost it, and another plans the same": [
        Step("start", 0, 267, 713),
        Step("plan", 1, 802, 93),
        Step("take", 0, 350, 579),
        Step("append", 0, 146, 578, "kill", 3),
        Step("plan", 2, 310, 666),
        Step("redact", 0, 58, 579, "full", 1),
        Step("drop", 0, 762, 994),
        Step("replay", 0, 212, 537),
        Step("take", 0, 515, 430),
    ],
}
RESTORED = [Step("plan", 0, 0, 1), Step("replay", 0, 1, 0), Step("copy", 1, 1, 0), Step("replay", 1, 1, 0)]


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork beside xdist's thread; nothing is shared
def test_every_promise_holds_in_the_first_histories(tmp_path):
    for seed in range(rounds(fixed=1, fuzz=100)):
        play(drawn(seed, 40), tmp_path / str(seed))


@pytest.mark.parametrize("name", FOUND)
def test_what_broke_a_promise_once_breaks_it_no_more(name, tmp_path):
    play(FOUND[name], tmp_path)


def test_a_store_that_gets_its_name_too_late_is_found(tmp_path, monkeypatch):
    play(RESTORED, tmp_path / "as it is")
    monkeypatch.setattr(OpenStore, "replica", "")  # as of a store that has none when it is opened
    with pytest.raises(Broken, match="replay ends with 3"):
        play(RESTORED, tmp_path / "broken")
