"""What hooks need to know of the user's settings; the defaults wherever they cannot be had."""

from eventlog.settings import cached
from eventlog.store import Store


class Preferences:
    """The settings hooks obey."""

    def __init__(self, locale: str = "en", stop_fallback: str = "once", min_turns: int = 3) -> None:
        self.locale = locale
        self.stop_fallback = stop_fallback
        self.min_turns = min_turns


def preferences(store: Store) -> Preferences:
    """As the user chose last."""
    values = cached.settings(store)
    save = values.get("save")
    chosen = Preferences()
    if isinstance(locale := values.get("locale"), str):
        chosen.locale = locale
    if isinstance(save, dict):
        chosen.stop_fallback = str(save.get("stop_fallback", chosen.stop_fallback))
        chosen.min_turns = int(save.get("min_turns", chosen.min_turns))
    return chosen
