"""What a visitor sees first: the demo, in a home of its own."""

import re

import pytest

from tests.docs.reader import Reader
from tests.support.tree import ROOT, needs_tree

pytestmark = pytest.mark.slow

needs_tree()


@pytest.fixture
def reader(tmp_path):
    reader = Reader(tmp_path)
    yield reader
    reader.close()


def _content(home, besides):
    return {
        path.relative_to(home): path.read_bytes() if path.is_file() else None
        for path in home.rglob("*")
        if not path.is_relative_to(besides)
    }


def test_every_line_of_the_demo_works_when_typed_and_the_home_stays_as_it_was(reader):
    place = reader.home / "a demo"
    before = _content(reader.home, place)
    told = reader.run(f"cd; EVENTLOG_DEMO='{place}' sh {ROOT}/fixtures/demo/demo.sh")
    shown, _, kept = told.partition(
        f"\nAll of this is in {place}; your own home is as it was. To go on in this home:\n"
    )
    typed = re.findall(r"^\$ (.*)$", shown, re.MULTILINE)
    tries = [line.strip() for line in kept.splitlines() if line.strip()]

    assert ["eventlog sessions", "eventlog why projects/shop-957ed0/MEMORY.md:5"] == typed[-2:]
    assert 5 == len(tries)
    assert before == _content(reader.home, place)

    again = "\n".join([tries[0], *typed]) + "\necho done"
    assert reader.run(f"set -e\n{again}").endswith("\ndone\n")
    unasked = "\n".join(tries).replace("MEMORY.md:5", "MEMORY.md:5 --yes").replace("undo", "undo --yes")
    answers = reader.run(f"set -e\n{unasked}\necho done")
    assert answers.endswith("\ndone\n")
    assert "Prices are integers in cents" in answers.rpartition("undone")[2]  # the last one answers
    assert not place.exists()
    assert before == _content(reader.home, place)


def test_a_fact_of_one_laptop_is_known_on_the_other_and_forgotten_on_both(reader):
    shown = reader.run(f"cd; sh {ROOT}/fixtures/demo/two-laptops.sh")
    typed = re.split(r"^(work|home)\$ ", shown, flags=re.MULTILINE)[1:]
    said = [answer for _, answer in zip(typed[::2], typed[1::2], strict=True)]

    searched = [answer for answer in said if answer.startswith("eventlog search")]
    assert ["Prices are in cents" in answer for answer in searched] == [True, False]
    assert shown.endswith('holds the word "cents": right\n')
