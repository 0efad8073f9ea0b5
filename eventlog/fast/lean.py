"""`os`, for modules that hooks load: `from eventlog.fast.lean import os`.

It is Python's own wherever that is loaded already. A hook starts without it, and importing it takes as long as
appending an event: there `eventlog/fast/os_subset.py` stands in.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING or "os" in sys.modules or "posix" not in sys.builtin_module_names:
    import os
else:
    from eventlog.fast import os_subset as os

__all__ = ["os"]
