"""A sealed log: whatever happens to a line of it is named, and nothing that may happen to a log raises an alarm."""

import json
import random
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog.app.setup.seal import seal_log, verify_sealed
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.format.errors import BadRequest
from eventlog.format.events import Fact
from eventlog.log import seals
from eventlog.log.event_log import EventLog
from eventlog.log.seals import Chain, check_seals, grow_tree, leaf_of, seal
from eventlog.log.verify import repair
from tests.support.builders import DAY, NEXT_DAY, line, lines, write
from tests.support.command_line import call
from tests.support.effort import FUZZ, rounds, seed, tried
from tests.support.use_cases import opened

NAMES = (f"{DAY}.jsonl", f"{NEXT_DAY}.jsonl", f"{DAY}.laptop.jsonl")


def sealed(log, **options):
    return seal(log.store, "2026-02-21T12:00:00.000000Z", "here", **options)


def first(log):
    """The kind, file and line of the first difference of each file."""
    return [(one.kind, Path(one.file).name, one.line) for one in check_seals(log.store).damage]


@pytest.fixture
def full(log, log_dir):
    """A log of 200 events in three files, sealed as it grew."""
    parts = {name: [line(number, day=name[:10]) + b"\n" for number in range(67)] for name in NAMES}
    parts[NAMES[0]].pop()
    for size in (20, 45, 67):
        for name, those in parts.items():
            write(log_dir, b"".join(those[:size]), name)
        assert sealed(log).is_new
    assert [] == first(log)
    return log


def spots(size, count):
    """So many places in a file; all of them under fuzz effort."""
    chosen = range(size) if FUZZ else sorted(random.Random(f"{seed()} {size}").sample(range(size), min(size, count)))
    tried(len(chosen))
    return chosen


def test_every_flipped_byte_is_named_with_its_line(full):
    for name in NAMES:
        path = Path(full.store.log, name)
        data = path.read_bytes()
        for at in spots(len(data), 20):
            path.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :])
            number = data.count(b"\n", 0, at) + 1
            [(kind, file, found)] = first(full)
            assert (file, number) == (name, found)
            assert kind == ("missing" if at == len(data) - 1 else "altered")
        path.write_bytes(data)
    assert [] == first(full)


def test_every_prefix_is_named_with_the_first_line_that_is_gone(full):
    path = Path(full.store.log, NAMES[1])
    data = path.read_bytes()
    for size in spots(len(data), 25):
        path.write_bytes(data[:size])
        assert [("missing", NAMES[1], data.count(b"\n", 0, size) + 1)] == first(full)


def test_every_line_taken_out_put_in_or_moved_is_named(full, log_dir):
    path = Path(log_dir, NAMES[2])
    those = path.read_bytes().splitlines(keepends=True)
    for at in spots(len(those) - 1, 10):
        changes = {
            "missing": those[:at] + those[at + 1 :],
            "inserted": [*those[:at], line(999) + b"\n", *those[at:]],
            "swapped": [*those[:at], those[at + 1], those[at], *those[at + 2 :]],
        }
        for kind, changed in changes.items():
            path.write_bytes(b"".join(changed))
            [found] = check_seals(full.store).damage
            assert (kind, at + 1) == (found.kind, found.line)
            assert sum(map(len, those[:at])) == found.offset


def test_a_file_that_is_gone_or_renamed_is_named(full, log_dir):
    Path(log_dir, NAMES[1]).rename(log_dir / f"{NEXT_DAY}.other.jsonl")
    [renamed] = check_seals(full.store).damage
    assert ("missing", True) == (renamed.kind, f"they are in {log_dir}/{NEXT_DAY}.other.jsonl" in renamed.reason)
    Path(log_dir, f"{NEXT_DAY}.other.jsonl").unlink()
    assert [("missing", NAMES[1], 0)] == first(full)


def test_every_flipped_byte_of_the_chain_is_named(full):
    path = Path(full.store.seals)
    data = path.read_bytes()
    for at in spots(len(data), 25):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert "seals.jsonl" in {file for _, file, _ in first(full)} or at == len(data) - 1
    path.write_bytes(data)
    for at in range(3):
        path.write_bytes(b"".join(data.splitlines(keepends=True)[:at] + data.splitlines(keepends=True)[at + 1 :]))
        named = first(full)
        assert ([] if at == 2 else [("missing", "seals.jsonl", at + 1)]) == [one for one in named if "seals" in one[1]]


def test_a_noted_head_is_a_prefix_of_the_chain_or_it_is_said(full):
    heads = Chain.read(full.store).heads
    for head in heads:
        assert [] == check_seals(full.store, head).damage
    data = Path(full.store.seals).read_bytes()
    Path(full.store.seals).write_bytes(b"".join(data.splitlines(keepends=True)[:2]))
    assert [] == check_seals(full.store).damage
    assert ["missing"] == [one.kind for one in check_seals(full.store, heads[2]).damage]


def test_a_noted_head_shows_what_was_changed_and_then_accepted(full):
    noted = Chain.read(full.store).heads[1]
    path = Path(full.store.log, NAMES[0])
    before = path.read_bytes()
    path.write_bytes(before.replace(b'"fact 7"', b'"fact 8"', 1))
    assert [("altered", NAMES[0], 8)] == first(full)
    assert not sealed(full).damage  # no file has grown
    for options in ({"thorough": True}, {}):
        assert ["altered"] == [one.kind for one in sealed(full, **options).damage]
        assert [("altered", NAMES[0], 8)] == first(full)
        path.write_bytes(path.read_bytes() + line(700) + b"\n")
    assert sealed(full, anew=True).is_new
    assert [] == first(full)
    assert [("altered", 8)] == [(one.kind, one.line) for one in check_seals(full.store, noted).damage]
    assert [] == check_seals(full.store, sealed(full).head).damage


def test_a_chain_written_anew_by_who_can_is_found_by_its_head(full):
    noted = Chain.read(full.store).heads[-1]
    Path(full.store.seals).unlink()
    shutil.rmtree(full.store.cache)
    sealed(full)
    assert [] == first(full)
    assert ["missing"] == [one.kind for one in check_seals(full.store, noted).damage]


@pytest.mark.slow
def test_digests_are_those_that_any_other_program_makes(full, log_dir):
    path = log_dir / NAMES[0]
    entry = Chain.read(full.store).files()[NAMES[0]][1]
    told = subprocess.run(f"head -c {entry.bytes} {path} | sha256sum", shell=True, capture_output=True, check=True)
    assert entry.sha256 == told.stdout.split()[0].decode()
    seals = Path(full.store.seals).read_bytes().splitlines()
    assert [json.loads(one)["prev"] for one in seals[1:]] == [sha256(one).hexdigest() for one in seals[:-1]]


def tree_root(leaves):
    """The root of RFC 6962, as it is defined there."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256().digest()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\x01" + tree_root(leaves[:half]) + tree_root(leaves[half:])).digest()


@given(st.lists(st.integers(0, 9), max_size=5))
def test_a_tree_that_grows_has_the_root_of_the_whole(sizes):
    leaves = [leaf_of(str(number).encode()) for number in range(sum(sizes))]
    edge: list[bytes] = []
    done = 0
    for size in sizes:
        root = grow_tree(edge, done, leaves[done : done + size])
        done += size
        assert tree_root(leaves[:done]).hex() == root


class Life:
    """What may happen to a log, step by step."""

    def __init__(self, root, chance):
        self.log, self.chance = EventLog(root, fsync=False), chance
        self.numbers, self.elsewhere = iter(range(3600)), b""

    @property
    def content(self):
        return f"the number {next(self.numbers)}."

    def append(self):
        self.log.append_many([Fact(conversation_id="c", content=self.content) for _ in range(2)])

    def late(self):
        ts = f"{self.chance.choice([DAY, NEXT_DAY])}T10:00:00Z"
        self.log.append({"type": "fact", "conversation_id": "c", "content": self.content, "ts": ts})

    def from_elsewhere(self):
        """What was erased here is not erased there."""
        self.elsewhere += line(next(self.numbers), content=self.content) + b"\n"
        write(self.log.store.log, self.elsewhere, NAMES[2])

    def lose_cache(self):
        shutil.rmtree(self.log.store.cache, ignore_errors=True)

    def tear(self, end=b""):
        newest = max(Path(self.log.store.log).glob("????-??-??.jsonl"))
        newest.write_bytes(newest.read_bytes() + b'{"half' + end)

    def damage(self):
        self.tear(b"\n")

    def repair(self):
        repair(self.log)

    def redact(self):
        if said := [event.content for event in self.log.read() if isinstance(event, Fact)]:
            try:
                chosen = redactable(opened(self.log), self.chance.choice(said))
            except BadRequest:  # an older copy had brought it back: now it is erased again
                return
            redact(opened(self.log), chosen)

    def seal(self):
        assert not seal_log(self.log).damage


STEPS = ("append", "late", "from_elsewhere", "seal", "lose_cache", "tear", "damage", "repair", "redact")


@pytest.mark.slow
@settings(max_examples=rounds(fixed=5, fuzz=300))
@given(st.lists(st.sampled_from(STEPS), min_size=6, max_size=20), st.randoms(use_true_random=False))
def test_nothing_that_may_happen_to_a_log_raises_an_alarm(tmp_path_factory, steps, chance):
    life = Life(tmp_path_factory.mktemp("s") / "store", chance)
    for step in ["append", "seal", *steps, "seal"]:
        getattr(life, step)()
        assert [] == verify_sealed(life.log)[1].damage, step
    chain = Chain.read(life.log.store)
    assert [] == chain.damage
    assert list(range(1, len(chain.seals) + 1)) == [one.n for one in chain.seals if one]


def test_an_older_copy_that_brings_back_what_was_erased_raises_no_alarm(log):
    log.append(Fact(conversation_id="s", content="The code is 4711-0815"))
    seal_log(log)
    [path] = Path(log.store.log).iterdir()
    before = path.read_bytes()
    redact(opened(log), redactable(opened(log), "4711-0815"))
    for _ in range(2):
        assert not seal_log(log).damage
        path.write_bytes(before)
        assert [] == verify_sealed(log)[1].damage
        assert b"4711-0815" not in path.read_bytes()


def test_ten_thousand_appends_raise_no_alarm(log, log_dir):
    appended = b""
    for number in range(rounds(fixed=300, fuzz=10_000)):
        log.append({"type": "turn_end", "conversation_id": "c"})
        if number % 100 == 0:
            appended += line(number // 100) + b"\n"
            write(log_dir, appended, NAMES[2])
            assert not sealed(log).damage
            assert [] == first(log)


def test_a_seal_reads_no_file_that_has_not_grown(full, log_dir, monkeypatch):
    read = []

    def noted(path):
        read.append(Path(path).name)
        return Path(path).read_bytes()

    monkeypatch.setattr(seals, "read_settled", noted)
    with (log_dir / NAMES[0]).open("ab") as file:
        file.write(line(500) + b"\n")
    made = sealed(full)
    assert [NAMES[0]] == read
    assert [NAMES[0]] == [one.name for one in made.seal.days]
    assert 24 == len(made.seal.days[0].leaves)  # of the one line that is new
    assert not sealed(full).is_new


def test_without_a_cache_a_log_that_has_not_grown_costs_no_tree(full, monkeypatch):
    sealed(full)
    shutil.rmtree(full.store.cache)
    monkeypatch.setattr(seals, "grow_tree", None)
    assert not sealed(full).is_new


@pytest.mark.parametrize("cache", [b"", b"{}", b"garbage", None, "a directory"])
def test_a_cache_that_is_another_changes_no_seal(full, log_dir, tmp_path, cache):
    twin = tmp_path / "twin"
    shutil.copytree(full.store.root, twin)
    other = EventLog(twin, fsync=False)
    if cache is None:
        shutil.rmtree(other.store.cache)
    elif cache == "a directory":
        Path(other.store.cached("seals.json")).unlink()
        Path(other.store.cached("seals.json"), "x").mkdir(parents=True)
    else:
        Path(other.store.cached("seals.json")).write_bytes(cache)
    for log in (full, other):
        with Path(log.store.log, NAMES[2]).open("ab") as file:
            file.write(lines(600, 601))
        sealed(log)
    assert Path(full.store.seals).read_bytes() == Path(other.store.seals).read_bytes()


def test_an_unreadable_day_is_left_out_and_sealed_when_it_can_be_read(full, log_dir, monkeypatch):
    def unreadable(path):
        if path.endswith("22.jsonl"):
            raise PermissionError(13, "Permission denied", path)
        return Path(path).read_bytes()

    monkeypatch.setattr(seals, "read_settled", unreadable)
    for day in ("2026-02-22", "2026-02-23"):
        write(log_dir, lines(1), f"{day}.jsonl")
    assert ["2026-02-23.jsonl"] == [one.name for one in sealed(full).seal.days]
    monkeypatch.undo()
    assert ["2026-02-22.jsonl"] == [one.name for one in sealed(full).seal.days]


def test_a_seal_that_was_torn_is_cut_off_by_the_next(full, log_dir):
    whole = Path(full.store.seals).read_bytes()
    Path(full.store.seals).write_bytes(whole + b'{"n":4,"ts":"20')
    assert [] == first(full)
    write(log_dir, lines(1), "2026-02-22.jsonl")
    assert 4 == sealed(full).seal.n
    assert [] == first(full)
    assert Path(full.store.seals).read_bytes().startswith(whole)


def test_a_list_of_what_is_rewritten_that_was_torn_does_not_hide_the_next(log):
    log.append(Fact(conversation_id="s", content="The code is 4711-0815"))
    seal_log(log)
    Path(log.store.rewritten).write_bytes(b'{"file":"2026')
    redact(opened(log), redactable(opened(log), "4711-0815"))
    assert [] == verify_sealed(log)[1].damage


def test_without_seals_nothing_is_listed(log):
    log.append(Fact(conversation_id="s", content="The code is 4711-0815"))
    redact(opened(log), redactable(opened(log), "4711-0815"))
    assert not Path(log.store.rewritten).exists()


def test_an_erased_line_that_is_changed_later_is_named(log):
    log.append(Fact(conversation_id="s", content="The code is 4711-0815"))
    seal_log(log)
    redact(opened(log), redactable(opened(log), "4711-0815"))
    assert [] == verify_sealed(log)[1].damage
    [path] = Path(log.store.log).iterdir()
    path.write_bytes(path.read_bytes().replace(b"The code is", b"The coat is"))
    assert ["altered"] == [one.kind for one in verify_sealed(log)[1].damage]


def test_a_damaged_line_from_which_a_text_went_raises_no_alarm(log):
    log.append(Fact(conversation_id="s", content="The tea is green"))
    [path] = Path(log.store.log).iterdir()
    path.write_bytes(path.read_bytes() + b'{"half 4711-0815\n')
    seal_log(log)
    redact(opened(log), redactable(opened(log), "4711-0815"))
    assert b"4711-0815" not in path.read_bytes()
    assert [] == verify_sealed(log)[1].damage
    assert not seal_log(log).damage


def test_on_the_command_line(log):
    Path(log.store.root).mkdir(parents=True)
    store = ("--store", log.store.root)
    assert "there is nothing to seal" in call("seal", *store).out
    log.append(Fact(conversation_id="s", content="The tea is green"))
    said = call("seal", *store)
    head = said.out.split("head ")[1].strip()
    assert (0, True) == (said.code, "seal 1: 1 file with 1 line" in said.out)
    assert "nothing has changed since seal 1" in call("seal", *store).out
    checked = call("verify", "--head", head, *store)
    assert (0, True) == (checked.code, "that head is of seal 1" in checked.out)
    assert (1, head) == tuple(json.loads(call("verify", "--json", *store).out)[name] for name in ("seal", "head"))
    [path] = Path(log.store.log).iterdir()
    path.write_bytes(path.read_bytes().replace(b"green", b"white"))
    told = call("verify", *store)
    assert (4, True) == (told.code, f"{path.name}:1 (byte 0) altered:" in told.out)
    assert 4 == call("seal", *store).code
    assert 0 == call("seal", "--anew", *store).code
    assert 0 == call("verify", *store).code
    assert 4 == call("verify", "--head", head, *store).code
    unknown = call("verify", "--head", "0" * 64, *store)
    assert (4, True) == (unknown.code, ", 0 damaged lines, 1 file not as sealed\n" in unknown.out), unknown
