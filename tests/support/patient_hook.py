"""`patient_hook.py IMPORT_PATH STEPS ARG...`: the hook, with an hour, or so many seconds, for each of these steps of `eventlog/hooks/patience.py`.

What a hook does is then the same on a machine however slow or busy.
"""

import sys

sys.path.insert(0, sys.argv.pop(1))

from eventlog.hooks import begin, patience

patience.BUDGET = 3600
for step in sys.argv.pop(1).split(","):
    name, _, seconds = step.partition("=")
    setattr(patience, name, float(seconds or 3600))
begin.main(sys.argv[1:])
