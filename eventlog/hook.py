"""The fastest way to call `eventlog hook`: `python -I -S …/eventlog/hook.py --agent claude`.

Python compiles a script at every start: so this script is short, and `eventlog/hooks/hook_main.py` does the work.
Without site (`-S`) the path has the standard library only, so the directory of the package is added here.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # in so short a life, looking for garbage costs more than what it finds, from the first import on
    sys.path.insert(0, __file__[: -len("/eventlog/hook.py")])
    from eventlog.fast import modules

    modules.install()
    if sys.argv[1:2] == ["--live"]:
        from eventlog.hooks.live import main
    else:
        from eventlog.hooks.hook_main import main
    main(sys.argv[1:])
