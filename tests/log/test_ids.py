import os
import subprocess
import sys
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog import InvalidEvent
from eventlog.format import codec, ids, timestamps
from tests.support.strategies import moments
from tests.support.tree import IMPORT_PATH

milliseconds = moments.map(lambda ns: ns // 1_000_000)
keys = st.text(st.characters(), max_size=30)


@given(milliseconds)
def test_a_new_id_is_a_canonical_uuid_of_version_7(ms):
    event_id = ids.new(ms)

    assert (7, uuid.RFC_4122, event_id) == (
        uuid.UUID(event_id).version,
        uuid.UUID(event_id).variant,
        str(uuid.UUID(event_id)),
    )


def test_no_two_new_ids_are_alike():
    assert 1000 == len({ids.new(0) for _ in range(1000)})


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_makes_other_ids_than_its_parent():
    ids.new(0)  # draws some ahead
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.write(writing, " ".join(ids.new(0) for _ in range(100)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    own = {ids.new(0) for _ in range(100)}

    assert own.isdisjoint(os.read(reading, 1 << 16).decode().split())
    os.close(reading)
    os.close(writing)


@given(st.integers(-(10**14), 0), keys)
def test_an_event_from_before_1970_has_a_canonical_id_too(ms, key):
    assert str(uuid.UUID(ids.derived(ms, key))) == ids.derived(ms, key)


@given(milliseconds, keys)
def test_an_id_tells_its_time(ms, key):
    assert ms == ids.time_ms(ids.derived(ms, key))


@given(milliseconds, milliseconds, keys, keys)
def test_ids_order_like_their_times(one, other, key, other_key):
    first, second = sorted([one, other])

    assert first == second or ids.derived(first, key) < ids.derived(second, other_key)


@given(milliseconds, keys)
def test_an_id_starts_with_the_prefix_of_its_millisecond(ms, key):
    assert ids.derived(ms, key).startswith(ids.prefix(ms))


@given(milliseconds, milliseconds, keys)
def test_ids_of_one_key_end_alike_whatever_their_time(one, other, key):
    assert ids.derived(one, key).endswith(ids.derived_tail(key))
    assert ids.derived(other, key).endswith(ids.derived_tail(key))


@given(milliseconds, keys, keys)
def test_different_keys_have_different_ids(ms, one, other):
    assert (one == other) == (ids.derived(ms, one) == ids.derived(ms, other))


def test_new_ids_of_one_millisecond_differ():
    assert 10_000 == len({ids.new(0) for _ in range(10_000)})


def test_a_derived_id_is_the_same_forever():
    ms = timestamps.to_ms("2026-02-21T08:35:44.123456Z")

    assert "019c7f57-277b-770f-acb8-defd1932330b" == ids.derived(ms, "key")


@pytest.mark.slow
def test_a_derived_id_does_not_depend_on_the_hash_seed():
    script = "from eventlog.format import ids; print(ids.derived(1, 'key'))"
    seeded = {
        subprocess.check_output(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": IMPORT_PATH, "PYTHONHASHSEED": seed},
            text=True,
        )
        for seed in ("1", "2")
    }

    assert {ids.derived(1, "key") + "\n"} == seeded


@pytest.mark.parametrize("text", ["", "no id at all", "zzzzzzzz-zzzz"])
def test_what_is_no_id_has_no_time(text):
    with pytest.raises(ValueError, match="invalid literal"):
        ids.time_ms(text)


def test_only_canonical_ids_of_version_7_are_accepted(log):
    whole = ids.new(0)
    for wrong in (whole.upper(), whole.replace("-", ""), str(uuid.uuid4()), whole[:-1], f"{{{whole}}}", "../" + whole):
        event = codec.from_fields(
            {"type": "turn_end", "conversation_id": "c", "id": wrong, "ts": "2026-02-21T08:35:44.123456Z"}
        )
        if wrong == whole:  # an id of digits only has no upper case
            continue

        with pytest.raises(InvalidEvent, match=r"^id: "):
            codec.check(event)
