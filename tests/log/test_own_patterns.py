"""A user's own patterns are found wherever the maintained rules are; what cannot be searched in one pass is refused."""

import json
from pathlib import Path

import pytest

from eventlog.format.errors import BadSettings
from eventlog.log.event_log import EventLog
from eventlog.secrets import scrub_text, use_own
from eventlog.secrets.own_patterns import parse
from eventlog.settings import load
from eventlog.store import Store
from tests.support.hook_calls import tell

PATTERN = "corp-[0-9a-f]{8}"
SECRET = "corp-" + "0a1b2c3d"


@pytest.fixture(autouse=True)
def _nobodys_patterns():
    yield
    use_own([])


@pytest.mark.parametrize(
    ("pattern", "meaning"),
    [
        (PATTERN, ("corp-", "0123456789abcdef", 8, 8)),
        (r"key\.\d{2,}", ("key.", "0123456789", 2, 0)),
        (r"a\[b[\]x-]{1,3}", ("a[b", "-]x", 1, 3)),
        (r"my_[a-c\d]+", ("my_", "0123456789abc", 1, 0)),
    ],
)
def test_a_pattern_is_a_beginning_and_so_many_characters(pattern, meaning):
    assert meaning == parse(pattern)


@pytest.mark.parametrize("pattern", ["", "co[a]{2}", "(a+)+b", "corp-", "corp-.*", "corp-[^a]{3}", "corp-[a]{0}", "^corp-[a]{2}",
                                     "corp-[a]{3,2}", "corp-[a]{2}[b]{2}", "corp-[a", r"corp\\+[a]{2}", "corp-[a]{²}",
                                     "corp-[a]{1,²}"])  # fmt: skip
def test_every_other_pattern_is_refused_with_how_to_write_it(pattern, tmp_path):
    store = Store(tmp_path)
    with pytest.raises(ValueError, match="write a beginning"):
        parse(pattern)
    Path(store.config).write_text(json.dumps({"secrets": {"patterns": [pattern]}}))
    with pytest.raises(BadSettings, match="write a beginning"):
        load.load(store)


def test_it_is_scrubbed_by_every_writer_also_where_it_is_short(tmp_path):
    store = Store(tmp_path)
    Path(store.config).write_text(json.dumps({"secrets": {"patterns": [PATTERN]}}))
    EventLog(store).append({"type": "fact", "conversation_id": "s", "content": f"say {SECRET}."})
    use_own([])
    tell(store.root, {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": f"say {SECRET}."})
    logged = b"".join(path.read_bytes() for path in Path(store.log).iterdir())
    assert (2, 0) == (logged.count(b"say [secret:own]."), logged.count(SECRET.encode()))


def test_without_patterns_nothing_else_is_a_secret():
    use_own([PATTERN])
    assert "[secret:own]" == scrub_text(SECRET)
    use_own([])
    assert SECRET == scrub_text(SECRET)
