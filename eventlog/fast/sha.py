"""SHA-256 from its C module, without OpenSSL, which `hashlib` loads.

Gain: `import hashlib` takes 1.4 times a bare start of Python, its C module 1.04 times.

OpenSSL's is several times as fast: it is loaded to digest megabytes.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import sha256 as _sha256

    Keyed = Callable[[bytes], str]
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256 as _sha256
        else:
            from _sha256 import sha256 as _sha256
    except ImportError:
        from hashlib import sha256 as _sha256


_BLOCK = 64  # bytes
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
_WORTH_IT = 1 << 20  # bytes: to digest them here takes as long as to load OpenSSL
_digested = 0


def sha256(data: bytes) -> str:
    """Digest bytes, in hexadecimal digits."""
    global _digested  # noqa: PLW0603 - a year of files is megabytes, though none of them is
    _digested += len(data)
    if _digested < _WORTH_IT:
        return _sha256(data).hexdigest()
    from hashlib import sha256 as of_openssl

    return of_openssl(data).hexdigest()


def keyed(key: bytes) -> "Keyed":
    """Make what digests with a key, in hexadecimal digits: HMAC (RFC 2104)."""
    block = (key if len(key) <= _BLOCK else _sha256(key).digest()).ljust(_BLOCK, b"\0")
    inner, outer = _sha256(block.translate(_INNER)), _sha256(block.translate(_OUTER))

    def digest(data: bytes) -> str:
        first, last = inner.copy(), outer.copy()
        first.update(data)
        last.update(first.digest())
        return last.hexdigest()

    return digest
