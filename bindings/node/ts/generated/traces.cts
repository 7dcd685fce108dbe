// Generated from the protocol. To write it again: UPDATE_GOLDEN=1 cargo test -p synod-bound generated

/** What functions of handles ask of replicas: the requests that their spans are named after. */
export const requests = {
  'Client.back_up': 'synod.v1.Cluster/Backup',
  'Client.join': 'synod.v1.Membership/Join',
  'Client.lock': 'synod.v1.Leases/Acquire',
  'Client.try_lock': 'synod.v1.Leases/Acquire',
  'Client.watch': 'synod.v1.Watch/Watch',
  'Creator.write': 'synod.v1.Objects/Create',
  'Election.campaign': 'synod.v1.Leases/Acquire',
  'Election.withdraw': 'synod.v1.Leases/WithdrawCandidate',
  'Lock.release': 'synod.v1.Leases/Release',
  'Membership.leave': 'synod.v1.Membership/Leave',
  'Membership.ready': 'synod.v1.Membership/Ready',
  'Membership.report': 'synod.v1.StorageVersions/Report',
  'Membership.report_change': 'synod.v1.StorageVersions/Report',
  'Updater.begin': 'synod.v1.Objects/Get',
  'Updater.failed': 'synod.v1.Objects/Get',
  'Updater.write': 'synod.v1.Objects/Update',
} as const;

/** The code of gRPC that an error has. */
export const grpcStatus: { readonly [code: string]: number } = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  CONFLICT: 10,
  NOT_A_MEMBER: 9,
  STALE_EPOCH: 9,
  NOT_DECODABLE: 9,
  ENCODING_NOT_SELECTED: 9,
  IMMUTABLE: 9,
  NO_AGREEMENT: 9,
  DRAINING: 9,
  REQUEST_EXPIRED: 9,
  COMPACTED: 11,
  FUTURE_REVISION: 11,
  TOO_LARGE: 8,
  QUOTA: 8,
  OVERLOADED: 8,
  UNAVAILABLE: 14,
  UNKNOWN_OUTCOME: 2,
  DEADLINE_EXCEEDED: 4,
  UNAUTHENTICATED: 16,
  PERMISSION_DENIED: 7,
  DATA_LOSS: 15,
  SWITCHED_OFF: 9,
};
