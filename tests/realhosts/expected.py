"""Known failures, each with its reason: `expected.json` beside this file, scenario -> host -> reason."""

import json
from pathlib import Path

from tests.realhosts.outcome import Outcome

_FILE = Path(__file__).parent / "expected.json"


class Expected:
    """What is known to fail."""

    def __init__(self) -> None:
        self._reasons: dict[str, dict[str, str]] = json.loads(_FILE.read_text())

    def reason(self, outcome: Outcome) -> str:
        """Why this host's scenario is known to fail; "" where it is to hold."""
        return self._reasons.get(outcome.scenario, {}).get(outcome.host, "")

    def is_regression(self, outcome: Outcome) -> bool:
        """Whether it fails and nobody knew."""
        return outcome.verdict == "fails" and not self.reason(outcome)

    def is_mended(self, outcome: Outcome) -> bool:
        """Whether it holds and was known to fail: its line can go."""
        return outcome.verdict == "ok" and bool(self.reason(outcome))
