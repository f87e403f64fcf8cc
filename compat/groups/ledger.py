"""Judges what the members of a group said: nobody reads what is another's, nothing is lost, nothing comes again that was committed."""

from collections import defaultdict

from members import Failed, partitions


def judge(cast, sent):
    """Fails, or returns how many deliveries were repeats; `sent` are all values that anybody was told are stored."""
    lines = sorted(cast.heard(), key=lambda line: line.at)
    ended = {member.name: member.ended_at for member in cast.members}
    complaints = owned_by_two(lines, ended) + strays(lines) + below_commits(lines)
    values = cast.values()
    lost = set(sent) - set(values)
    if lost:
        complaints.append(f"{len(lost)} records lost, such as {sorted(lost)[:3]}")
    if complaints:
        raise Failed("; ".join(complaints[:5]))
    return len(values) - len(set(values))


def owned_by_two(lines, ended):
    """A partition is given to a member before the last owner has given it back, lost it or ended."""
    owner, found = {}, []
    for line in lines:
        if line.word not in ("assigned", "revoked", "lost"):
            continue
        for partition in partitions(line):
            holder = owner.get(partition)
            if line.word == "assigned":
                if holder not in (None, line.member) and (ended[holder] is None or ended[holder] > line.at):
                    found.append(f"{partition} was given to {line.member} while {holder} owned it")
                owner[partition] = line.member
            elif holder == line.member:
                del owner[partition]
    return found


def strays(lines):
    """A member reads what it does not own."""
    owned, found = defaultdict(set), []
    for line in lines:
        if line.word == "assigned":
            owned[line.member] |= partitions(line)
        elif line.word in ("revoked", "lost"):
            owned[line.member] -= partitions(line)
        elif line.word == "got" and line.fields[0] not in owned[line.member]:
            found.append(f"{line.member} was given {line.fields[0]}/{line.fields[1]} and does not own the partition")
    return found


def below_commits(lines):
    """A record is delivered after an offset above it was committed."""
    committed, found = {}, []
    for line in lines:
        if line.word == "committed":
            for part in line.fields[0].split(","):
                partition, offset = part.split("=")
                if int(offset) < committed.get(partition, (0, ""))[0]:
                    found.append(f"{line.member} took {partition} back to {offset} from {committed[partition]}")
                committed[partition] = (int(offset), line.member)
        elif line.word == "got":
            offset, by = committed.get(line.fields[0], (0, ""))
            if int(line.fields[1]) < offset:
                found.append(f"GRP-3: {line.fields[0]}/{line.fields[1]} came to {line.member} after {by} committed {offset}")
    return found


def committed(cast):
    """The last offset that was committed of each partition, as the members were told."""
    found = {}
    for line in sorted(cast.heard(), key=lambda line: line.at):
        if line.word == "committed":
            found |= {part.split("=")[0]: int(part.split("=")[1]) for part in line.fields[0].split(",")}
    return found
