"""The rules that others maintain are known here, in every way of assignment, and plain sentences stay as they are."""

import json
import random

import pytest

from eventlog.secrets import scrub_text
from eventlog.secrets.patterns import MAINTAINED
from eventlog.secrets.token_rules import TOKEN_RULES
from tests.support.token_rules import FIXTURE, Rule, row_of, sample

RULES = [Rule(**rule) for rule in json.loads(FIXTURE.read_text())]
UNFAIR = {"sourcegraph-access-token", "vault-service-token"}  # which a bare digest, and `s.` and a word, would be
SENTENCES = ("{}", "the key is {} now", "use `{}` there", "{}.", "x = f('{}')", '{{"cmd": "curl -H {}"}}')
FORMS = {
    "ini": '{n}Token="{s}"',
    "ini, apart": '{n}Token = "{s}"',
    "ini, bare": "{n}Token={s}",
    "json": '{{\n    "{n}_token": "{s}"\n}}',
    "json in a text": '{{"config.ini": "{N}_TOKEN={s}\\nBACKUP_ENABLED=true"}}',
    "xml": "<{n}Token>{s}</{n}Token>",
    "xml in lines": "<{n}Token>\n    {s}\n</{n}Token>",
    "yaml": "{n}_token: {s}",
    "yaml, quoted": "{n}_token: '{s}'",
    "go": "{n}Token := `{s}`",
    "java": 'String {n}Token = "{s}";',
    "php": '${n}Token .= "{s}"',
    "call": 'System.setProperty("{N}_TOKEN", "{s}")',
    "logstash": '  "{n}Token" => "{s}"',
    "make": '{n}_TOKEN ::= "{s}"',
    "make, if not set": '{n}_TOKEN ?= "{s}"',
}


def test_nearly_all_tokens_of_the_maintained_rules_are_found():
    rng, left, made = random.Random(7), [], 0
    for rule in RULES:
        for around in SENTENCES if rule.name not in UNFAIR else ():
            token = sample(rule.regex, rng)
            made += 1
            left += [rule.name] if token in scrub_text(around.format(token)) else []
    assert len(RULES) > 100
    assert len(left) <= made * 0.05, sorted(set(left))


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_found_however_it_is_assigned(form):
    rng, left = random.Random(3), 0
    names = ("acme", "prod.db", "x", "my_service", "GitHub")
    shapes = ("[a-f0-9]{32}", "[A-Za-z0-9]{20,40}", "[a-zA-Z0-9_-]{36,64}", "[0-9A-Z]{24}")
    for number in range(100):
        name, value = names[number % len(names)], sample(shapes[number % len(shapes)], rng)
        text = FORMS[form].format(n=name, N=name.upper(), s=value)
        left += value in scrub_text(text)
    assert left <= 5


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
)


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_looks_like_an_assignment_stays(text):
    assert text == scrub_text(text)


def test_the_data_is_what_the_script_makes_of_the_rules():
    names = {row.kind for rule in RULES if (row := row_of(rule))}
    assert {kind for kind, *_ in TOKEN_RULES} <= names
    assert {head for _, heads, *_ in TOKEN_RULES for head in heads} == {head for head, _ in MAINTAINED}
    assert all(len(beginning) >= 3 for _, beginnings, *_ in TOKEN_RULES for beginning in beginnings)


def test_no_run_of_a_beginning_makes_the_search_long():

    for _, beginnings, alphabet, *_ in TOKEN_RULES:
        text = (beginnings[0] + alphabet[-1:] * 3) * 2000
        assert isinstance(scrub_text(text), str)
