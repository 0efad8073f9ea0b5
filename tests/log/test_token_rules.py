"""The rules that others maintain are known here, in every way of assignment, and plain sentences stay as they are."""

import json
import random
import re
from functools import cache
from pydoc_data.topics import topics

import pytest

from eventlog.secrets import scrub_text
from eventlog.secrets.patterns import MAINTAINED, NAMES, PASSWORDS
from eventlog.secrets.plain import STARTS, may_name_one, sorted_beginnings
from eventlog.secrets.token_rules import TOKEN_RULES
from tests.support.effort import rounds
from tests.support.token_rules import ASSIGNED, FIXTURE, Rule, row_of, sample

RULES = [Rule(**rule) for rule in json.loads(FIXTURE.read_text())]
VALUES = json.loads(ASSIGNED.read_text())
UNFAIR = {"sourcegraph-access-token", "vault-service-token"}  # which a bare digest, and `s.` and a word, would be
SENTENCES = ("{}", "the key is {} now", "use `{}` there", "{}.", "x = f('{}')", '{{"cmd": "curl -H {}"}}')
FORMS = {
    "ini": '{n}Token="{s}"',
    "ini, apart": '{n}Token = "{s}"',
    "ini, bare": "{n}Token={s}",
    "ini, bare, apart": "{n}Token = {s}",
    "json": '{{\n    "{n}_token": "{s}"\n}}',
    "json in a text": '{{"config.ini": "{N}_TOKEN={s}\\nBACKUP_ENABLED=true"}}',
    "xml": "<{n}Token>{s}</{n}Token>",
    "xml in lines": "<{n}Token>\n    {s}\n</{n}Token>",
    "yaml": "{n}_token: {s}",
    "yaml, quoted": "{n}_token: '{s}'",
    "go": "{n}Token := `{s}`",
    "go, with a type": 'var {n}Token string = "{s}"',
    "java": 'String {n}Token = "{s}";',
    "kotlin, with a type": 'val {n}Token: String? = "{s}"',
    "python, with a type": "{n}_token: str | None = '{s}'",
    "rust": 'const {N}_TOKEN: &\'static str = "{s}";',
    "c": 'static char {n}_token[] = "{s}";',
    "basic": 'Dim {n}Token As String = "{s}"',
    "php": '${n}Token .= "{s}"',
    "call": 'System.setProperty("{N}_TOKEN", "{s}")',
    "logstash": '  "{n}Token" => "{s}"',
    "make": '{n}_TOKEN ::= "{s}"',
    "make, at once": '{n}_TOKEN :::= "{s}"',
    "make, if not set": '{n}_TOKEN ?= "{s}"',
}


@pytest.mark.slow
def test_nearly_all_tokens_of_the_maintained_rules_are_found():
    rng, left, made = random.Random(7), [], 0
    for rule in RULES:
        for around in SENTENCES if rule.name not in UNFAIR else ():
            token = sample(rule.regex, rng)
            made += 1
            left += [rule.name] if token in scrub_text(around.format(token)) else []
    assert len(RULES) > 100
    assert len(left) <= made * 0.05, sorted(set(left))


@cache
def values(each):
    """So many values for each rule: to make them takes longer than to look for them."""
    rng = random.Random(3)
    return [(rule, sample(shape, rng)) for rule, shape in VALUES.items() for _ in range(each)]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_found_however_it_is_assigned(form):
    each, left = rounds(fixed=1, fuzz=20), []
    names = ("acme", "prod.db", "x", "my_service", "GitHub")
    made = values(each)
    for number, (rule, value) in enumerate(made):
        name = names[number // each % len(names)]
        left += [rule] if value in scrub_text(FORMS[form].format(n=name, N=name.upper(), s=value)) else []
    assert len(VALUES) > 90
    assert len(left) <= len(made) * 0.05, left


PLAIN = (
    "<token>the name of it</token>",
    'expect("token", "a plain sentence of words")',
    'set("user.password", label)',
    "if token > 1234567890123456: pass",
    "List<Token> tokens12345678901234567890",
    "see <password> in the manual",
    '["password", "confirm_password"]',
    'get("api_key", default_value_of_it)',
    "password ?= $(PASSWORD)",
    "| 1234567890123456 | of a table |",
    "pat.match and sat.name",
    "the class sk-toggleable__label-arrow-of-it of the page",
    "sc_some_function_name, ext_other",
    "v1.0-rc1 of 4b1d2f",
    "the token count = '12345678abcdefgh'",
    'password label = "field_2"',
    "def login(token: str = '', password: str | None = None):",
    'var token string = "${CI_TOKEN_12345678}"',
)


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_looks_like_an_assignment_stays(text):
    assert text == scrub_text(text)


@pytest.mark.slow
def test_sentences_stay_as_they_are():
    sentences = [one for topic in topics.values() for one in re.split(r"(?<=[.!?:])\s+", topic)]
    assert len(sentences) > 3000
    assert [] == [one for one in sentences if scrub_text(one) is not one]


def test_the_data_is_what_the_script_makes_of_the_rules():
    names = {row.kind for rule in RULES if (row := row_of(rule))}
    assert {kind for kind, *_ in TOKEN_RULES} <= names
    assert {head for _, heads, *_ in TOKEN_RULES for head in heads} == {head for head, _ in MAINTAINED}
    assert all(len(beginning) >= 3 for _, beginnings, *_ in TOKEN_RULES for beginning in beginnings)


def test_what_hooks_look_for_first_begins_as_every_credential_does():
    assert sorted_beginnings().keys() == STARTS


def test_every_name_of_a_credential_is_looked_at():
    assert all(map(may_name_one, (*PASSWORDS, *(name for name, _ in NAMES))))


@pytest.mark.slow
def test_no_run_of_a_beginning_makes_the_search_long():

    for _, beginnings, alphabet, *_ in TOKEN_RULES:
        text = (beginnings[0] + alphabet[-1:] * 3) * 2000
        assert isinstance(scrub_text(text), str)
