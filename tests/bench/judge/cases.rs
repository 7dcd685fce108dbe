//! What is measured.

use crate::services::Protocol;
use crate::session::Reading;

/// Connections that the clients of a case share.
pub(crate) const CONNECTIONS: usize = 8;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The chart that it is shown in.
    pub(crate) family: &'static str,
    pub(crate) work: Work,
    /// The number of clients, or of streams that share the watches.
    pub(crate) clients: usize,
    pub(crate) at: At,
}

/// Which of the three servers the connections lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Leader,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// The memory and the processor time of servers that have just started, while nobody asks them for anything.
    Idle,
    /// Their memory when this many keys have been written once.
    Filled(u64),
    Put,
    Get(Reading),
    /// Each client has a key, or all have one.
    Swap {
        one_key: bool,
    },
    Grant,
    Renew,
    /// An event counts once for each watch, however many share the message that it comes in.
    Watch(u64),
}

impl Work {
    /// Whether a service has what the case measures.
    pub(crate) const fn is_known_to(self, protocol: Protocol) -> bool {
        match (protocol, self) {
            (Protocol::Unary | Protocol::Etcd, _) | (Protocol::Empty, Self::Get(_)) => true,
            (Protocol::Empty, _) => false,
            // Its servers are those of single calls, whose memory is measured.
            (Protocol::Pipeline, work) => !matches!(work, Self::Idle | Self::Filled(_)),
            (Protocol::ZooKeeper, work) => {
                !matches!(work, Self::Grant | Self::Renew | Self::Watch(_))
            }
        }
    }
}

const fn case(name: &'static str, work: Work, clients: usize, at: At) -> Case {
    let family = match work {
        Work::Idle | Work::Filled(_) => "memory",
        Work::Put | Work::Swap { .. } => "writes",
        Work::Get(_) => "reads",
        Work::Grant | Work::Renew => "leases",
        Work::Watch(_) => "watches",
    };
    Case {
        name,
        family,
        work,
        clients,
        at,
    }
}

const GET: Work = Work::Get(Reading::Linearizable);
const GET_LOCALLY: Work = Work::Get(Reading::Serializable);
const OWN_KEYS: Work = Work::Swap { one_key: false };
const ONE_KEY: Work = Work::Swap { one_key: true };

/// In the order in which they are run: memory first, while the servers are fresh, and new leases last, since their ends
/// would be work for the others.
pub(crate) const CASES: [Case; 16] = [
    case("idle", Work::Idle, 1, At::Leader),
    case("memory, 50,000 keys", Work::Filled(50_000), 256, At::Leader),
    case("put, 1 client", Work::Put, 1, At::Leader),
    case("put, 64 clients", Work::Put, 64, At::Leader),
    case("put, 256 clients", Work::Put, 256, At::Leader),
    case("get, 1 client", GET, 1, At::Leader),
    case("get, 256 clients", GET, 256, At::Leader),
    case("get, 256 clients at all servers", GET, 256, At::All),
    case(
        "get serializable, 256 clients",
        GET_LOCALLY,
        256,
        At::Leader,
    ),
    case("cas, 256 keys, 256 clients", OWN_KEYS, 256, At::Leader),
    case("cas, 1 key, 64 clients", ONE_KEY, 64, At::Leader),
    case(
        "lease-keepalive, 1,000 clients",
        Work::Renew,
        1_000,
        At::Leader,
    ),
    case(
        "watch, 1,000 over 8 connections",
        Work::Watch(1_000),
        CONNECTIONS,
        At::Leader,
    ),
    case(
        "watch, 1,000 with a stream each",
        Work::Watch(1_000),
        1_000,
        At::Leader,
    ),
    case(
        "watch, 10,000 over 8 connections",
        Work::Watch(10_000),
        CONNECTIONS,
        At::Leader,
    ),
    case("lease-grant, 256 clients", Work::Grant, 256, At::Leader),
];
