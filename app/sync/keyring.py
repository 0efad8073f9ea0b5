"""The keys of a sync: the secret of a remote, the code that carries it, and what they encrypt, open and sign.

Secret    16 random bytes of an epoch. An age identity, which opens every segment of the epoch, and a key that signs
          heads and marker are derived from it. `drop` begins an epoch.
Code      the secret in base32 with a checksum: a misspelt code is refused before the remote is asked.
Machine   an age identity of each machine, by which it is given the secret of the next epoch.

The file `sync/key` holds them, mode 0600. age itself is `pyrage`, of the extra `[sync]`.
"""

import base64
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from eventlog.fast.sha import keyed, sha256
from eventlog.format.errors import BadRequest, library
from eventlog.store import Store
from eventlog.store.files import read_regular, replace_file

LARGEST = 16 << 20  # bytes of a file in a remote; a longer one is none of ours
SECRET, _SUM = 16, 4  # bytes
_GROUP = 8  # characters of a code between two dashes
_WORDS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"  # of bech32, in which age writes its keys
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_PREFIX = "age-secret-key-"
_SHOWN = 8  # characters of a key's name


class Keyring(Struct):
    """The remote of a store, its secrets by epoch, and the key of this machine.

    `before` is the key it had in common with a copy of the store.
    """

    remote: str
    namespace: str
    epoch: int
    secrets: dict[int, str]
    machine: str
    before: str = ""

    @staticmethod
    def new_machine() -> str:
        """Make the key of a machine; raises BadRequest where the extra is not installed."""
        return str(_age().x25519.Identity.generate())

    @staticmethod
    def secret_in(code: str) -> bytes:
        """Read the secret from a code; raises BadRequest."""
        text = code.strip().upper().replace("-", "").replace(" ", "")
        try:
            data = base64.b32decode(text)
        except ValueError:
            data = b""
        secret = data[:SECRET]
        if len(data) != SECRET + _SUM or _checksum(secret) != data[SECRET:]:
            hint = "copy all of it, dashes included"
            raise BadRequest("is not a code of `eventlog sync start`", where="CODE", hint=hint)
        return secret

    @property
    def secret(self) -> bytes:
        """The secret in force."""
        return bytes.fromhex(self.secrets[self.epoch])

    @property
    def code(self) -> str:
        """The code that carries the secret in force."""
        text = base64.b32encode(self.secret + _checksum(self.secret)).decode()
        return "-".join(text[start : start + _GROUP] for start in range(0, len(text), _GROUP))

    @property
    def shown(self) -> str:
        """The name of the key, for people to compare: it reveals nothing of the key."""
        return sha256(b"name\n" + self.secret)[:_SHOWN]

    @property
    def recipient(self) -> str:
        """The public half of the key of this machine."""
        return _recipient_of(self.machine)

    @property
    def copied(self) -> str:
        """The public half of the key this machine had in common with a copy; "" where there was none."""
        return _recipient_of(self.before) if self.before else ""

    @classmethod
    def load(cls, store: Store) -> "Keyring | None":
        """Read the keys of a store; None for a store that does not sync. Raises BadRequest."""
        path = f"{store.sync}/key"
        try:
            return msgspec.json.decode(read_regular(path), type=cls)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            hint = "`eventlog sync leave`, then join again"
            raise BadRequest(f"cannot be read: {error}", where=path, hint=hint) from error

    @classmethod
    def of(cls, store: Store) -> "Keyring":
        """Read the keys of a store; raises BadRequest for a store that does not sync, too."""
        if found := cls.load(store):
            return found
        raise BadRequest("does not sync yet", where=store.root, hint="eventlog sync start REMOTE")

    def save(self, store: Store) -> None:
        """Save the keys of a store; raises NotStored."""
        replace_file(f"{store.sync}/key", msgspec.json.encode(self))

    def renew(self, store: Store) -> None:
        """Make another key for this machine, because a copy of the store has the former key; raises NotStored."""
        self.machine, self.before = self.new_machine(), self.machine
        self.save(store)

    def encrypt(self, data: bytes, recipient: str = "") -> bytes:
        """Encrypt for one machine, or for every machine of the remote."""
        public = _age().x25519.Recipient.from_str(recipient or _recipient_of(_identity(self.secret)))
        encrypted: bytes = _age().encrypt(data, [public])
        return encrypted

    def decrypt(self, data: bytes, identity: str = "") -> bytes | None:
        """Decrypt by one key, or by those of the epochs that are known here; None where that fails."""
        known = [identity] if identity else [_identity(bytes.fromhex(secret)) for secret in self.secrets.values()]
        age = _age()
        try:
            opened: bytes = age.decrypt(data, [age.x25519.Identity.from_str(key) for key in known])
        except age.DecryptError:
            return None
        return opened

    def sign(self, data: bytes, epoch: int | None = None) -> str:
        """Sign data by the key of an epoch; "" for an epoch that is not known here."""
        found = self.secrets.get(self.epoch if epoch is None else epoch)
        return signature(bytes.fromhex(found), data) if found else ""


def _checksum(secret: bytes) -> bytes:
    return bytes.fromhex(sha256(secret))[:_SUM]


def signature(secret: bytes, data: bytes) -> str:
    """Sign data by the key derived from a secret."""
    key = bytes.fromhex(keyed(secret)(b"eventlog sync signature"))
    return keyed(key)(data)


def _recipient_of(identity: str) -> str:
    return str(_age().x25519.Identity.from_str(identity).to_public())


def _age() -> Any:
    return library("pyrage", "sync")


@cache
def _identity(secret: bytes) -> str:
    """Derive the age identity of a secret."""
    scalar = bytes.fromhex(keyed(secret)(b"eventlog sync identity"))
    bits = int.from_bytes(scalar) << 4  # 256 bits fill 52 words of five
    words = [(bits >> shift) & 31 for shift in range(255, -1, -5)]
    head = [ord(char) >> 5 for char in _PREFIX] + [0] + [ord(char) & 31 for char in _PREFIX]
    checksum = _polynomial([*head, *words, *[0] * 6]) ^ 1
    words += [(checksum >> shift) & 31 for shift in range(25, -1, -5)]
    return (_PREFIX + "1" + "".join(_WORDS[word] for word in words)).upper()


def _polynomial(values: list[int]) -> int:
    """Compute the checksum of bech32 (BIP 173)."""
    found = 1
    for value in values:
        top = found >> 25
        found = (found & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(_GENERATOR):
            found ^= generator if top >> bit & 1 else 0
    return found
