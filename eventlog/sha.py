"""SHA-256 from its C module: `hashlib` loads OpenSSL, which takes 3 ms that a session would wait for."""

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


def sha256(data: bytes) -> str:
    """Digest bytes, in hexadecimal digits."""
    return _sha256(data).hexdigest()
