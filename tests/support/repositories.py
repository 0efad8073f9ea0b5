"""Real git repositories; tests that need one are skipped where git is not installed."""

import os
import shutil
import subprocess

import pytest

_SETTINGS = ("user.name=Ada", "user.email=ada@a.example", "protocol.file.allow=always", "init.defaultBranch=main")


def git(cwd, *args):
    """What git prints, as the person and machine the tests are run by would have no say in it."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", *settings, *args], cwd=cwd, env=environ, capture_output=True, text=True, check=True
    ).stdout.strip()


def repository(path):
    """One commit on `main`."""
    path.mkdir(parents=True)
    git(path, "init")
    git(path, "commit", "--allow-empty", "-m", "first")
    return path


def repository_on_a_merged_branch(path):
    """One commit on `main`, and a branch `work` at the same, checked out."""
    git(repository(path), "switch", "-c", "work")
    return path


def branch(path):
    """The branch checked out."""
    return git(path, "branch", "--show-current")
