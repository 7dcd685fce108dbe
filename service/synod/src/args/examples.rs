//! The text below the flags of each command in its `--help`.

mod migrations;
mod replica_set;

pub(super) use migrations::*;
pub(super) use replica_set::*;

pub(super) const SYNOD: &str = "\
Examples:
  synod dev                          three replicas on this machine, to try things out
  synod status                       how the cluster does
  synod storage-versions matrix      who encodes what
  synod storage-versions check --wait 5m && deploy

Where to find the cluster:
  --endpoints, else SYNOD_ENDPOINTS, else `endpoints` in the settings file, else 127.0.0.1:4600
  --context, else SYNOD_CONTEXT, else the one that `synod config use-context` chose, is the cluster in the file
  --cacert, --cert and --key, or SYNOD_CACERT and so on: then connections are encrypted
  --token-file in place of --cert and --key: the token of a Kubernetes service account proves who calls
  These flags, --timeout and -o may stand before the command as well: synod --endpoints ... -o json status

How to name a resource:
  As <resource>.<group>: widgets.example.io; of the core group the resource alone: pods.
  The form <group>.<resource> of StorageVersions is taken for the one known resource that fits
  it, and standard error says so. A name that nothing knows is refused with the nearest one that
  is known; --new takes one that is yet to be reported. A name that fits two known resources is
  refused: encoding/<resource>.<group> names one of them.

Output:
  -o json and -o yaml are the messages of synod.v1 in protobuf's JSON form, as grpcurl prints them: keys in lowerCamelCase,
  64-bit numbers as strings, enums by their full names (OBJECT_KIND_MEMBER). `watch` prints one such document a line, and
  nothing else; `hash` prints the hash alone.
  `get` prints objects as documents that `replace` takes back.

Exit codes:
  0  all is well
  1  it failed for a reason that has no code of its own
  2  what was typed makes no sense
  3  there is no such object
  4  a compare was lost, or the object is there already
  5  no replica could answer, or the replicas are overloaded
  6  the time was over
  7  the caller is unauthenticated, or may not do this
  8  the members do not agree (storage-versions check), or it is not safe or assumes something (check-binary, check-drop), or
     something is at fault (doctor)
  9  the replica has left the replica set (serve)";

pub(super) const SERVE: &str = "\
Examples:
  One of three replicas on one machine:
    synod serve --replica-id 1 --data-dir /var/lib/synod/1 \\
      --listen-client 127.0.0.1:4601 --listen-peer 127.0.0.1:4611 --listen-metrics 127.0.0.1:4621 \\
      --replicas 1=127.0.0.1:4611,2=127.0.0.1:4612,3=127.0.0.1:4613

  One of three replicas on three machines (`synod certs dev` makes certificates to try it out with):
    synod serve --replica-id 2 --data-dir /var/lib/synod --cluster-name prod \\
      --listen-client 10.0.0.2:4600 --listen-peer 10.0.0.2:4610 \\
      --replicas 1=10.0.0.1:4610,2=10.0.0.2:4610,3=10.0.0.3:4610 \\
      --cert-file server.pem --key-file server-key.pem --trusted-ca-file client-ca.pem \\
      --peer-cert-file peer.pem --peer-key-file peer-key.pem --peer-trusted-ca-file peer-ca.pem

  The same from a file:
    synod serve --config /etc/synod.toml

    replica_id = 2
    data_dir = \"/var/lib/synod\"
    cluster_name = \"prod\"
    listen_client = \"10.0.0.2:4600\"
    listen_peer = \"10.0.0.2:4610\"
    replicas = [\"1=10.0.0.1:4610\", \"2=10.0.0.2:4610\", \"3=10.0.0.3:4610\"]
    cert_file = \"/etc/synod/server.pem\"
    key_file = \"/etc/synod/server-key.pem\"
    trusted_ca_file = \"/etc/synod/client-ca.pem\"
    peer_cert_file = \"/etc/synod/peer.pem\"
    peer_key_file = \"/etc/synod/peer-key.pem\"
    peer_trusted_ca_file = \"/etc/synod/peer-ca.pem\"

Once it serves it prints one line to standard output; everything else is logged to standard error:
  serving cluster=prod replica=2 client=10.0.0.2:4600 peer=10.0.0.2:4610 metrics=127.0.0.1:4620

What is wrong with the settings is said before the data directory is touched. Files of certificates are read again when
they change, and connections from then on use them.";

pub(super) const DEV: &str = "\
Examples:
  synod dev
  synod dev --port 5600 --data-dir ./synod-data

Ctrl-C ends it.";

pub(super) const DEMO: &str = "\
Examples:
  synod demo
  synod demo --break encode-early      must end with another code than 0";

pub(super) const STATUS: &str = "\
Examples:
  synod status
  synod status -o json | jq -r .leaderId
  synod status --endpoints 10.0.0.1:4600,10.0.0.2:4600,10.0.0.3:4600";

pub(super) const MEMBERS: &str = "\
Examples:
  synod members
  synod members get apiserver-1 -o yaml";

pub(super) const MEMBERS_LIST: &str = "\
Examples:
  synod members list
  synod members list -o name";

pub(super) const MEMBERS_GET: &str = "\
Examples:
  synod members get apiserver-1
  synod members get apiserver-1 -o json | jq -r .member.phase";

pub(super) const MEMBERS_EVICT: &str = "\
Examples:
  synod members evict apiserver-1
  synod members evict apiserver-1 --stopped";

pub(super) const STORAGE_VERSIONS: &str = "\
Examples:
  synod storage-versions list
  synod storage-versions get deployments.apps
  synod storage-versions matrix
  synod storage-versions check deployments.apps --wait 5m
  synod storage-versions history deployments.apps";

pub(super) const LIST: &str = "\
Examples:
  synod storage-versions list
  synod storage-versions list -o wide
  synod storage-versions list --unreported";

pub(super) const GET: &str = "\
Examples:
  synod storage-versions get deployments.apps
  synod storage-versions get pods -o yaml";

pub(super) const MATRIX: &str = "\
Examples:
  synod storage-versions matrix

What a cell says:
  v1         the member encodes v1
  v1 -> v2   it encodes v1 still, and votes for v2
  v1 !       v2 was selected, and it has not adopted it yet
  <unset>    it votes, and nothing was selected yet: it does not write
  -          it does not report the resource";

pub(super) const CHECK: &str = "\
Examples:
  synod storage-versions check
  synod storage-versions check deployments.apps pods
  synod storage-versions check --wait 5m && echo 'upgrade the next server'
  synod storage-versions check --allow-none --assume-complete

Ends with 0 if all are agreed on, and nothing is assumed or you vouch for what is; else with 8, also if --wait was not long
enough, and with every obstacle by name. An empty cluster is not agreed, nor is one in which a member has joined and not
reported. Ends with 3 if nothing is known of a name, unless --new takes it as it is written. docs/REASONS.md lists all
obstacles and assumptions.";

pub(super) const EQUIVALENTS_ADD: &str = "\
Examples:
  synod storage-versions equivalents add ingresses.extensions ingresses.networking.k8s.io
  synod storage-versions equivalents add --dry-run events events.events.k8s.io
";
pub(super) const EQUIVALENTS_REMOVE: &str = "\
Examples:
  synod storage-versions equivalents remove ingresses.extensions
";
pub(super) const FORGET: &str = "\
Examples:
  synod storage-versions forget widgets.example.com
  synod storage-versions forget widgets.example.com --if-revision 17 --dry-run

Prints the revision at which it was forgotten.";

pub(super) const HISTORY: &str = "\
Examples:
  synod storage-versions history deployments.apps";

pub(super) const WATCH: &str = "\
Examples:
  synod watch
  synod watch --kinds storage-version --names deployments.apps
  synod watch --at 02:14 --kinds member,storage-version,storage-state,migration,roster,settings
  synod watch --resources keys/secrets
  synod watch --resources widgets.example.io -n team-a -l app=web
  synod watch --kinds lease,lease-candidate -n kube-system
  synod watch --from 1 | jq -c '.events.events[]? | [.type, .kind, .name]'";

pub(super) const SETTINGS: &str = "\
Examples:
  synod settings
  synod settings set write_grace=30s members_max=500";

pub(super) const SETTINGS_GET: &str = "\
Examples:
  synod settings get
  synod settings get -o json | jq -r .settings.writeGraceMs";

pub(super) const SETTINGS_SET: &str = "\
Examples:
  synod settings set write_grace=30s members_max=500
  synod settings set state_quota_bytes=2GiB --if-revision 17
  synod settings set members_max=20 --dry-run
  synod settings set migrations=off
  synod settings set enforce_persisted=deployments.apps,pods
  synod settings set enforce_persisted=";

pub(super) const CERTS: &str = "\
Examples:
  synod certs dev --out certs --hosts 10.0.0.1,10.0.0.2,10.0.0.3 --members apiserver-1,apiserver-2";

pub(super) const CERTS_DEV: &str = "\
Examples:
  synod certs dev --out certs --hosts 10.0.0.1,10.0.0.2,10.0.0.3 --members apiserver-1,apiserver-2
  synod certs dev --out certs --hosts 10.0.0.1,10.0.0.2,10.0.0.3 --renew

  synod serve --cert-file certs/server.pem --key-file certs/server-key.pem --trusted-ca-file certs/client-ca.pem \\
    --peer-cert-file certs/peer.pem --peer-key-file certs/peer-key.pem --peer-trusted-ca-file certs/peer-ca.pem ...
  synod status --cacert certs/server-ca.pem --cert certs/admin.pem --key certs/admin-key.pem --endpoints ...

Files, each with its key in a file that ends in -key.pem:
  server-ca.pem      signs server.pem, what replicas show to clients
  peer-ca.pem        signs peer.pem, what replicas show to each other
  client-ca.pem      signs admin.pem, operator.pem, reader.pem, backup.pem and member-<id>.pem, what clients show to replicas
Clients are named by a SPIFFE id, as spiffe://synod/admin and spiffe://synod/member/<id>, and may do what a role of that name
may, unless the replicas have a policy (`synod policy`).";

pub(super) const COMPLETIONS: &str = "\
Examples:
  synod completions bash > /usr/share/bash-completion/completions/synod
  synod completions zsh > ~/.zfunc/_synod
  synod completions fish > ~/.config/fish/completions/synod.fish";

pub(super) const MAN: &str = "\
Examples:
  synod man --out /usr/local/share/man/man1 && man synod-serve";

pub(super) const HASH: &str = "\
Examples:
  synod hash apps v1 Deployment
  synod hash '' v1 Pod";

pub(super) const ROSTERS: &str = "\
Examples:
  synod rosters set '*' --members apiserver-1,apiserver-2,apiserver-3
  synod rosters
  synod storage-versions check        names who is missing";

pub(super) const ROSTERS_LIST: &str = "\
Examples:
  synod rosters list
  synod rosters list -o name";

pub(super) const ROSTERS_GET: &str = "\
Examples:
  synod rosters get '*'
  synod rosters get deployments.apps -o json | jq -r .roster.rule.members[]";

pub(super) const ROSTERS_SET: &str = "\
Examples:
  synod rosters set '*' --members apiserver-1,apiserver-2,apiserver-3
  synod rosters set 'core.*' --labels tier=control --least 3
  synod rosters set deployments.apps --least 2 --if-revision 17 --dry-run
  synod rosters set keys/secrets --least 2
  synod rosters set deployments.apps --least 2 --if-revision 0

A resource that nothing knows yet is refused, with the nearest name that is known, unless --new says that it is one:
  synod rosters set certificates.example.io --least 2 --new

Put the scope in quotes, so that the shell does not take * for names of files.";

pub(super) const ROSTERS_DELETE: &str = "\
Examples:
  synod rosters delete 'core.*'
  synod rosters delete deployments.apps --if-revision 17 --dry-run";

pub(super) const COLLECTIONS: &str = "\
Examples:
  synod collections create widgets.example.io --kind Widget --namespaced
  synod collections
  synod get widgets.example.io";

pub(super) const COLLECTIONS_LIST: &str = "\
Examples:
  synod collections list
  synod collections list -o name";

pub(super) const COLLECTIONS_GET: &str = "\
Examples:
  synod collections get widgets.example.io
  synod collections get widgets.example.io -o json | jq '.counts'";

pub(super) const COLLECTIONS_CREATE: &str = "\
Examples:
  synod collections create widgets.example.io --kind Widget --namespaced
  synod collections create widgets.example.io --kind Widget --namespaced --strict --dry-run";

pub(super) const COLLECTIONS_UPDATE: &str = "\
Examples:
  synod collections update widgets.example.io --strict true
  synod collections update widgets.example.io --create-on-update false --if-revision 17
  synod collections update widgets.example.io --kind Widget";

pub(super) const COLLECTIONS_DELETE: &str = "\
Examples:
  synod collections delete widgets.example.io";

pub(super) const OBJECT_GET: &str = "\
Examples:
  synod get widgets.example.io
  synod get widgets.example.io -n team-a -l 'app=web,tier in (front,back)'
  synod get widgets.example.io my-widget -n team-a -o yaml";

pub(super) const OBJECT_CREATE: &str = "\
Examples:
  synod create -f widget.yaml
  synod create -f widget.yaml -n team-a --ttl 2h
  synod create -f - --dry-run < widget.yaml

  A document:
    apiVersion: example.io/v1
    kind: Widget
    metadata:
      name: my-widget
      namespace: team-a
      labels: {app: web}
    spec: {size: 3}

What is beside metadata is stored as JSON, encoded in its apiVersion.";

pub(super) const OBJECT_REPLACE: &str = "\
Examples:
  synod replace -f widget.yaml
  synod get widgets.example.io my-widget -n team-a -o json | sed s/3/4/ | synod replace -f -
  synod replace -f widget.yaml --if-revision 17";

pub(super) const OBJECT_PATCH: &str = "\
Examples:
  synod patch widgets.example.io my-widget -n team-a -p '{\"spec\":{\"size\":4}}'
  synod patch widgets.example.io my-widget -n team-a -p '{spec: {size: null}}' --if-revision 17
  synod patch widgets.example.io my-widget -n team-a --type json \\
    -p '[{\"op\":\"replace\",\"path\":\"/spec/size\",\"value\":4}]'
  synod patch widgets.example.io my-widget -n team-a --metadata '{labels: {app: web}}'
  synod patch widgets.example.io my-widget -n team-a --ttl none";

pub(super) const OBJECT_DELETE: &str = "\
Examples:
  synod delete widgets.example.io my-widget -n team-a
  synod delete widgets.example.io my-widget -n team-a --cascade foreground --if-revision 17

If it waits for its deletion, another --cascade has it go another way from now on.";

pub(super) const OBJECT_EDIT: &str = "\
Examples:
  synod edit widgets.example.io my-widget -n team-a
  SYNOD_EDITOR='code --wait' synod edit widgets.example.io my-widget -n team-a --format json

If somebody else has changed the object meanwhile, nothing is stored, and your edit is saved in a file.";

pub(super) const OBJECT_APPLY: &str = "\
Examples:
  synod apply -f widget.yaml
  synod apply -f widget.yaml --dry-run
  synod apply -f widget.yaml --if-revision 17
  synod apply -f widget.yaml --ttl 2h";

pub(super) const LEASE: &str = "\
Examples:
  synod lease list
  synod lease get backup -n ops";

pub(super) const LEASE_LIST: &str = "\
Examples:
  synod lease list
  synod lease list -n kube-system -o wide";

pub(super) const LEASE_GET: &str = "\
Examples:
  synod lease get backup
  synod lease get kube-scheduler -n kube-system -o json";

pub(super) const LEASE_ACQUIRE: &str = "\
Examples:
  read token holder < <(synod lease acquire backup --ttl 10m)
  synod lease acquire backup --wait 1m

Prints the fencing token and the holder, with a space between them.";

pub(super) const LEASE_RENEW: &str = "\
Examples:
  synod lease renew backup --token \"$token\"";

pub(super) const LEASE_DELETE: &str = "\
Examples:
  synod lease delete backup --if-revision 17";

pub(super) const LEASE_RELEASE: &str = "\
Examples:
  synod lease release backup --holder \"$holder\" --token \"$token\"";

pub(super) const LOCK: &str = "\
Examples:
  synod lock backup -- ./backup.sh
  synod lock backup --no-wait --ttl 30s -- sh -c 'put --if-token-at-least \"$SYNOD_FENCING_TOKEN\"'";

pub(super) const ELECT: &str = "\
Examples:
  synod elect scheduler -- ./scheduler
  synod elect scheduler -n kube-system --holder \"$HOSTNAME\" --candidate 1.33.2 -- ./scheduler";

pub(super) const HISTORIES: &str = "\
Examples:
  synod history list
  synod history list StatefulSet/web -n team-a";

pub(super) const HISTORIES_LIST: &str = "\
Examples:
  synod history list
  synod history list StatefulSet/web -n team-a
  synod history list -l app=web -o name";

pub(super) const HISTORIES_SHOW: &str = "\
Examples:
  synod history show web-6c8f9d -n team-a
  synod history show web-6c8f9d -n team-a -o json | jq -r .controllerRevision.data | base64 -d";

pub(super) const HISTORIES_DIFF: &str = "\
Examples:
  synod history diff web-6c8f9d web-5b7d4c -n team-a
  synod history diff web-6c8f9d web-5b7d4c -n team-a -o json | jq -r .jsonPatch";

pub(super) const HISTORIES_ROLLBACK: &str = "\
Examples:
  synod history rollback StatefulSet/web -n team-a
  synod history rollback StatefulSet/web -n team-a --to 3 --dry-run
  synod history rollback StatefulSet/web -n team-a --to-name web-6c8f9d --if-revision 17

Here --if-revision is when the newest was last changed, so that nothing newer is overturned.";

pub(super) const HISTORIES_TRUNCATE: &str = "\
Examples:
  synod history truncate StatefulSet/web -n team-a --limit 3
  synod history truncate StatefulSet/web -n team-a --limit 0 --dry-run

Here --if-revision is when the newest was last changed.";

pub(super) const MIGRATIONS: &str = "\
Examples:
  synod migrations list
  synod migrations watch jobs.batch-41";

pub(super) const OBSERVE: &str = "\
Examples:
  synod observe --kube-context prod --elect observer
  synod observe --kubeconfig admin.conf https://10.0.0.1:6443 https://10.0.0.2:6443 https://10.0.0.3:6443
  synod observe http://10.0.0.1:8080 http://10.0.0.2:8080 http://10.0.0.3:8080
  synod observe --observer east --member api-1=https://10.0.0.1:6443 --member api-2=https://10.0.0.2:6443
  synod observe --dismiss widgets.example.io --observer east --server https://10.0.0.3:6443
  kubectl proxy --port 8001 & synod observe --once http://127.0.0.1:8001
  synod observe -o json http://10.0.0.1:8080 | jq -c '.look.resources[] | select(.outcome != \"UNCHANGED\")'

A URL must reach one API server, not a balancer in front of many: what the others show would not be seen. Without URLs, the
servers are found in each round by the EndpointSlices of default/kubernetes, which hold the address that each advertises: where
all advertise that of a balancer, only one is found, so name the URLs. URLs are called as nobody, unless --kubeconfig or
--kube-context says as whom; a token is sent to no http:// URL but that of this machine.
With --once it ends with 0 if every server was seen whole and all was posted, else with 1.
Without, it goes on until SIGTERM or SIGINT; after a round in which something failed it looks again sooner.
Where it sees what no member says that it encodes, it looks again at once, a few times: one may just have moved.";

pub(super) const CHECK_BINARY: &str = "\
Examples:
  synod check-binary -f binary.yaml
  synod check-binary -f binary.yaml --assume-complete

The file says what the whole binary reads and writes. Of a resource that is known and not in it, the binary reads nothing,
unless it leaves it to others:
  resources:
    - resource: jobs.batch
      kind: Job
      decodableVersions: [batch/v1]
      encodingVersion: batch/v1          or preferredVersion, if it votes
    - resource: tickets.example.io
      decodableVersions: [example.io/v1]
      new: true                          the release brings it: nothing knows it yet
  leftToOthers: ['metrics.example.io.*']

A resource that nothing knows yet is refused, unless --new says that it may be one: then all names are taken as they are typed.";

pub(super) const CHECK_DROP: &str = "\
Examples:
  synod check-drop cronjobs.batch batch/v1beta1
  synod check-drop cronjobs.batch batch/v1beta1 --assume-complete";
