"""Whole histories from a seed: machines, agents, a person, kills, full disks and odd clocks; `make simulate SEEDS=1000`."""
