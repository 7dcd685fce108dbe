//! Writes what each method needs into one document, `docs/ACCESS.md`.

use std::fmt::Write as _;
use std::path::Path;

use synod_policy::Role;
use synod_proto::access::RIGHTS;
use synod_server::access::right_of;

const INTRODUCTION: &str = "\
# Who may do what

A replica that asks its clients for certificates (`--trusted-ca-file`) knows who calls, and lets nobody do more than a policy
grants. A test writes this file from the program, and another one calls every method below as everybody.

## Who calls

- The **SPIFFE id** of the certificate: the one URI among its subject alternative names, as `spiffe://prod/api/server-1`. A
  certificate with several URIs names nobody.
- Without any URI, the **common name** as `cn:<name>`, if the policy says `common_names = true` below `[certificates]`.
- A caller without a certificate may send the **token** of a Kubernetes service account, as `authorization: Bearer <token>`, if the
  policy has a table `[tokens]`. Its name is `system:serviceaccount:<namespace>:<name>`.

- At the port for the Kubernetes API, whoever a **front proxy** speaks for: `remote:<user>`, with the groups `remote-group:<group>`.

A caller proves who it is in one way: a token beside a certificate is refused with `UNAUTHENTICATED`, and so is every call with
neither.

## Front proxies

```sh
synod serve --requestheader-client-ca-file front-proxy-ca.pem --requestheader-allowed-names front-proxy-client ...
```

A front proxy, as the API servers of Kubernetes are for the APIs that they aggregate, tells in headers who has sent a request. It is believed at
the port for the Kubernetes API alone, and only if its certificate is signed by that CA, and by no CA of clients, and has one of
these common names. The names have to be given, and the CA must be none of those of clients or replicas, or the replica does not start.

- `X-Remote-User` is the name: one value, of at most 505 bytes. The policy knows `alice` as `remote:alice`. No certificate and
  no token proves such a name, so a front proxy speaks for nobody who could come by himself.
- Each `X-Remote-Group` is a group, of which 256 count: `who = \"remote-group:ops\"` is a grant to all of them, by which nobody is a
  member: such a grant has no `name`. In both, `*` stands for what holds no `:`, and a `who` that begins with `*` is for neither.
- `X-Remote-Extra-*` and `X-Remote-Uid` are not used. Other headers are named by `--requestheader-username-headers`,
  `--requestheader-group-headers` and `--requestheader-extra-headers-prefix`, several with commas between them.
- A proxy that tells no name, or two, or `system:anonymous`, or sends a token beside, gets 401. Its certificate is no proof of who
  it is itself. These headers from anybody else, and impersonation (`Impersonate-*`) from anybody, get 403.

The file of the CA is looked at as all certificates are. A connection that is open stays believed until the proxy's certificate ends,
even if the CA is taken out of the file: replicas that are restarted believe it no longer. A certificate that is good by the CAs of
clients and by those of front proxies is refused: it would be the one or the other as its owner likes.

The groups of Kubernetes' users, such as `remote-group:system:masters`, have the rights that the policy grants them, and no others.

## Tokens

```toml
[tokens]
issuer = \"https://kubernetes.default.svc\" # `iss` of every token that is taken
audiences = [\"synod\"]                     # one of them must be among its `aud`: choose one that nobody else takes
jwks_file = \"jwks.json\"                   # the keys of the issuer; from the folder of the policy on

[[grant]]
who = \"system:serviceaccount:prod:api\"    # here, too, `*` stands for one step: it holds no `:`
role = \"member\"
name = \"{pod}\"                            # the member with the name of the pod that the token is bound to
```

A replica checks tokens by that file alone and asks nobody: `kubectl get --raw /openid/v1/jwks` prints what it must hold. A pod
gets its token by a projected volume with `serviceAccountToken: {audience: synod, path: token}`. The checks are:

- The key that the token names by `kid` has signed it, by RS256, RS384, RS512, ES256 or ES384, as is its kind. Tokens without a
  signature or signed by a shared secret are never taken. An RSA key has 2,048 bits at least.
- `iss`, `aud`, `exp` and `sub` are there and true; the names in `sub` and in `kubernetes.io` are the same. The time of `exp` is
  not widened; `nbf` and `iat` may be 30 seconds ahead of the replica's clock. A token has 8 KiB at most.
- When the token expires, each call by it is refused with `UNAUTHENTICATED`, its watches end with `WATCH_END_REASON_RIGHTS`, and
  its pipelines and streams of renewals end once what they have begun is answered. A pipeline goes by the token of its begin.
- The file is looked at as the policy is. Keys that cannot be used leave the former ones and raise the alarm `policy`. A key that
  was taken away is taken away for what is open, too. To change keys put both there, then remove the old one.

Nobody is asked whether a pod or a service account is still there: a token counts until it expires, so let tokens be short
(`expirationSeconds`), and take a `{pod}` only from a service account whose pods nobody else may name. Where tokens are taken,
connections without a certificate are let in, and everybody who reaches the port can ask for health and server reflection.

## The policy

A file of TOML (`--policy-file`): a list of grants. A caller has all grants whose `who` matches its name, and they add up: its
names are those of all of them. A call that no grant allows is refused. `synod policy test` reads a policy, and says what it grants to whom.

```toml
[[grant]]
who = \"spiffe://prod/api/*\"           # `*`, once at most, stands for one step of the path
role = \"member\"
name = \"*\"                           # the member that it is: what `*` stands for, or a fixed id
names = [\"batch-*\"]                  # more names under which it may hold leases and work

[[grant]]
who = \"spiffe://prod/team-a\"
role = \"operator\"
namespaces = [\"team-a\", \"team-a-*\"]  # left out: all, and what has no namespace
collections = [\"widgets.example.io\"] # left out: all
leases = [\"team-a/lock-*\"]           # left out: all
```

The file is looked at every second, and what was there at two looks counts. One that cannot be used changes nothing, raises
the alarm `policy`, and is counted by `synod_policy_not_renewed_total`. The rights of a caller are looked up for each call, when it
is carried out. A watch whose caller's rights have changed ends with `WATCH_END_REASON_RIGHTS`, and is decided about when it is
opened again. Pipelines and streams of renewals end once nothing at all is granted. A place in the queue for a lease
stays, and so does a wait for it that has begun. The connection of a client whose certificate has expired is cut.

An admin cannot be narrowed, nor can who takes backups: a backup holds everything. Health and server reflection are for everybody who may connect.

Without a policy these names count, which `synod certs dev` gives: `spiffe://synod/admin`, `operator`, `reader` and `backup` have
the role of their name, and `spiffe://synod/member/<id>` is the member of this id.

## Acting as oneself

- A **member** joins, renews, reports, adopts and leaves as itself alone, wherever a request can name a member: in a transaction
  and behind a fence, too. Admins act as everybody.
- **Leases, candidacies, migrations and marks** are held and worked at under one's own name, under it with `_` or `/` and more
  behind it (`server-1_4711`), or under one of `names`.
- **Tokens** of leases and of claimed migrations are of use only to whoever may act under the name of their holder, and a
  **session** only to who has opened it. Whose they are is decided by the replicated state, as the log says who sent a command.

## Narrowing

`namespaces` and `collections` narrow what of objects and of ControllerRevisions (`controllerrevisions.apps`) is read and
written, `collections` also what is reported, declared and migrated, which a grant that is narrowed otherwise does not allow;
`namespaces` and `leases` narrow leases. A list or a watch that could show more is refused, and not filtered. How many objects a
collection has in which encoding is told to whoever may read. The agreement of the members is shown to every caller that may read.

## Roles

A caller that holds a lease, stands for one, claims a migration or sets a mark needs a name for it, too. Operators have one by `names`
alone.
";

#[test]
fn the_document_of_access_says_what_the_program_does() {
    let mut text = INTRODUCTION.to_owned();
    let columns = Role::ALL.map(Role::name).join(" | ");
    writeln!(
        text,
        "\n| method | needs the right | {columns} |\n|---|---|---|---|---|---|---|"
    )
    .unwrap();
    for (path, _) in RIGHTS {
        let right = right_of(path).expect("it is in the table");
        let method = path
            .strip_prefix("synod.v1.")
            .expect("it is of this protocol");
        let may = Role::ALL.map(|role| if role.has(right) { "yes" } else { "-" });
        writeln!(
            text,
            "| `{method}` | {} | {} |",
            right.name(),
            may.join(" | ")
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ACCESS.md");
    super::golden::check_file(&path, &text);
}
