"""The group as its coordinator describes it, and commits in the name of others: requests that no client library sends."""

from wire import Connection, array, compact_array, compact_string, i32, i64, string

OFFSET_COMMIT, OFFSET_FETCH, INCREMENTAL_ALTER_CONFIGS, CONSUMER_GROUP_DESCRIBE = 8, 9, 44, 69
NO_TAGS, GROUP_RESOURCE = b"\0", b"\x20"


class Group:
    def __init__(self, bootstrap, group, topic):
        self.connection, self.group, self.topic = Connection(bootstrap), group, topic

    def configure(self, settings):
        configs = [compact_string(name) + b"\0" + compact_string(value) + NO_TAGS for name, value in settings.items()]
        resource = GROUP_RESOURCE + compact_string(self.group) + compact_array(configs) + NO_TAGS
        answer = self.connection.ask(INCREMENTAL_ALTER_CONFIGS, 1, compact_array([resource]) + b"\0" + NO_TAGS, is_flexible=True)
        answer.i32()

        def one():
            error, message, _, _ = answer.i16(), answer.compact_string(), answer.i8(), answer.compact_string()
            answer.tags()
            return error, message

        outcomes = answer.compact_array(one)
        assert all(error == 0 for error, _ in outcomes), f"the group's settings: {outcomes}"

    def describe(self):
        """State, epoch, and of each member: id, epoch, partitions that it holds, those that it shall hold."""
        body = compact_array([compact_string(self.group)]) + b"\0" + NO_TAGS
        answer = self.connection.ask(CONSUMER_GROUP_DESCRIBE, 0, body, is_flexible=True)
        answer.i32()

        def partitions():
            answer.take(16)
            answer.compact_string()
            found = answer.compact_array(answer.i32)
            answer.tags()
            return found

        def assignment():
            found = [partition for topic in answer.compact_array(partitions) for partition in topic]
            answer.tags()
            return found

        def member():
            name = answer.compact_string()
            answer.compact_string(), answer.compact_string()
            epoch = answer.i32()
            answer.compact_string(), answer.compact_string()
            answer.compact_array(answer.compact_string)
            answer.compact_string()
            found = [name, epoch, assignment(), assignment()]
            answer.tags()
            return found

        def one():
            _, _, _, state, epoch = answer.i16(), answer.compact_string(), answer.compact_string(), answer.compact_string(), answer.i32()
            answer.i32(), answer.compact_string()
            members = answer.compact_array(member)
            answer.i32()
            answer.tags()
            return state, epoch, members

        found = answer.compact_array(one)
        answer.tags()
        answer.done()
        return found[0]

    def commit(self, member, epoch, partition):
        """OffsetCommit v9 of offset 0, in somebody's name; the error code."""
        offset = i32(partition) + i64(0) + i32(-1) + compact_string("") + NO_TAGS
        topic = compact_string(self.topic) + compact_array([offset]) + NO_TAGS
        body = compact_string(self.group) + i32(epoch) + compact_string(member) + b"\0" + compact_array([topic]) + NO_TAGS
        answer = self.connection.ask(OFFSET_COMMIT, 9, body, is_flexible=True)
        answer.i32()

        def one():
            _, code = answer.i32(), answer.i16()
            answer.tags()
            return code

        def of_topic():
            answer.compact_string()
            codes = answer.compact_array(one)
            answer.tags()
            return codes

        return answer.compact_array(of_topic)[0][0]

    def committed(self, partition):
        """OffsetFetch v5 of one partition; 0 where nothing was committed."""
        body = string(self.group) + array([string(self.topic) + array([i32(partition)])])
        answer = self.connection.ask(OFFSET_FETCH, 5, body)
        answer.i32()

        def one():
            _, offset, _, _, _ = answer.i32(), answer.i64(), answer.i32(), answer.string(), answer.i16()
            return offset

        def of_topic():
            answer.string()
            return answer.array(one)

        return max(answer.array(of_topic)[0][0], 0)
