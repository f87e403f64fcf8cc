"""The script: each case is a function that asks one side; `ALL` runs them in this order."""

from . import cluster, fetching, groups, hostile, offsets, producing, settings, topics

ALL = [
    function
    for module in (cluster, topics, settings, producing, fetching, offsets, groups, hostile)
    for function in module.CASES
]
