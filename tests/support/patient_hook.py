"""`patient_hook.py IMPORT_PATH STEPS ARG...`: the hook, with an hour, or so many seconds, for each of these steps of `eventlog/hooks/deadline.py`.

What a hook does is then the same on a machine however slow or busy.
"""

import sys

sys.path.insert(0, sys.argv.pop(1))

from eventlog.hooks import deadline, hook_main

deadline.BUDGET = 3600
for step in sys.argv.pop(1).split(","):
    name, _, seconds = step.partition("=")
    setattr(deadline, name, float(seconds or 3600))
hook_main.main(sys.argv[1:])
