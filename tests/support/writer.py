"""`python writer.py STORE NAME COUNT SIZE [PAUSE]`: append facts, and write the id of each to stdout once it is stored."""

import os
import sys
import time

from eventlog import EventLog, Fact


def main(store, name, count, size, pause="0"):
    log = EventLog(store, fsync=False)
    for number in range(int(count)):
        stored = log.append(Fact(conversation_id=name, content=f"{name} {number} " + "x" * int(size)))
        os.write(1, stored.id.encode() + b"\n")
        time.sleep(float(pause))


if __name__ == "__main__":
    main(*sys.argv[1:])
