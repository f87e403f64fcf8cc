"""Who may do what, and how much: ACLs, credentials, quotas, delegation tokens. Nobody has set any of it up."""

ANY, ALL = 1, 2
TOPIC, GROUP, CLUSTER = 2, 3, 4
LITERAL, PREFIXED, MATCH = 3, 4, 2
READ, ALLOW = 3, 3
SHA_256, SHA_512 = 1, 2
EXACT, DEFAULT, SPECIFIED = 0, 1, 2


def binding(name="t", **fields):
    return {
        "ResourceType": TOPIC, "ResourceName": name, "ResourcePatternType": LITERAL, "Principal": "User:alice", "Host": "*",
        "Operation": READ, "PermissionType": ALLOW,
    } | fields


def acl_filter(**fields):
    return {
        "ResourceTypeFilter": ANY, "ResourceNameFilter": None, "PatternTypeFilter": ANY, "PrincipalFilter": None,
        "HostFilter": None, "Operation": ANY, "PermissionType": ANY,
    } | fields


def acls(side):
    for version in side.apis["DescribeAcls"].versions():
        side.ask("DescribeAcls", version, "everything", **acl_filter())
        side.ask("DescribeAcls", version, "a topic", **acl_filter(ResourceTypeFilter=TOPIC, ResourceNameFilter="t"))
        for field, value in (("ResourceTypeFilter", 99), ("PatternTypeFilter", 99), ("Operation", 99), ("PermissionType", 99), ("PatternTypeFilter", 0)):
            side.ask("DescribeAcls", version, f"{field} {value}", **acl_filter(**{field: value}))
    for version in side.apis["CreateAcls"].versions():
        ask = lambda note, *creations: side.ask("CreateAcls", version, note, Creations=list(creations))
        ask("one", binding())
        ask("two", binding(), binding("u", ResourcePatternType=PREFIXED))
        ask("none")
        ask("of the cluster", binding("kafka-cluster", ResourceType=CLUSTER))
        ask("of another cluster", binding("other", ResourceType=CLUSTER))
        ask("without a name", binding(""))
        ask("a principal without a kind", binding(Principal="alice"))
        ask("any operation", binding(Operation=ANY))
        ask("operation 99", binding(Operation=99))
        ask("any resource", binding(ResourceType=ANY))
        ask("matching", binding(ResourcePatternType=MATCH))
    for version in side.apis["DeleteAcls"].versions():
        ask = lambda note, *filters: side.ask("DeleteAcls", version, note, Filters=list(filters))
        ask("everything", acl_filter())
        ask("two", acl_filter(), acl_filter(ResourceTypeFilter=GROUP))
        ask("none")
        ask("operation 99", acl_filter(Operation=99))


def scram(side):
    described = lambda note, users: side.ask(
        "DescribeUserScramCredentials", 0, note, Users=None if users is None else [{"Name": name} for name in users]
    )
    described("everything", None)
    described("nobody", [])
    described("a user", ["alice"])
    described("two", ["alice", "bob"])
    described("without a name", [""])
    described("a user twice", ["alice", "alice"])
    password = bytes(range(64))
    def upsertion(name="alice", **fields):
        return {"Name": name, "Mechanism": SHA_512, "Iterations": 8192, "Salt": b"salt", "SaltedPassword": password} | fields

    def altered(note, deletions=(), upsertions=()):
        wanted = [{"Name": name, "Mechanism": mechanism} for name, mechanism in deletions]
        side.ask("AlterUserScramCredentials", 0, note, Deletions=wanted, Upsertions=list(upsertions))

    altered("none")
    altered("deletion of what is not there", [("nobody", SHA_256)])
    altered("deletion without a name", [("", SHA_256)])
    altered("deletion of mechanism 9", [("alice", 9)])
    altered("too few iterations", (), [upsertion(Iterations=4095)])
    altered("too many iterations", (), [upsertion(Iterations=16385)])
    altered("without a name", (), [upsertion("")])
    altered("mechanism 0", (), [upsertion(Mechanism=0)])
    altered("a user twice", [("alice", SHA_512)], [upsertion()])
    altered("a password", (), [upsertion("carol")])
    altered("two users", (), [upsertion("dave"), upsertion("erin", Mechanism=SHA_256)])
    side.until_settled()
    described("afterwards", None)
    # Leaves nothing behind for the next run against the same broker; what Kafka says of it is not ours to match.
    names = [("carol", SHA_512), ("dave", SHA_512), ("erin", SHA_256)]
    side.quietly("AlterUserScramCredentials", 0, Deletions=[{"Name": name, "Mechanism": kind} for name, kind in names], Upsertions=[])
    side.until_settled()
    described("after deleting all", None)


def quotas(side):
    for version in side.apis["DescribeClientQuotas"].versions():
        def ask(note, *components, strict=False):
            wanted = [{"EntityType": kind, "MatchType": match, "Match": name} for kind, match, name in components]
            side.ask("DescribeClientQuotas", version, note, Components=wanted, Strict=strict)

        ask("everything")
        ask("everything, strictly", strict=True)
        ask("a user", ("user", EXACT, "alice"))
        ask("the default user", ("user", DEFAULT, None))
        ask("any user", ("user", SPECIFIED, None), strict=True)
        ask("user and client", ("user", EXACT, "alice"), ("client-id", EXACT, "c"))
        ask("an address", ("ip", EXACT, "127.0.0.1"))
        ask("address and user", ("user", EXACT, "alice"), ("ip", EXACT, "127.0.0.1"))
        ask("unknown kind", ("planet", EXACT, "mars"))
        ask("no kind", ("", EXACT, "mars"))
        ask("kind named twice", ("user", EXACT, "a"), ("user", EXACT, "b"))
        ask("exact without a name", ("user", EXACT, None))
        ask("default with a name", ("user", DEFAULT, "a"))
        ask("match 9", ("user", 9, None))
    for version in side.apis["AlterClientQuotas"].versions():
        def alter(note, *entries, validate=True):
            wanted = [
                {"Entity": [{"EntityType": kind, "EntityName": name} for kind, name in entity], "Ops": [{"Key": key, "Value": value, "Remove": value is None} | ({"Value": 0.0} if value is None else {}) for key, value in ops]}
                for entity, ops in entries
            ]
            side.ask("AlterClientQuotas", version, note, Entries=wanted, ValidateOnly=validate)

        rate = [("producer_byte_rate", 1000.0)]
        alter("none")
        alter("validate: a rate", ([("user", "alice")], rate))
        alter("validate: two entities", ([("user", "alice")], rate), ([("client-id", None)], rate))
        alter("unknown key", ([("user", "alice")], [("no_such_rate", 1.0)]))
        alter("unknown kind", ([("planet", "mars")], rate))
        alter("no entity", ([], rate))
        alter("no operations", ([("user", "alice")], []))
        alter("negative rate", ([("user", "alice")], [("producer_byte_rate", -1.0)]))
        alter("key of addresses", ([("user", "alice")], [("connection_creation_rate", 1.0)]))
        alter("removal of what is not there", ([("user", "yves")], [("producer_byte_rate", None)]), validate=False)
        alter("a rate", ([("user", "zoe")], rate), validate=False)
        side.until_settled()
        side.ask("DescribeClientQuotas", version, "everything after setting one")
        alter("removal", ([("user", "zoe")], [("producer_byte_rate", None)]), validate=False)
        side.until_settled()
        side.ask("DescribeClientQuotas", version, "everything after removing it")


def delegation_tokens(side):
    for version in side.apis["CreateDelegationToken"].versions():
        ask = lambda note, **fields: side.ask("CreateDelegationToken", version, note, MaxLifetimeMs=-1, **fields)
        ask("for oneself")
        ask("with a renewer", Renewers=[{"PrincipalType": "User", "PrincipalName": "bob"}])
        ask("for another", OwnerPrincipalType="User", OwnerPrincipalName="bob")
    for version in side.apis["RenewDelegationToken"].versions():
        side.ask("RenewDelegationToken", version, Hmac=b"no such token", RenewPeriodMs=-1)
    for version in side.apis["ExpireDelegationToken"].versions():
        side.ask("ExpireDelegationToken", version, Hmac=b"no such token", ExpiryTimePeriodMs=-1)
    for version in side.apis["DescribeDelegationToken"].versions():
        side.ask("DescribeDelegationToken", version, "everything", Owners=None)
        side.ask("DescribeDelegationToken", version, "nobody's", Owners=[])
        side.ask("DescribeDelegationToken", version, "one's", Owners=[{"PrincipalType": "User", "PrincipalName": "bob"}])


CASES = [acls, scram, quotas, delegation_tokens]
