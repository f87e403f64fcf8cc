"""The script: each case is a function that asks one side; `ALL` runs them in this order."""

from . import access, cluster, consumer_groups, fetching, groups, hostile, offsets, producing, settings, share_groups, topics, transactions

ALL = [
    function
    for module in (cluster, access, topics, settings, producing, fetching, offsets, groups, consumer_groups, share_groups, transactions, hostile)
    for function in module.CASES
]
