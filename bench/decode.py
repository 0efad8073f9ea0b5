"""The reference of the replay bar, as a process: `python -m bench.decode LOGDIR`."""

import sys
from pathlib import Path

from bench.knowledge import decode_all

decode_all(Path(sys.argv[1]))
