"""The fastest way to call `eventlog hook`: `python -I -S …/eventlog/hook.py --agent claude`.

Python compiles a script anew at every start: so this one is short, and the hook begins in `eventlog/hooks/begin.py`.
Without site (`-S`) nothing is on the path but the standard library, so the directory of the package is added here.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # in so short a life, looking for garbage costs more than what it finds, from the first import on
    sys.path.insert(0, __file__[: -len("/eventlog/hook.py")])
    from eventlog.fast import modules

    modules.come_first()
    from eventlog.hooks.begin import main

    main(sys.argv[1:])
