"""What a visitor sees first: the demo, in a fresh home."""

import re

import pytest

from tests.docs.reader import Reader
from tests.support.tree import ROOT, needs_tree

needs_tree()


@pytest.fixture
def reader(tmp_path):
    reader = Reader(tmp_path)
    yield reader
    reader.close()


def test_the_demo_ends_on_the_best_two_screens_keeps_its_store_and_says_what_to_try(reader):
    told = reader.run(f"cd; EVENTLOG_DEMO=$HOME/demo sh {ROOT}/fixtures/demo/demo.sh")
    shown, _, kept = told.partition("\nThe store stays in ")
    typed = re.findall(r"^\$ eventlog (.*)$", shown, re.MULTILINE)
    tries = [line.strip() for line in kept.splitlines()[1:] if line.strip()]

    assert ["sessions", "why projects/shop-957ed0/MEMORY.md:5"] == typed[-2:]
    assert kept.startswith(f"{reader.home}/demo. Try:\n")
    assert [] == [*reader.home.glob(".eventlog")]

    unasked = "\n".join(tries).replace("MEMORY.md:5", "MEMORY.md:5 --yes").replace("undo", "undo --yes")
    assert len(tries) == 5
    assert reader.run(f"set -e\n{unasked}\necho done").endswith("\ndone\n")
    assert [] == [*reader.home.glob("demo")]
