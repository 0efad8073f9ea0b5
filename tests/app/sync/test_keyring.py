"""A code carries the secret whole or not at all; what the keys encrypt, sign and name."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.sync import keyring
from eventlog.app.sync.keyring import Keyring
from eventlog.format.errors import BadRequest
from eventlog.store import Store


def ring(secret=b"0123456789abcdef", epoch=1):
    return Keyring("dir:/x", "name", epoch, {epoch: secret.hex()}, Keyring.new_machine())


@given(st.binary(min_size=16, max_size=16))
def test_a_code_carries_the_secret(secret):
    assert (
        secret == Keyring.secret_in(ring(secret).code) == Keyring.secret_in(ring(secret).code.lower().replace("-", " "))
    )


@given(st.text(max_size=50))
def test_any_text_is_no_code(text):
    with pytest.raises(BadRequest):
        Keyring.secret_in(text)


def test_every_wrong_letter_is_found():
    code = ring().code
    for at, letter in enumerate(code):
        with pytest.raises(BadRequest):
            Keyring.secret_in(code[:at] + ("A" if letter != "A" else "B") + code[at + 1 :])


def test_what_is_encrypted_opens_with_the_same_secret_only():
    data = ring().encrypt(b"tea")

    assert b"tea" not in data
    assert b"tea" == ring().decrypt(data)
    assert ring(os.urandom(16)).decrypt(data) is None
    assert ring().decrypt(data[:-1]) is None
    assert ring().decrypt(b"") is None


def test_a_ring_opens_what_was_encrypted_in_an_earlier_epoch():
    old, new = ring(), ring(os.urandom(16), epoch=2)
    new.secrets |= old.secrets
    assert b"tea" == new.decrypt(old.encrypt(b"tea"))
    assert old.sign(b"tea") == new.sign(b"tea", 1) != new.sign(b"tea")
    assert "" == new.sign(b"tea", 7)


def test_the_derived_key_is_that_of_age_and_never_changes():
    """A remote of today must open with every later release."""
    assert "age1" == Keyring("", "", 1, {}, keyring._identity(b"0123456789abcdef")).recipient[:4]
    assert keyring._identity(b"0123456789abcdef").startswith("AGE-SECRET-KEY-1")
    assert keyring._identity(b"0123456789abcdef") == keyring._identity(b"0123456789abcdef")


def test_a_damaged_file_of_keys_is_named(tmp_path):
    store = Store(str(tmp_path))
    assert Keyring.load(store) is None
    ring().save(store)
    loaded = Keyring.load(store)
    assert loaded
    assert ring().shown == loaded.shown
    (tmp_path / "sync" / "key").write_text("{")
    with pytest.raises(BadRequest, match="key: cannot be read"):
        Keyring.load(store)


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyrage", None)
    with pytest.raises(BadRequest) as told:
        Keyring.new_machine()
    assert "pip install 'agent-eventlog[sync]'" in told.value.hint
