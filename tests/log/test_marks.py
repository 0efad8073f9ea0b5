"""A statement is known again by its mark, in whichever wording; so is one in whose place another text stands."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.fast import sha
from eventlog.format.codec import from_fields
from eventlog.format.errors import InvalidEvent
from eventlog.format.events import Rejected
from eventlog.format.marks import (
    digest_of,
    is_stand_in,
    mark_in,
    mark_of,
    marks_of,
    salts_in,
    says_the_same,
    stand_in,
)
from eventlog.format.text import one_line, statement_of

SALTS = st.sets(st.sampled_from(["", "00", "5a17"]), min_size=1)


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_a_digest_is_the_one_that_everybody_computes(key, data):
    assert hmac.new(key, data, hashlib.sha256).hexdigest() == sha.keyed(key)(data)


TEXTS = st.text(min_size=1).filter(lambda text: not is_stand_in(text)) | st.sampled_from(["Use RS256", "use rs256."])


@given(TEXTS, TEXTS, SALTS)
def test_what_stands_in_for_a_text_has_its_marks_and_none_of_its_words(text, other, salts):
    kept = stand_in(text, salts)

    assert is_stand_in(kept)
    assert sorted(marks_of(text, salts)) == sorted(marks_of(kept, ())) == sorted(mark_of(text, salt) for salt in salts)
    assert salts == salts_in(marks_of(kept, ()))
    assert kept == one_line(kept) == stand_in(kept, salts)
    assert says_the_same(kept, other) == says_the_same(text, other) == (statement_of(text) == statement_of(other))


def test_all_wordings_of_a_statement_have_one_mark():
    assert mark_of("Use RS256", "5a17") == mark_of("ｕｓｅ  rs256！", "5a17") != mark_of("Use RS256", "00")
    assert mark_in(Rejected(conversation_id="s", statement="use rs256.")) == mark_of("Use RS256", "")
    assert mark_in(Rejected(conversation_id="s", salt="5a17", digest=digest_of("Use RS256", "5a17"))) == mark_of(
        "Use RS256", "5a17"
    )
    assert mark_in(Rejected(conversation_id="s", conversation="c")) == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"digest": digest_of("x", "00")},
        {"salt": "00"},
        {"salt": "00", "digest": "short"},
        {"salt": "no hex", "digest": digest_of("x", "00")},
        {"salt": "00", "digest": digest_of("x", "00"), "statement": "x"},
    ],
)
def test_a_rejection_has_a_digest_and_its_salt_or_neither(fields):
    with pytest.raises(InvalidEvent):
        from_fields({"type": "rejected", "conversation_id": "human", **fields})
