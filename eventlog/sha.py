"""SHA-256 from its C module: `hashlib` loads OpenSSL, which takes 3 ms that a session would wait for.

OpenSSL's is several times as fast: who has megabytes to digest loads it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256 as _sha256
else:
    try:
        from _sha2 import sha256 as _sha256
    except ImportError:  # before Python 3.12
        try:
            from _sha256 import sha256 as _sha256
        except ImportError:
            from hashlib import sha256 as _sha256


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
