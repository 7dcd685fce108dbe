//! Policies as they are written, and what they decide.

use synod_model::Identity;
use synod_policy::{Caller, Item, Policy, Right, Rights, Role, Spot};

const POLICY: &str = r#"
[certificates]
common_names = true

[[grant]]
who = "spiffe://prod/api/*"
role = "member"
name = "*"
names = ["migrator"]

[[grant]]
who = "spiffe://prod/team-a"
role = "operator"
namespaces = ["team-a", "team-a-*"]
collections = ["widgets.example.io", "*.team-a.io"]
leases = ["team-a/lock-*"]

[[grant]]
who = "spiffe://prod/team-a"
role = "reader"
namespaces = ["public"]

[[grant]]
who = "cn:root"
role = "admin"
"#;

fn rights(identity: &str) -> Rights {
    let policy = Policy::parse(POLICY).expect("it can be used");
    policy.rights(&Caller {
        identity: Identity::parse(identity).expect("it is a name"),
        pod: None,
        groups: Vec::new(),
    })
}

fn objects<'a>(collection: &'a str, namespace: &'a str) -> Item<'a> {
    Item::Objects(Spot {
        collection,
        namespace,
        name: "",
    })
}

fn lease<'a>(namespace: &'a str, name: &'a str) -> Item<'a> {
    Item::Leases(Spot {
        collection: "",
        namespace,
        name,
    })
}

// Guarantee: A-02, TM-18
#[test]
fn a_member_acts_as_itself_alone() {
    let own = rights("spiffe://prod/api/server-1");
    let may = |item| own.allow_item(Right::TakePart, &item).is_ok();
    assert!(may(Item::Member("server-1")));
    for other in ["server-2", "server-10", "server-1_x", "", "*"] {
        assert!(!may(Item::Member(other)), "{other}");
    }
    let may = |item| own.allow_item(Right::Hold, &item).is_ok();
    for name in [
        "server-1",
        "server-1_7",
        "server-1/lock",
        "migrator",
        "migrator_2",
    ] {
        assert!(may(Item::Holder(name)), "{name}");
    }
    for name in ["server-2", "server-10", "server-1-b", "migrators"] {
        assert!(!may(Item::Holder(name)), "{name}");
    }
    let denied = own.allow_item(Right::TakePart, &Item::Member("server-2"));
    assert_eq!(
        denied.unwrap_err().to_string(),
        "\"spiffe://prod/api/server-1\" may not act as member \"server-2\": it is server-1"
    );
}

// Guarantee: TM-12
#[test]
fn a_star_stands_for_one_step_of_a_path() {
    for identity in [
        "spiffe://prod/api/",
        "spiffe://prod/api/a/b",
        "spiffe://prod/api",
    ] {
        assert!(rights(identity).allow(Right::Any).is_err(), "{identity}");
    }
}

// Guarantee: TM-12
#[test]
fn a_name_that_no_member_can_have_gives_none() {
    let odd = rights("spiffe://prod/api/Server_1");
    assert!(odd.allow(Right::Read).is_ok());
    assert!(
        odd.allow_item(Right::TakePart, &Item::Member("Server_1"))
            .is_err()
    );
}

// Guarantee: A-04
#[test]
fn what_is_narrowed_reaches_no_further() {
    let narrow = rights("spiffe://prod/team-a");
    let may = |right, item| narrow.allow_item(right, &item).is_ok();
    assert!(may(Right::Write, objects("widgets.example.io", "team-a")));
    assert!(may(Right::Write, objects("gears.team-a.io", "team-a-dev")));
    assert!(may(Right::Read, objects("anything.example.io", "public")));
    for (right, item) in [
        (Right::Write, objects("widgets.example.io", "team-b")),
        (Right::Write, objects("widgets.example.io", "public")),
        (Right::Write, objects("gears.example.io", "team-a")),
        (Right::Write, objects("widgets.example.io", "")),
        (Right::Write, objects("", "team-a")),
        (Right::Read, objects("gears.example.io", "team-a")),
        (Right::Hold, lease("team-a", "other")),
        (Right::Hold, lease("team-b", "lock-1")),
        (Right::Hold, lease("team-a", "")),
        (Right::Hold, lease("", "")),
        (Right::Operate, Item::Collection("gears.example.io")),
        (Right::Operate, Item::Collection("")),
    ] {
        assert!(!may(right, item), "{right:?} {item}");
    }
    assert!(may(Right::Hold, lease("team-a", "lock-1")));
    assert!(may(Right::Operate, Item::Collection("widgets.example.io")));
    assert!(!narrow.is_wide(Right::Read));
    assert!(!may(Right::Hold, Item::Holder("anybody")), "it has no name");
}

#[test]
fn an_admin_acts_as_everybody() {
    let admin = rights("cn:root");
    assert!(
        admin
            .allow_item(Right::TakePart, &Item::Member("server-1"))
            .is_ok()
    );
    assert!(admin.allow_item(Right::Hold, &Item::Holder("x")).is_ok());
    assert!(admin.is_wide(Right::Administer));
    assert_eq!(admin.actor().names, None);
}

#[test]
fn who_is_not_granted_anything_is_told_so() {
    let nobody = rights("spiffe://prod/nobody");
    let denied = nobody.allow(Right::Any).unwrap_err().to_string();
    assert!(
        denied.starts_with("nothing is granted to \"spiffe://prod/nobody\""),
        "{denied}"
    );
}

// Guarantee: A-01
#[test]
fn each_role_has_its_rights_and_no_other() {
    use Right::{Administer, Any, BackUp, Hold, Migrate, Operate, Read, TakePart, Write};
    let all = [
        Any, Read, TakePart, Write, Hold, Migrate, Operate, BackUp, Administer,
    ];
    let rights_of = |role: Role| {
        all.into_iter()
            .filter(|right| role.has(*right))
            .collect::<Vec<_>>()
    };
    assert_eq!(rights_of(Role::Reader), [Any, Read]);
    assert_eq!(
        rights_of(Role::Member),
        [Any, Read, TakePart, Write, Hold, Migrate]
    );
    assert_eq!(
        rights_of(Role::Operator),
        [Any, Read, Write, Hold, Migrate, Operate]
    );
    assert_eq!(rights_of(Role::Backup), [Any, BackUp]);
    assert_eq!(rights_of(Role::Admin), all);
}

#[test]
fn a_fault_says_its_line_and_what_to_write() {
    let fault = |text: &str| Policy::parse(text).unwrap_err().to_string();
    let of_field = |field: &str| {
        fault(&format!(
            "\n[[grant]]\nwho = \"a\"\nrole = \"reader\"\n{field}\n"
        ))
    };
    assert!(of_field("name = \"*\"").starts_with("line 5: `name` = \"*\": `*` stands for"));
    assert!(of_field("name = \"Not A Name\"").starts_with("line 5: `name`"));
    assert!(
        of_field("namespaces = [\"a\", \"b*c*\"]")
            .starts_with("line 5: `namespaces` = \"b*c*\": must have one `*`")
    );
    assert!(of_field("leases = [\"lock\"]").starts_with("line 5: `leases` = \"lock\": must be"));
    assert!(of_field("names = [\"\"]").starts_with("line 5: `names`"));
    let many = format!("names = [{}]", "\"a\", ".repeat(17));
    assert!(of_field(&many).contains("16 names at most"));
    let narrowed = "[[grant]]\nwho = \"a\"\nrole = \"admin\"\nnamespaces = [\"x\"]\n";
    assert!(fault(narrowed).starts_with("line 2: an admin may do everything"));
    let narrowed = narrowed.replace("admin", "backup");
    assert!(fault(&narrowed).starts_with("line 2: a backup holds everything"));
    assert!(of_field("nmaespaces = []").contains("nmaespaces"));
    assert!(fault("[[grant]]\nwho = \"a\"\nrole = \"root\"\n").starts_with("line 3"));
    assert!(fault("[[grant]]\nwho = \"\"\nrole = \"reader\"\n").starts_with("line 2: `who`"));
    assert!(fault("x = ").starts_with("line 1"));
    assert!(fault(&"#".repeat((1 << 20) + 1)).contains("bytes"));
}

#[test]
fn the_built_in_policy_knows_the_names_of_development_certificates() {
    let policy = Policy::built_in();
    let rights = |identity: &str| {
        policy.rights(&Caller {
            identity: Identity::parse(identity).unwrap(),
            pod: None,
            groups: Vec::new(),
        })
    };
    assert!(
        rights("spiffe://synod/admin")
            .allow(Right::Administer)
            .is_ok()
    );
    let member = rights("spiffe://synod/member/server-1");
    assert!(
        member
            .allow_item(Right::TakePart, &Item::Member("server-1"))
            .is_ok()
    );
    assert!(rights("spiffe://synod/other").allow(Right::Any).is_err());
}

#[test]
fn where_a_grant_stands_is_no_part_of_what_it_says() {
    let of = |text: &str| {
        let policy = Policy::parse(text).expect("it can be used");
        policy.rights(&Caller {
            identity: Identity::parse("cn:root").expect("it is a name"),
            pod: None,
            groups: Vec::new(),
        })
    };
    let moved = format!("# A comment.\n\n{POLICY}");
    assert_eq!(of(POLICY), of(&moved));
    assert_ne!(of(POLICY), of(&POLICY.replace("admin", "operator")));
}

// Guarantee: TM-10
#[test]
fn who_is_kept_within_namespaces_decides_about_no_whole_collection() {
    let text = "[[grant]]\nwho = \"cn:a\"\nrole = \"operator\"\nnamespaces = [\"team-a\"]\n";
    let policy = Policy::parse(text).expect("it can be used");
    let rights = policy.rights(&Caller {
        identity: Identity::parse("cn:a").expect("it is a name"),
        pod: None,
        groups: Vec::new(),
    });
    let collection = Item::Collection("widgets.example.io");
    assert!(rights.allow_item(Right::Operate, &collection).is_err());
    let own = objects("widgets.example.io", "team-a");
    assert!(rights.allow_item(Right::Write, &own).is_ok());
}

#[test]
fn an_empty_policy_grants_nothing() {
    assert_eq!(Policy::parse("").unwrap().grants, []);
}

const TOKENS: &str = r#"
[tokens]
issuer = "https://kubernetes.default.svc"
audiences = ["synod"]
jwks_file = "jwks.json"

[[grant]]
who = "system:serviceaccount:prod:api"
role = "member"
name = "{pod}"

[[grant]]
who = "system:serviceaccount:jobs:*"
role = "reader"
"#;

/// The rights of a service account, by a token that may be bound to a pod.
fn rights_of_account(name: &str, pod: Option<&str>) -> Rights {
    let policy = Policy::parse(TOKENS).expect("it can be used");
    policy.rights(&Caller {
        identity: Identity::parse(&format!("system:serviceaccount:{name}")).expect("it is a name"),
        pod: pod.map(str::to_owned),
        groups: Vec::new(),
    })
}

#[test]
fn a_service_account_acts_as_the_member_with_the_name_of_its_pod() {
    let own = rights_of_account("prod:api", Some("api-0"));
    let may = |item| own.allow_item(Right::TakePart, &item).is_ok();
    assert!(may(Item::Member("api-0")));
    for other in ["api-1", "api", "{pod}", "*", ""] {
        assert!(!may(Item::Member(other)), "{other}");
    }
    assert!(
        own.allow_item(Right::Hold, &Item::Holder("api-0_7"))
            .is_ok()
    );
    let unbound = rights_of_account("prod:api", None);
    let denied = unbound.allow_item(Right::TakePart, &Item::Member("api-0"));
    assert_eq!(
        denied.unwrap_err().to_string(),
        "\"system:serviceaccount:prod:api\" may not act as member \"api-0\": the policy gives it the `name` of its pod, \
         and its token is bound to none"
    );
    assert!(unbound.allow(Right::Read).is_ok());
}

#[test]
fn a_star_stands_for_one_part_of_the_name_of_a_service_account() {
    assert!(
        rights_of_account("jobs:nightly", None)
            .allow(Right::Read)
            .is_ok()
    );
    for name in ["jobs:", "jobs:a:b", "jobs", "other:nightly", "prod:api-2"] {
        assert!(
            rights_of_account(name, None).allow(Right::Any).is_err(),
            "{name}"
        );
    }
    // A pod is nothing that a certificate names.
    let policy = Policy::parse("[[grant]]\nwho = \"cn:a\"\nrole = \"member\"\nname = \"{pod}\"\n");
    let rights = policy.expect("it can be used").rights(&Caller {
        identity: Identity::parse("cn:a").expect("it is a name"),
        pod: None,
        groups: Vec::new(),
    });
    assert!(
        rights
            .allow_item(Right::TakePart, &Item::Member("a"))
            .is_err()
    );
}

#[test]
fn the_table_of_tokens_says_whose_they_are() {
    let policy = Policy::parse(TOKENS).expect("it can be used");
    let tokens = policy.tokens.expect("it has the table");
    assert_eq!(tokens.issuer, "https://kubernetes.default.svc");
    assert_eq!(tokens.audiences, ["synod"]);
    assert_eq!(tokens.jwks_file, "jwks.json");
    assert_eq!(Policy::parse("").expect("it can be used").tokens, None);
    let fault = |from: &str, to: &str| {
        let policy = Policy::parse(&TOKENS.replace(from, to));
        policy.expect_err("it is at fault").to_string()
    };
    assert!(fault("\"synod\"", "").starts_with("line 4: `audiences` must name one"));
    assert!(fault("\"synod\"", "\"synod\", \"\"").starts_with("line 4: `audiences` must have"));
    assert!(fault("https://kubernetes.default.svc", "").starts_with("line 3: `issuer`"));
    assert!(fault("jwks.json", "").starts_with("line 5: `jwks_file`"));
    assert!(fault("issuer", "isuer").contains("isuer"));
    assert!(fault("jwks_file = \"jwks.json\"", "").contains("jwks_file"));
}

#[test]
fn a_caller_has_the_grants_of_its_groups_and_is_no_member_by_them() {
    let text = "[[grant]]\nwho = \"remote:alice\"\nrole = \"reader\"\n\
                [[grant]]\nwho = \"remote-group:ops\"\nrole = \"operator\"\n\
                [[grant]]\nwho = \"remote-group:members-*\"\nrole = \"member\"\n\
                [[grant]]\nwho = \"remote:*\"\nrole = \"backup\"\n";
    let policy = Policy::parse(text).expect("it can be used");
    let roles = |name: &str, groups: &[&str]| {
        let rights = policy.rights(&Caller {
            identity: Identity::parse(name).expect("it is a name"),
            pod: None,
            groups: groups
                .iter()
                .map(|group| format!("remote-group:{group}"))
                .collect(),
        });
        let members = rights
            .grants()
            .filter(|(_, member)| member.is_some())
            .count();
        assert_eq!(members, 0);
        rights
            .grants()
            .map(|(grant, _)| grant.role)
            .collect::<Vec<_>>()
    };
    assert_eq!(roles("remote:alice", &[]), [Role::Reader, Role::Backup]);
    assert_eq!(
        roles("remote:bob", &["ops"]),
        [Role::Operator, Role::Backup]
    );
    assert_eq!(
        roles("remote:bob", &["members-a"]),
        [Role::Member, Role::Backup]
    );
    // The steps of a name are parted by colons.
    assert_eq!(roles("remote:system:admin", &["ops:more"]), []);
    // What a certificate or a token proves is never such a name.
    assert_eq!(roles("cn:remote:alice", &[]), []);
}

// Guarantee: TM-16
#[test]
fn a_group_is_no_member() {
    for name in ["a", "*", "{pod}"] {
        let text = format!(
            "[[grant]]\nwho = \"remote-group:ops*\"\nrole = \"member\"\nname = \"{name}\"\n"
        );
        let fault = Policy::parse(&text).unwrap_err().to_string();
        assert!(fault.contains("a group is many callers"), "{fault}");
    }
}

// Guarantee: TM-16
#[test]
fn what_a_front_proxy_tells_is_matched_by_what_begins_as_it() {
    let of = |who: &str| {
        let text = format!("[[grant]]\nwho = \"{who}\"\nrole = \"member\"\nname = \"a\"\n");
        let policy = Policy::parse(&text).expect("it can be used");
        let rights = policy.rights(&Caller {
            identity: Identity::parse("remote:alice").expect("it is a name"),
            pod: None,
            groups: vec!["remote-group:ops".to_owned()],
        });
        rights.grants().count()
    };
    for who in ["*:ops", "*:alice", "*alice", "remote*:ops", "r*:alice"] {
        assert_eq!(of(who), 0, "{who}");
    }
    assert_eq!(of("remote:*"), 1);
}
