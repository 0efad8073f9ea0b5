"""Run the suite so many times and stop at the first that fails: `python -m tests.support.steady TIMES`.

One line a run: its result, and the seconds of processor it took, all its processes together. Ends with the code of
the last run.
"""

import resource
import subprocess
import sys


def main(times: int) -> int:
    """Repeat `make test`; print all a failing run says."""
    for number in range(1, times + 1):
        before = _processor_seconds()
        ended = subprocess.run(["make", "--no-print-directory", "test"], capture_output=True, text=True, check=False)
        last = (ended.stdout.splitlines() or [""])[-1]
        sys.stdout.write(f"{number} of {times}: {last} ({_processor_seconds() - before:.0f} s of processor)\n")
        sys.stdout.flush()
        if ended.returncode:
            sys.stdout.write(f"{ended.stdout}{ended.stderr}")
            return ended.returncode
    return 0


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1])))
