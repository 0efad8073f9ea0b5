"""The bill of materials of a wheel: CycloneDX 1.6 JSON of the package and everything it needs, as installed here.

    python -m tests.support.sbom WHEEL > sbom.cdx.json

Equal environments give equal bytes: no time, no random serial number.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

NAME = "agent-eventlog"


def needed(name: str) -> Iterator[str]:
    """The names a distribution needs on this system, without its extras."""
    for line in distribution(name).requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement.name


def resolved(root: str) -> dict[str, list[str]]:
    """Every distribution that is needed, by its name, with those it needs itself."""
    found: dict[str, list[str]] = {}
    left = [root]
    while left:
        name = _name(distribution(left.pop()))
        if name not in found:
            found[name] = sorted({_name(distribution(other)) for other in needed(name)})
            left += found[name]
    return found


def bill(wheel: Path) -> dict[str, Any]:
    """The document."""
    edges = resolved(NAME)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    subject = _component(NAME, "application") | {"hashes": [{"alg": "SHA-256", "content": digest}]}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": subject},
        "components": [_component(name, "library") for name in sorted(edges) if name != NAME],
        "dependencies": [
            {"ref": _purl(name), "dependsOn": [_purl(other) for other in others]}
            for name, others in sorted(edges.items())
        ],
    }


def _component(name: str, kind: str) -> dict[str, Any]:
    found = distribution(name)
    component: dict[str, Any] = {"type": kind, "bom-ref": _purl(name), "name": name, "version": found.version}
    if "License-Expression" in found.metadata:
        component["licenses"] = [{"expression": found.metadata["License-Expression"]}]
    return component | {"purl": _purl(name)}


def _purl(name: str) -> str:
    return f"pkg:pypi/{name}@{distribution(name).version}"


def _name(found: Distribution) -> str:
    return found.metadata["Name"].lower().replace("_", "-").replace(".", "-")


if __name__ == "__main__":
    json.dump(bill(Path(sys.argv[1])), sys.stdout, indent=1)
    sys.stdout.write("\n")
