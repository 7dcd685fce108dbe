//! The one table of the commands.

/// Hands the table of the commands to the macro of this name. A row is: what it does, its number in the stored form, which
/// no other command ever gets, its name, which is that of its request, the lane that it takes, and what carries it out.
///
/// `urgent` is what keeps members alive or makes room: it does not wait behind a flood of what is `ordinary`.
macro_rules! command_table {
    ($then:ident) => {
        $then! {
            /// Makes the cluster: its identity and first settings. The first command of every log.
            1 Initialize ordinary = initialize::apply;
            /// Goes on with the state of a backup, as another cluster.
            2 Restore ordinary = restore::apply;
            /// A replica says where it serves clients and which machine versions it knows.
            3 AnnounceReplica ordinary = announce_replica::apply;
            /// Raises the behaviour of apply once every replica knows it.
            4 RaiseMachineVersion ordinary = raise_machine_version::apply;
            /// Opens an exactly-once session.
            5 OpenSession ordinary = open_session::apply;
            /// Ends a session and forgets its outcomes.
            6 CloseSession ordinary = close_session::apply;
            /// Lets a member in, or replaces the one that holds the id.
            7 Join urgent = join::apply;
            /// Moves a member's deadline.
            8 Renew urgent = renew::apply;
            /// Moves a member from joining to ready.
            9 MarkReady urgent = mark_ready::apply;
            /// Removes a member and all that hangs on it.
            10 Leave urgent = leave::apply;
            /// What a member says of its resources.
            11 Report urgent = report::apply;
            /// A voter says that it now encodes the selected version.
            12 Adopt urgent = adopt::apply;
            /// Removes what stays of a resource that nobody reports.
            13 ForgetResource ordinary = forget_resource::apply;
            /// Removes what is past its deadline.
            14 Expire urgent = expire::apply;
            /// Changes the replicated settings.
            15 UpdateSettings ordinary = update_settings::apply;
            /// Declares a resource.
            16 CreateCollection ordinary = create_collection::apply;
            /// Changes what the writes of a collection must hold to.
            17 UpdateCollection ordinary = update_collection::apply;
            /// Removes an empty collection.
            18 DeleteCollection ordinary = delete_collection::apply;
            /// Stores a new object.
            19 CreateObject ordinary = create_object::apply;
            /// Replaces an object.
            20 UpdateObject ordinary = update_object::apply;
            /// Changes a part of an object's data.
            21 PatchObject ordinary = patch_object::apply;
            /// Deletes an object, or begins to.
            22 DeleteObject ordinary = delete_object::apply;
            /// Changes several objects as one.
            23 Transact ordinary = transact::apply;
            /// Deals with dependents that deletions have left.
            24 CollectGarbage ordinary = collect_garbage::apply;
            /// Says what a controller wants now.
            25 CreateControllerRevision ordinary = create_controller_revision::apply;
            /// Changes what may be changed of a snapshot.
            26 UpdateControllerRevision ordinary = update_controller_revision::apply;
            /// Makes an older snapshot the newest of its history.
            27 RollbackControllerRevision ordinary = rollback_controller_revision::apply;
            /// Says which snapshots of a history are in use.
            28 MarkControllerRevisions ordinary = mark_controller_revisions::apply;
            /// Deletes the oldest of a history that nobody uses.
            29 TruncateControllerRevisions ordinary = truncate_controller_revisions::apply;
            /// Deletes a snapshot or a whole history.
            30 DeleteControllerRevisions ordinary = delete_controller_revisions::apply;
            /// Takes snapshots without a controller into a history.
            31 AdoptControllerRevisions ordinary = adopt_controller_revisions::apply;
            /// Lets a snapshot go from its history.
            32 ReleaseControllerRevision ordinary = release_controller_revision::apply;
            /// Takes a lease, or a place in the queue for it.
            33 AcquireLease ordinary = acquire_lease::apply;
            /// Moves a lease's deadline.
            34 RenewLease urgent = renew_lease::apply;
            /// Gives up a lease, or a place in the queue for it.
            35 ReleaseLease ordinary = release_lease::apply;
            /// Lets somebody stand for a lease.
            36 PutLeaseCandidate ordinary = put_lease_candidate::apply;
            /// Moves a candidate's deadline.
            37 RenewLeaseCandidate urgent = renew_lease_candidate::apply;
            /// Lets somebody stand for a lease no longer.
            38 WithdrawLeaseCandidate ordinary = withdraw_lease_candidate::apply;
            /// Creates a migration by hand.
            39 StartMigration ordinary = migrations::start::apply;
            /// Gives a pending migration to a worker.
            40 ClaimMigration ordinary = migrations::claim::apply;
            /// A worker says how far it is.
            41 ReportMigrationProgress urgent = migrations::progress::apply;
            /// A worker says that it is done.
            42 CompleteMigration urgent = migrations::complete::apply;
            /// A worker gives up.
            43 FailMigration urgent = migrations::fail::apply;
            /// Calls a migration off.
            44 AbortMigration ordinary = migrations::abort::apply;
            /// Has a failed migration tried again.
            45 RetryMigration ordinary = migrations::retry::apply;
            /// What discovery shows of a resource.
            46 ObserveStorage urgent = observe_storage::apply;
            /// Forgets what is known of the store.
            47 ResetStorageStates ordinary = reset_storage_states::apply;
            /// Says who must speak.
            48 SetRoster ordinary = rosters::set;
            /// Takes a roster away: the next wider one counts.
            49 DeleteRoster ordinary = rosters::delete;
        }
    };
}

pub(crate) use command_table;
