"""Which withdrawals are in force: one rule, for events and for the lines of the log; standard library only."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Made = tuple[str, str, bool, str]  # time, id, whether a person decided it, and the event it takes back, if any


def judged(made: "Iterable[Made]") -> "Iterator[tuple[str, bool]]":
    """Yield the ids of withdrawals, newest first, and whether each is in force.

    A withdrawal may be taken back by another. Newer ones are judged first, so one only ever undoes an older one, and no
    two can undo each other. What a person decided, only a person takes back: others who try are passed over.
    """
    newest_first = sorted(set(made), reverse=True)
    by_hand = {name for _, name, is_by_hand, _ in newest_first if is_by_hand}
    taken_back: set[str] = set()
    for _, name, is_by_hand, target in newest_first:
        if not is_by_hand and target in by_hand:
            continue
        is_in_force = name not in taken_back
        if is_in_force:
            taken_back.add(target)
        yield name, is_in_force
