"""A cluster for the tests of this folder."""

import pytest


@pytest.fixture(scope="package")
def client(tmp_path_factory):
    """A cluster within this process: a scheduler and one worker."""
    from dask import config  # half a second, in every process that only looks which tests there are
    from distributed import Client, LocalCluster

    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    scratch = config.set({"temporary-directory": str(tmp_path_factory.mktemp("dask"))})
    with scratch, LocalCluster(n_workers=1, **options) as local, Client(local) as found:
        yield found
