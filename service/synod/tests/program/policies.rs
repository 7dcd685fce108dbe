//! `synod policy test`: what a policy grants, without a cluster.

use crate::program::{Printed, run};

const POLICY: &str = r#"
[[grant]]
who = "spiffe://prod/api/*"
role = "member"
name = "*"

[[grant]]
who = "spiffe://prod/team-a"
role = "operator"
namespaces = ["team-a"]
leases = ["team-a/lock-*"]
"#;

/// What is printed about this policy.
async fn tested(policy: &str, words: &[&str]) -> Printed {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, policy).unwrap();
    let file = file.display().to_string();
    let mut all = vec!["policy", "test", &file];
    all.extend(words);
    run(&all).await
}

#[tokio::test]
async fn a_policy_is_tried_before_it_is_used() {
    let printed = tested(POLICY, &[]).await;
    assert_eq!(
        (printed.code, printed.out.as_str()),
        (0, "it can be used: 2 grants\n")
    );
    let server = ["--identity", "spiffe://prod/api/server-1"];
    let printed = tested(POLICY, &server).await;
    assert_eq!(printed.out, "line 3: role member, as member server-1\n");
    let printed = tested(POLICY, &["--identity", "spiffe://prod/nobody"]).await;
    assert_eq!(printed.out, "nothing is granted to it\n");

    let join = |member| {
        [
            &server[..],
            &["--method", "Membership/Join", "--member", member],
        ]
        .concat()
    };
    let printed = tested(POLICY, &join("server-1")).await;
    assert_eq!((printed.code, printed.out.as_str()), (0, "it may\n"));
    let printed = tested(POLICY, &join("server-2")).await;
    assert_eq!((printed.code, printed.out.as_str()), (7, ""));
    assert!(
        printed
            .err
            .contains("may not act as member \"server-2\": it is server-1")
    );

    let team = ["--identity", "spiffe://prod/team-a", "--method"];
    let update = |namespace| [&team[..], &["Objects/Update", "--namespace", namespace]].concat();
    assert_eq!(tested(POLICY, &update("team-a")).await.code, 0);
    assert_eq!(tested(POLICY, &update("team-b")).await.code, 7);
    let lease = |name| [&team[..], &["Leases/Get", "--lease", name]].concat();
    assert_eq!(tested(POLICY, &lease("team-a/lock-1")).await.code, 0);
    assert_eq!(tested(POLICY, &lease("team-a/other")).await.code, 7);
    let holder = [
        &team[..],
        &[
            "Leases/Acquire",
            "--lease",
            "team-a/lock-1",
            "--holder",
            "x",
        ],
    ];
    let printed = tested(POLICY, &holder.concat()).await;
    assert!(
        printed
            .err
            .contains("gives it neither a `name` nor `names`"),
        "{}",
        printed.err
    );
}

#[tokio::test]
async fn a_policy_says_what_a_service_account_may_do() {
    let policy = "[tokens]\nissuer = \"https://kubernetes.default.svc\"\naudiences = [\"synod\"]\njwks_file = \"jwks.json\"\n\
                  [[grant]]\nwho = \"system:serviceaccount:prod:api\"\nrole = \"member\"\nname = \"{pod}\"\n";
    let account = ["--identity", "system:serviceaccount:prod:api"];
    let printed = tested(policy, &account).await;
    assert_eq!(printed.out, "line 6: role member\n");
    let pod = [&account[..], &["--pod", "api-0"]].concat();
    let printed = tested(policy, &pod).await;
    assert_eq!(printed.out, "line 6: role member, as member api-0\n");
    let join = |member| {
        [
            &pod[..],
            &["--method", "Membership/Join", "--member", member],
        ]
        .concat()
    };
    assert_eq!(tested(policy, &join("api-0")).await.code, 0);
    assert_eq!(tested(policy, &join("api-1")).await.code, 7);
}

#[tokio::test]
async fn a_policy_that_cannot_be_used_says_where_and_why() {
    let printed = tested("[[grant]]\nwho = \"a\"\nrole = \"boss\"\n", &[]).await;
    assert_eq!(printed.code, 2);
    assert!(
        printed.err.contains("line 3: unknown variant `boss`"),
        "{}",
        printed.err
    );
    let printed = tested(POLICY, &["--identity", "a", "--method", "Nope/Get"]).await;
    assert_eq!(printed.code, 2);
    assert!(
        printed.err.contains("as in Objects/Update"),
        "{}",
        printed.err
    );
    assert_eq!(
        run(&["policy", "test", "/nowhere/policy.toml"]).await.code,
        1
    );
}
