"""A head or a segment with any bit changed is not used."""

import os
import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eventlog.app.sync import segments
from eventlog.app.sync.keyring import Keyring
from eventlog.app.sync.segments import (
    MachineHead,
    Marker,
    day_in,
    digest_of,
    open_lines,
    pack_lines,
)

SECRET = b"0123456789abcdef"
RING = Keyring("dir:/x", "name", 1, {1: SECRET.hex()}, Keyring.new_machine())
HEAD = MachineHead(
    "name", "laptop-1", 3, "token", "2026-02-20T12:00:00.000000Z", "age1x", segments={"2026-02-20/1-00000000.age": "d"}
)
LINES = b'{"a":1}\n{"b":2}\n'


def test_a_head_is_read_as_it_was_written():
    assert HEAD == MachineHead.opened(RING, "laptop-1", HEAD.packed(RING))


@given(st.integers(min_value=0), st.integers(0, 7))
def test_a_head_with_another_bit_is_not_used(at, bit):
    data = bytearray(HEAD.packed(RING))
    data[at % len(data)] ^= 1 << bit
    assert MachineHead.opened(RING, "laptop-1", bytes(data)) in (None, HEAD)  # some bits of age's header say nothing


@pytest.mark.parametrize(
    ("ring", "replica"),
    [(RING, "desktop-1"), (Keyring("", "other", 1, {1: SECRET.hex()}, ""), "laptop-1"),
     (Keyring("", "name", 1, {1: os.urandom(16).hex()}, ""), "laptop-1")],
)  # fmt: skip
def test_a_head_of_another_machine_memory_or_key_is_not_used(ring, replica):
    assert MachineHead.opened(ring, replica, HEAD.packed(RING)) is None


@pytest.mark.parametrize("signed", [b"1\n" + b"0" * 64, b"1\n", b"7\n" + b"0" * 64, b"one\nx", b"1"])
def test_a_head_that_is_encrypted_for_this_memory_and_not_signed_by_it_is_not_used(signed):
    data = RING.encrypt(zlib.compress(signed + b"\n" + msgspec.json.encode(HEAD)))
    assert MachineHead.opened(RING, "laptop-1", data) is None


def test_a_head_without_a_time_is_not_used():
    assert MachineHead.opened(RING, "laptop-1", replace(HEAD, ts="yesterday").packed(RING)) is None


def test_a_head_that_names_files_elsewhere_is_not_used():
    for name in ("../../x", "2026-02-20/../../../1-00000000.age", "2026-13-20/1-00000000.age", ""):
        bad = MachineHead("name", "laptop-1", 1, "t", HEAD.ts, "age1", segments={name: "d"})
        assert MachineHead.opened(RING, "laptop-1", bad.packed(RING)) is None


def test_lines_come_back_byte_for_byte_in_several_segments(monkeypatch):
    monkeypatch.setattr(segments, "_AT_ONCE", 10)
    packed = pack_lines(RING, "laptop-1", "2026-02-20", LINES, 6)

    assert ["7", "8"] == [name.partition("/")[2].partition("-")[0] for name in packed]
    read = [open_lines(RING, "laptop-1", name, data, digest_of(data)) for name, data in packed.items()]
    assert LINES == b"".join(filter(None, read))


@pytest.mark.parametrize("wrong", ["digest", "replica", "day", "torn", "key"])
def test_a_segment_that_is_not_as_its_head_says_is_not_used(wrong):
    ((name, data),) = pack_lines(RING, "laptop-1", "2026-02-20", LINES, 0).items()
    digest = digest_of(data) if wrong != "torn" else digest_of(data[:-1])
    ring = RING if wrong != "key" else Keyring("", "name", 1, {1: os.urandom(16).hex()}, "")
    assert open_lines(RING, "laptop-1", name, data, digest_of(data)) == LINES
    assert (
        open_lines(
            ring,
            "desktop-1" if wrong == "replica" else "laptop-1",
            name.replace("-20/", "-21/") if wrong == "day" else name,
            data[:-1] if wrong == "torn" else data,
            "0" * 32 if wrong == "digest" else digest,
        )
        is None
    )


def test_more_than_a_segment_may_hold_is_not_used(monkeypatch):
    ((name, data),) = pack_lines(RING, "laptop-1", "2026-02-20", LINES * 1000, 0).items()
    monkeypatch.setattr(segments, "_LARGEST", 1000)
    assert open_lines(RING, "laptop-1", name, data, digest_of(data)) is None


def test_a_marker_that_was_changed_is_not_signed():
    marker = Marker("name", 2, {"old-1": 7})
    read = Marker.read(marker.signed(Keyring("", "name", 2, {2: SECRET.hex()}, "")))
    assert read
    assert read.is_signed_by(SECRET)
    assert not read.is_signed_by(os.urandom(16))
    read.dropped = {}
    assert not read.is_signed_by(SECRET)
    assert Marker.read(b"{") is None
    assert Marker.read(b'{"namespace":"name","format":2}') is None


@pytest.mark.parametrize(
    "name", ["head.age", "x/y/head.age", "../head.age", "a b/head.age", "x/head.age 2", "a.b/head.age"]
)
def test_other_names_are_no_heads(name):
    assert "" == MachineHead.replica_in(name)


@pytest.mark.parametrize(
    "name", ["2026-02-20/1-0.age", "2026-02-30/1-00000000.age", "2026-02-20/1-00000000.age.tmp", "x"]
)
def test_other_names_are_no_segments(name):
    assert "" == day_in(name)
