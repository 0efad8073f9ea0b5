"""The fastest way to call `eventlog hook`: `python -I -S …/eventlog/hook.py --agent claude`.

Without site (`-S`) nothing is on the path but the standard library, so the directory of the package is added here.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from eventlog.hooks.serve import run

if __name__ == "__main__":
    run(sys.argv[1:])
