"""A text is about a file when it names it by enough of its path to tell it from others."""

import pytest

from eventlog.projections.search.findable import names_of, speaks_of
from eventlog.projections.search.words import tokens

FORMS = "shop/checkout/forms.py"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Amounts in shop/checkout/forms.py are integers", FORMS),
        ("`checkout/forms.py`: blanks are refused", FORMS),
        ("forms.py refuses blanks.", FORMS),
        ("see /home/ada/src/shop/checkout/forms.py, and Forms.py", FORMS),
        ("Einträge von 结算/x 在 checkout/forms.py 里", FORMS),
        ("README.md is generated", "README.md"),
        ("docs/README.md is generated", "docs/README.md"),
    ],
)
def test_a_text_that_names_the_file_is_about_it(text, path):
    assert speaks_of(set(tokens(text)), path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Amounts in the forms are integers", FORMS),
        ("orders/forms.py refuses blanks", FORMS),
        ("README.md is generated", "docs/README.md"),
        ("main.py starts it", "shop/main.py"),
        ("forms.pyi has types", FORMS),
        ('The "a b.py" file', "shop/a b.py"),
        ("anything", ""),
    ],
)
def test_a_text_that_names_another_or_none_is_not(text, path):
    assert not speaks_of(set(tokens(text)), path)


def test_what_a_file_may_be_called_is_a_word_of_a_text_that_calls_it_so():
    assert names_of(FORMS) == ["shop/checkout/forms.py", "checkout/forms.py", "forms.py"]
    assert names_of("shop/__init__.py") == ["shop/__init__.py"]
    assert names_of('shop/"x" y.py') == names_of("文/件.py") == []
