"""How a client program of `../of_clients.py` is talked to: a command per line on standard input, one line as the answer.

    open ID TIMEOUT_MS                          a transactional producer; fences any other with this id
    begin | commit | abort
    send TOPIC PARTITION VALUE                  waits until it is stored
    offsets GROUP TOPIC PARTITION OFFSET        sent to the transaction, without being a member of the group
    stale GROUP TOPIC PARTITION OFFSET          the same in the name of a member that the group does not know (KIP-447)
    read TOPIC PARTITION ISOLATION UNTIL QUIET_MS    from the start until this value comes, or nothing for so long

Answers: `ok`, `values V,V,...` or `refused REASON`. With the arguments `copy BOOTSTRAP IN OUT GROUP ID` the program is a member of
GROUP instead, and copies until SIGTERM, in transactions, some of which it aborts.
"""

import asyncio
import inspect
import sys

ABORT_EVERY = 4
"""Each fourth transaction of a copier is aborted, and what it had read is read again."""


async def serve(client):
    """Answers until standard input ends."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command, *arguments = line.split()
        try:
            answer = getattr(client, command)(*arguments)
            if inspect.isawaitable(answer):
                answer = await answer
            print("ok" if answer is None else f"values {','.join(answer)}", flush=True)
        except Exception as error:  # the reason is what is asked for
            print(f"refused {type(error).__name__}", flush=True)


def main(client, copy):
    """`client` makes what answers the commands; `copy` is the other form."""
    if sys.argv[1] == "copy":
        asyncio.run(copy(*sys.argv[2:]))
    else:
        asyncio.run(serve(client(sys.argv[1])))
