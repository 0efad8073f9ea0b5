"""The end of a session seals the log, at most once a minute, and a hook never does."""

from pathlib import Path

import pytest

from eventlog.app.build.finalize import finalize
from eventlog.app.setup.seal import seal_at_end, seal_log, settled
from eventlog.format.events import Fact
from eventlog.log.seals import Chain
from tests.support.hook_calls import tell
from tests.support.host_calls import alone
from tests.support.payloads import claude
from tests.support.use_cases import opened


def said(log, number):
    log.append(Fact(conversation_id="s", content=f"The tea is {number}"))


@pytest.mark.slow
def test_the_end_of_a_session_seals_what_was_said(log):
    said(log, 1)
    list(finalize(log.store, lambda: opened(log)))

    assert [1] == [seal.n for seal in Chain.read(log.store).seals if seal]


def test_at_most_once_a_minute(log, clock):
    for second in (0, 30, 59, 61, 100, 130):
        said(log, second)
        moment = clock.now
        clock.now = moment + second * 10**9
        seal_at_end(log)
        clock.now = moment

    assert 3 == len(Chain.read(log.store).seals)


def test_a_hook_seals_nothing(log):
    alone(log.store.root)
    for name in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        tell(log.store.root, claude(name, prompt="hi", source="startup", reason="logout"), "--agent", "claude")

    assert not Path(log.store.seals).exists()
    seal_log(log)
    assert Path(log.store.seals).exists()


def test_while_the_log_is_rewritten_no_end_of_a_session_waits_for_a_seal(log, monkeypatch):
    monkeypatch.setattr("eventlog.store.files.PATIENCE", 0.05)
    said(log, 1)
    with settled(log.store):
        seal_at_end(log)

    assert not Path(log.store.seals).exists()
