"""What a path means is one answer, whoever asks: by the list of the last replay, or by the log as it is folded now."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import Fact
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.write.project_events import join_projects
from eventlog.app.write.record_once import record_once
from eventlog.format.errors import BadRequest
from tests.support.builders import replay
from tests.support.effort import rounds
from tests.support.machines import SETTINGS, Network
from tests.support.repositories import git, repository

pytestmark = pytest.mark.slow

PATHS = ("one", "two", "three")
REMOTES = (None, "", "https://h/ada/shop", "https://h/ada/blog")  # no directory, no repository, one with an address
STEPS = st.one_of(
    st.tuples(st.just("says"), st.integers(0, 1), st.sampled_from(PATHS)),
    st.tuples(st.just("becomes"), st.sampled_from(PATHS), st.sampled_from(REMOTES)),
    st.tuples(st.just("joins"), st.integers(0, 1), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.sampled_from(["exchange"])),
)


class Disk:
    """The paths that two machines have in common, and what lies at each on the machine that looks now."""

    def __init__(self, directory):
        self.network = Network(directory, count=2)
        self.directory = directory

    def at(self, path):
        return str(Path(self.directory, "disk", path))

    def becomes(self, path, remote):
        shutil.rmtree(self.at(path), ignore_errors=True)
        if remote == "":
            Path(self.at(path)).mkdir(parents=True)
        if remote:
            git(repository(Path(self.at(path))), "remote", "add", "origin", remote)

    def says(self, number, path, text="Tea is green"):
        fact = Fact(conversation_id=f"c{number}", agent="codex", project=self.at(path), content=text)
        record_once(self.network.machines[number].log, fact)

    def joins(self, number, *paths):
        machine = self.network.machines[number]
        try:
            join_projects(machine.opened, *map(self.at, paths))
        except BadRequest:
            return
        machine.replay()

    def exchange(self):
        self.network.exchange()


@settings(max_examples=rounds(fixed=15, fuzz=300))
@given(st.lists(STEPS, max_size=7), st.sampled_from(PATHS))
def test_what_a_path_means_here_is_what_its_first_words_are_filed_under(steps, path):
    with tempfile.TemporaryDirectory() as directory:
        disk = Disk(directory)
        for name, *arguments in (*steps, ("says", 1, "elsewhere"), ("exchange",)):
            getattr(disk, name)(*arguments)
        machine = disk.network.machines[1]
        before = replay(machine.log, SETTINGS).identities
        known = [KnownProjects(machine.log.store), KnownProjects(machine.log.store, before)]
        [meant] = {one.meant(disk.at(path)) for one in known}
        [subjects] = {one.subjects_at(disk.at(path)) for one in known}
        [home] = {home and (home.slug, home.name, home.subject) for home in (one.home(disk.at(path)) for one in known)}
        places = [(replica, where) for where, at in before.stays.items() for replica in at]
        [about] = {tuple(one.about(disk.at(path))(other, at) for at, other in places) for one in known}
        said_before = [found for found, is_about in zip(places, about, strict=True) if is_about]

        assert meant in subjects
        assert meant == (home[2] if home else disk.at(path))
        assert [*said_before] == [place for place in places if known[0].of(place[1], place[0]) in subjects]
        if Path(disk.at(path)).is_dir():
            disk.says(1, path, "Cups are blue")
            machine.replay()
            after = replay(machine.log, SETTINGS).identities
            here = after.of(disk.at(path), machine.name)
            assert said_before == [place for place in places if after.of(place[1], place[0]) == here], meant
