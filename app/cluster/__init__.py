"""A replay of many stores on a Dask cluster; its public name is `eventlog.cluster`.

Imported by: cli.
"""
