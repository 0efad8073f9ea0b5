"""`os`, for modules that hooks load: `from eventlog.lean import os`.

It is Python's own wherever that is loaded already. A hook starts without it, and importing it takes as long as
appending an event: there `eventlog/lean_os.py` stands in.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING or "os" in sys.modules or "posix" not in sys.builtin_module_names:
    import os
else:
    from eventlog import lean_os as os

__all__ = ["os"]
