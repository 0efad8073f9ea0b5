"""Event ids: UUIDv7 (RFC 9562), random for live events, derived where the same source must give the same id."""

from eventlog.fast import os
from eventlog.format import timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b

DERIVED_BYTES = 10
STAMP = len("019c7b12-8f00")  # characters of an id that say its time; the others are random or derived
_latest = (0, "00000000-0000")  # a millisecond, and how ids say it
_drawn: list[str] = []  # ends of ids that nobody has yet; a child of a fork draws its own
_ahead, _MAX_AHEAD = 0, 63
_blake2b: "type[blake2b] | None" = None  # until the first digest: most hooks ask for none
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drawn.clear)


def new(ms: int) -> str:
    """Make a fresh id for an event of that millisecond."""
    global _latest  # noqa: PLW0603 - many events share a millisecond
    latest, start = _latest
    if latest != ms:
        start = prefix(max(ms, 0))
        _latest = ms, start
    try:
        return start + _drawn.pop()
    except IndexError:
        return start + _draw()


def _draw() -> str:
    """Draw the random end of an id, and some for the next ids: more each time, as who makes many makes more."""
    global _ahead  # noqa: PLW0603 - of this process
    chance = os.urandom(DERIVED_BYTES * (1 + _ahead))
    ends = [_random_end(chance[at : at + DERIVED_BYTES]) for at in range(0, len(chance), DERIVED_BYTES)]
    _ahead = min(2 * _ahead + 1, _MAX_AHEAD)
    end = ends.pop()
    _drawn.extend(ends)
    return end


def _random_end(chance: bytes) -> str:
    digits = chance.hex()
    return f"-7{digits[:3]}-{'89ab'[chance[9] & 3]}{digits[3:6]}-{digits[6:18]}"


def derived(ms: int, key: str) -> str:
    """Derive the id of the event that `key` names: the same key and time give the same id on any machine."""
    low = int.from_bytes(digest(key, DERIVED_BYTES), "big")
    # 48 bits of time (none before 1970), then version 7, variant 10 and 74 bits of the digest
    value = (max(ms, 0) << 80) | (0x7 << 76) | ((low >> 66 & 0xFFF) << 64) | (0b10 << 62) | (low & (1 << 62) - 1)
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def derived_tail(key: str) -> str:
    """Derive the end of all ids of `key`, at any time: the log recognises a retry by it."""
    return derived(0, key)[STAMP:]


def prefix(ms: int) -> str:
    """Make the start of the ids of that millisecond; ids compare as text like their times."""
    return f"{ms >> 16:08x}-{ms & 0xFFFF:04x}"


def time_ms(event_id: str) -> int:
    """Return the milliseconds an id starts with; raises ValueError where it starts with none."""
    return int(event_id[:8] + event_id[9:13], 16)


def digest(text: str, size: int) -> bytes:
    """Hash a text, in `size` bytes, the same on every machine."""
    return digest_of(text.encode("utf-8", "surrogatepass"), size)


def digest_of(data: bytes, size: int) -> bytes:
    """Hash bytes by BLAKE2b, the same on every machine."""
    global _blake2b  # noqa: PLW0603 - a replay asks for a hundred thousand; to look for it each time takes longer
    if _blake2b is None:
        try:
            from _blake2 import blake2b  # hashlib costs 3 ms to import
        except ImportError:
            from hashlib import blake2b
        _blake2b = blake2b
    return _blake2b(data, digest_size=size).digest()


def day_in_id(event_id: str) -> str:
    """Return the day an id names; "~", after every day, for an id that names none."""
    try:
        number = time_ms(event_id) // _DAY_MS
        if number not in _days:
            _days[number] = timestamps.from_ns(number * _DAY_MS * 1_000_000)[:10]
        return _days[number]
    except (ValueError, OverflowError, OSError):
        return "~"


_DAY_MS = 86_400_000
_days: dict[int, str] = {}  # that were asked for: thousands of ids name hundreds


_DASHES, _UUID_CHARS, _VERSION_AT = (8, 13, 18, 23), 36, 14
_SHORT = 8  # digits


def short_id(full: str) -> str:
    """Shorten a UUID to digits that are random: the end of an id that begins with its time; others stay whole."""
    if len(full) != _UUID_CHARS or any(full[at] != "-" for at in _DASHES):
        return full
    return full[-_SHORT:] if full[_VERSION_AT] == "7" else full[:_SHORT]
