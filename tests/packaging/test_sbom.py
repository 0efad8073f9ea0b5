"""The bill of materials names everything a user installs, and is the same every time."""

import json

import pytest

from tests.support import sbom


@pytest.mark.slow
def test_the_bill_names_every_package_that_is_needed_with_what_it_needs(tmp_path):
    wheel = tmp_path / "x.whl"
    wheel.write_bytes(b"x")
    bill = sbom.bill(wheel)
    names = {component["name"] for component in bill["components"]}
    refs = {edge["ref"] for edge in bill["dependencies"]}

    assert ("CycloneDX", "1.6") == (bill["bomFormat"], bill["specVersion"])
    assert {"click", "msgspec", "orjson", "markdown-it-py", "mdurl", "rich", "pyyaml"} <= names
    assert not {"pytest", "dask", "ruff"} & names
    assert all(ref in refs for edge in bill["dependencies"] for ref in edge["dependsOn"])
    assert json.dumps(bill) == json.dumps(sbom.bill(wheel))
