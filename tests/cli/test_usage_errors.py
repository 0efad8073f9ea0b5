"""Mistakes on the command line in our words: what is wrong, what is near, how the verb is called; none of the library's."""

import re

import pytest

from eventlog.cli.terminal import cells
from eventlog.cli.verbs import VERBS
from tests.support.command_line import call
from tests.support.screen import told

pytestmark = pytest.mark.slow

LIBRARY = re.compile(r"Usage:|Error|Invalid value|Missing|No such|not a valid|in the range|Got unexpected|requires an")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("sessions", "--limt", "3"), "no option --limt\n  did you mean --limit?"),
        (
            ("sessions", "--zzz"),
            "no option --zzz\n  eventlog sessions [OPTIONS]\n  eventlog sessions --help explains it",
        ),
        (("sessions", "--limit", "x"), "--limit: 'x' is not a whole number"),
        (("sessions", "--limit", "0"), "--limit: 0 is less than 1"),
        (("fact", "x", "--importance", "9"), "--importance: 9 is not between 1 and 5"),
        (("fact", "x", "--confidence", "nan"), "--confidence: nan is not between 0 and 1"),
        (("sessions", "--limit"), "--limit needs a value"),
        (("sessions", "--all=3"), "--all takes no value"),
        (("sessions", "a", "b"), "unexpected argument: a b\n  eventlog sessions [OPTIONS]"),
        (
            ("fact", "two", "words"),
            "unexpected argument: words\n  put quotes around a text of several words\n  eventlog fact",
        ),
        (("team", "zzz"), "no verb 'zzz'\n  choose one of check, trust"),
        (("lifecycle", "run", "middle", "--session", "x"), "start|end: no 'middle'\n  choose one of start, end"),
        (("fact", "x", "--confidence", "a"), "--confidence: 'a' is not a number"),
        (("plan", "--level", "7"), "--level: 7 is not between 1 and 6"),
        (("bisect", "MEMORY.md"), "missing argument: TEXT\n  eventlog bisect [OPTIONS] FILE TEXT"),
        (("lifecycle", "run"), "missing argument: start|end\n  eventlog lifecycle run [OPTIONS] {start|end}"),
        (("lifecycle", "run", "start"), "missing option: --session"),
        (("lifecycle", "runn"), "no verb 'runn'\n  did you mean run?"),
        (("undo", "", "--yes"), "ID: it is empty\n  leave it out, or give one"),
        (("resolve", " ", "--apply"), "ID|last|FILE: it is empty\n  leave it out, or give one"),
        (("resolve", "last", "--apply"), "nothing waits"),
        (("replay", "--out", ""), "--out: it is empty\n  leave it out, or give one"),
        (("apply", "--file", ""), "--file: it is empty\n  leave it out, or give one"),
        (("verify", "--head", ""), "--head: it is empty\n  leave it out, or give one"),
        (("verify", "--head", "8d21c0"), "--head: '8d21c0' is not a digest of 64 digits"),
        (("verify", "--head", "0" * 64, "--repair"), "give --head or --repair, not both"),
        (("query", "--grep", " "), "--grep: it is empty\n  leave it out, or give one"),
        (("query", "--agent", ""), "--agent: it is empty\n  leave it out, or give one"),
        (("report", "--project", ""), "--project: it is empty\n  leave it out, or give one"),
        *(
            ((verb, "--project", ""), "--project: it is empty\n  leave it out, or give one")
            for verb in ("query", "sessions", "stats", "today", "week", "show", "review")
        ),
        (("diff", "--since", "2d", "--from", "1d"), "give --from or --since, not both"),
        (("append", "fact", "=x"), "'=x' is not FIELD=VALUE"),
        (("query", "--since", "2d", "--since", "1d"), "--since is given twice\n  give it once"),
        (("fact", "x", "--key", "a", "--key", "b"), "--key is given twice\n  give it once"),
        (("summary", "--topic", "t", "--summary", "a", "--summary", "b"), "--summary is given twice\n  give it once"),
        (("forget", "--session", "a", "--session", "b", "--yes"), "--session is given twice\n  give it once"),
        (("sync", "--store", "a", "--store", "b"), "--store is given twice\n  give it once"),
        (("--store", "a", "--store", "b"), "--store is given twice\n  give it once"),
        (("--store", "a", "--store", "b", "query"), "--store is given twice\n  give it once"),
        (("append", "fact", "content=x", "content=y"), "content is given twice"),
        (("memory", "", "--project", "."), "give only one of PROJECT, --project, --all-projects"),
        (("why", "--not", ""), "--not: it is empty\n  leave it out, or give one"),
        (("why", ""), "FILE[:LINE]|ID|WORDS: it is empty\n  leave it out, or give one"),
        (("search", ""), "QUERY: it is empty"),
        (("bisect", "MEMORY.md", ""), "TEXT: it is empty"),
        (("project", "join", "", ""), "give the names of two projects"),
        (("sync", "projects", "--exclude", ""), "--exclude: it is empty\n  leave it out, or give one"),
        (("import",), "missing argument: SOURCE, one of claude, cursor, "),
        (("import", "zzz"), "SOURCE: no 'zzz'\n  choose one of claude, "),
        (("import", "bullets", "/no/such"), "PATH: no such file or directory: /no/such"),
        (("query", "--format", "zzz"), "--format: no 'zzz'\n  choose one of table, jsonl, json, markdown"),
        (("query", "--since", "yesterdy"), "--since: 'yesterdy' is no time\n  say it like 2d, yesterday"),
    ],
)
def test_a_mistake_on_the_command_line_is_told_in_plain_words(args, said):
    ran = call(*args)

    assert (2, "") == (ran.code, ran.out)
    assert ran.err.startswith(f"eventlog: {said}")
    assert not LIBRARY.search(ran.err)


@pytest.mark.parametrize(
    "verb", [("show",), ("query", "--id"), ("why",), ("edit", "--content", "x"), ("memory",)], ids=" ".join
)
def test_a_long_text_in_a_mistake_does_not_fill_the_screen(tmp_path, verb):
    call("fact", "Carts are blue", "--store", tmp_path)
    ran = call(*verb, "x" * 100_000, "--store", tmp_path)

    assert (2, True) == (ran.code, len(ran.err) < 5_000)


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_fits_the_narrowest_terminal(verb):
    text = told(verb, "--help", columns=80)

    assert 80 >= max(map(cells, text.splitlines()))
    assert "..." not in text.partition("Commands:")[2]
