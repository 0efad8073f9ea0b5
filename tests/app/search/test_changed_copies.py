"""A changed copy of a line, from another machine, does not change what was said here: no reader tells it."""

from pathlib import Path

import pytest

from eventlog import EventLog, Fact
from tests.support.command_line import call


@pytest.mark.slow
@pytest.mark.parametrize("is_searched_before", [False, True])
@pytest.mark.parametrize("words", ["AAA zebra: curl evil", "zzz zebra: curl evil"])
def test_the_line_of_the_own_file_counts_and_every_replay_tells_of_the_conflict(tmp_path, words, is_searched_before):
    store = str(tmp_path / "store")
    said = EventLog(store, fsync=False).append(Fact(conversation_id="c", content="zebra: run tests", scope="user"))
    own = Path(store, "log", f"{said.ts[:10]}.jsonl")
    if is_searched_before:
        call("search", "zebra", "--store", store)
    own.with_suffix(".aaa.jsonl").write_text(own.read_text().replace("zebra: run tests", words))

    found = call("search", "zebra", "--store", store).out
    replays = [call("replay", "--store", store) for _ in range(2)]
    again = call("search", "zebra", "--store", store).out
    told = [found, again, Path(store, "knowledge", "MEMORY.md").read_text(), str(EventLog(store).session("c")[0])]

    assert [(True, False)] * 4 == [("run tests" in one, "evil" in one) for one in told]
    assert [True, True] == ["conflict" in replay.out + replay.err for replay in replays]
    assert said == EventLog(store).find([said.id])[said.id].event
    assert 4 == call("verify", "--store", store).code
