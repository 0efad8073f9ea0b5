"""Short ids for people: the part of an id that differs from all others, as long as the log needs it.

A UUIDv7 begins with its time, which all ids of a while share: its end is random. Other UUIDs are random from the start.
What is no UUID was chosen by somebody, and stays whole.
"""

import re

from eventlog.store import Store, index_lookup

SHORTEST_PART = 4  # characters of a part of an id
_SHORTEST, _LONGEST = 6, 12  # digits; twelve are the last group
_BYTES_A_LINE = 200  # rather too few
_ODDS = 20  # one store in so many has two events of one short id
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


class ShortIds:
    """The short ids of one store; how long they are goes by the size of its log."""

    def __init__(self, store: Store) -> None:
        self._length = _length_for(_size(store.log) // _BYTES_A_LINE)

    def of(self, full_id: str) -> str:
        """Shorten the id of an event or a conversation; `references.resolve` finds it again."""
        match = _UUID.fullmatch(full_id)
        if match is None:
            return full_id
        return full_id[-self._length :] if match[1] == "7" else full_id[: self._length].rstrip("-")


def is_part_of(full_id: str, said: str) -> bool:
    """Tell whether somebody who types this may mean that id: all of it, its beginning or its end."""
    part, whole = said.strip().removesuffix("…").casefold(), full_id.casefold()
    return part == whole or (len(part) >= SHORTEST_PART and (whole.startswith(part) or whole.endswith(part)))


def _length_for(events: int) -> int:
    """Find the number of digits by which hardly any two of so many random ids are the same (birthday problem)."""
    fits = (n for n in range(_SHORTEST, _LONGEST) if events**2 * _ODDS < 2 ** (4 * n + 1))
    return next(fits, _LONGEST)


def _size(log_dir: str) -> int:
    return sum(map(index_lookup.size_in, index_lookup.stamps_of(log_dir)))
