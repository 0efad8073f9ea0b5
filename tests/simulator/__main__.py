"""Play histories: `python -m tests.simulator SEEDS [--first SEED] [--steps N] [--keep-going]`.

Prints the first broken promise with the shortest history that breaks it, and ends with 1.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

from tests.simulator.history import Broken, drawn, play


def broken(steps):
    """How a history breaks a promise; "" for one that keeps all."""
    with tempfile.TemporaryDirectory(dir=_memory()) as directory:
        try:
            play(steps, directory)
        except Broken as told:
            return str(told)
        except Exception as error:  # noqa: BLE001 - a promise as well: nothing is raised
            return f"{type(error).__name__}: {error}"
    return ""


def shortened(steps):
    """Leave out every step without which the history still breaks a promise."""
    at = len(steps)
    while at:
        at -= 1
        fewer = steps[:at] + steps[at + 1 :]
        if broken(fewer):
            steps = fewer
    return steps


def _seed(seed_and_length):
    seed, length = seed_and_length
    return seed, broken(drawn(seed, length))


def _memory():
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main(argv=None):
    """Play the seeds; return 0 when every promise held in all of them."""
    parser = argparse.ArgumentParser(prog="simulator", description=__doc__)
    parser.add_argument("seeds", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--keep-going", action="store_true", help="tell every seed that breaks a promise")
    options = parser.parse_args(argv)
    begun, failed = time.monotonic(), 0
    wanted = [(seed, options.steps) for seed in range(options.first, options.first + options.seeds)]
    with ProcessPoolExecutor(os.cpu_count()) as pool, contextlib.suppress(KeyboardInterrupt):
        for seed, told in pool.map(_seed, wanted):
            if told:
                failed += 1
                sys.stdout.write(f"seed {seed}: {told}\n")
                if not options.keep_going:
                    pool.shutdown(wait=False, cancel_futures=True)
                    steps = shortened(drawn(seed, options.steps))
                    sys.stdout.write("shortest: " + "\n          ".join(map(str, steps)) + f"\n{broken(steps)}\n")
                    break
    seconds = time.monotonic() - begun
    sys.stdout.write(f"simulator: {len(wanted)} seeds of {options.steps} steps, {failed} broken ({seconds:.0f} s)\n")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
