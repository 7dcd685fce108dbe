//! The Kubernetes API in front of a replica: kubectl and the clients of Kubernetes work on the same state machine.
//!
//! **No state of its own.** Every request is translated to calls of `synod.v1`, which go through the gate of the replica
//! ([`synod_server::Front`]): identities, policy, admission, limits, metrics and the audit log are those of gRPC. A change is
//! a command; `resourceVersion` is the revision; uid, generation, finalizers, owner references and TTL are the machine's. What
//! is written here is read there, and the other way around.
//!
//! **One table of kinds** (`kinds`): a row says which group, versions and names a kind has, what it may be asked, by which
//! calls it is read and written, and its printed columns. Discovery, OpenAPI, tables and routing follow from the rows. Each
//! declared collection is a row that is made when it is asked for.
//!
//! **The path of a request**: `serve` takes a connection that the door has let in, `request` reads what is asked (place, verb,
//! query, accepted form), `kinds` finds the row, and one of `read`, `watch` and `write` calls the replica. `documents` turns
//! messages into documents of Kubernetes and back, `answer` writes them as an object, a table or metadata alone. A refusal
//! becomes a `Status` by one table (`status`).
//!
//! **Bounds.** A list is read and written in pages, all at one revision; nothing holds the whole of it, and a watch holds one
//! message at a time. Bodies are limited, each and in number; what a connection has not taken is counted by the door, which
//! cuts it in the end. Every request has a deadline; a watch ends when its time is over, its caller's rights change, or the
//! replica shuts down.
//!
//! | module | what |
//! |---|---|
//! | [`serve()`], `protocols` | connections and requests |
//! | [`kubeconfig()`] | the file that points kubectl at it |
//! | `request`, `negotiate` | what a request asks for, and in which form |
//! | `kinds`, `columns`, `discovery`, `openapi` | the table of kinds, and what is told of it |
//! | `read`, `watch`, `overlap`, `write`, `objects`, `delete`, `patch`, `strategic` | the verbs |
//! | `parts` | what of an object is written, by itself and by its status subresource |
//! | `managed` | who manages which fields of an object, and server-side apply; it does no I/O |
//! | `reviews`, `rights` | who a caller is, and what it may do |
//! | `bodies`, `bounded`, `body` | what is sent to be written: as it comes in, is read, and is checked |
//! | `sources`, `reads`, `shown`, `documents`, `leases`, `candidates`, `migrations`, `migration_status`, `snapshots`, `events` | the calls of each kind, and its documents |
//! | `identity`, `reports`, `storage_version_status`, `kind_names` | how an API server takes part: identity leases are members, writes of status reports |
//! | `answer`, `table`, `escaped`, `compression` | answers as they are sent |
//! | `protobuf` | documents as messages, and messages as documents |
//! | `status` | refusals, in Kubernetes' words |

mod answer;
mod bodies;
mod body;
mod bounded;
mod candidates;
mod columns;
mod compression;
mod delete;
mod discovery;
mod documents;
mod escaped;
mod events;
mod identity;
mod kind_names;
mod kinds;
mod kubeconfig;
mod leases;
mod managed;
mod migration_status;
mod migrations;
mod negotiate;
mod objects;
mod openapi;
mod overlap;
mod parts;
mod patch;
mod present;
mod protobuf;
mod protocols;
mod read;
mod reads;
mod reports;
mod request;
mod reviews;
mod rights;
mod selectors;
mod serve;
mod shadows;
mod shown;
mod snapshots;
mod sources;
mod status;
mod storage_version_status;
mod strategic;
mod table;
mod tried;
mod watch;
mod write;

pub use kubeconfig::kubeconfig;
pub use serve::serve;
