"""Stand-ins for slow parts of the standard library, for processes that live as long as their imports take.

`from eventlog.fast import os` is Python's own `os` wherever that is loaded already. A hook starts without it, and
importing it takes as long as appending an event: there `eventlog/fast/os_subset.py` stands in.

Imported by: everybody.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os as os

else:

    def __getattr__(name: str) -> object:
        """Choose the `os` of this process at first need: this package is loaded before the finder of its modules."""
        if name != "os":
            raise AttributeError(name)
        if "os" in sys.modules or "posix" not in sys.builtin_module_names:
            import os as chosen
        else:
            from eventlog.fast import os_subset as chosen
        globals()["os"] = chosen
        return chosen
