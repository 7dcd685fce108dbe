//! The table of all commands, from which their type, their stored form and their dispatch are generated.

/// Calls the macro `$then` with the table of commands. A row is: what the command does, its number in the stored form,
/// which is never reused, its name, which is that of its request, its lane, and the function that carries it out.
///
/// `urgent` commands keep members alive or free room: they do not wait behind a flood of `ordinary` ones.
macro_rules! command_table {
    ($then:ident) => {
        $then! {
            /// Makes the cluster: its identity and first settings. The first command of every log.
            1 Initialize ordinary = initialize::apply;
            /// Continues from the state of a backup, under another cluster identity.
            2 Restore ordinary = restore::apply;
            /// A replica says where it serves clients and which machine versions it knows.
            3 AnnounceReplica ordinary = announce_replica::apply;
            /// Raises the machine version in force once every replica knows it.
            4 RaiseMachineVersion ordinary = raise_machine_version::apply;
            /// Opens an exactly-once session.
            5 OpenSession ordinary = open_session::apply;
            /// Ends a session and forgets its outcomes.
            6 CloseSession ordinary = close_session::apply;
            /// Registers a member, or replaces the epoch of the one that has the id.
            7 Join urgent = join::apply;
            /// Moves a member's deadline.
            8 Renew urgent = renew::apply;
            /// Moves a member from joining to ready.
            9 MarkReady urgent = mark_ready::apply;
            /// Removes a member with its entries and everything else that depends on it.
            10 Leave urgent = leave::apply;
            /// A member reports its resources.
            11 Report urgent = report::apply;
            /// A voter says that it now encodes the selected version.
            12 Adopt urgent = adopt::apply;
            /// Removes the state that is kept of a resource that no member reports.
            13 ForgetResource ordinary = forget_resource::apply;
            /// Removes what is past its deadline.
            14 Expire urgent = expire::apply;
            /// Changes the replicated settings.
            15 UpdateSettings ordinary = update_settings::apply;
            /// Declares a collection of objects.
            16 CreateCollection ordinary = create_collection::apply;
            /// Changes the rules that writes to a collection must obey.
            17 UpdateCollection ordinary = update_collection::apply;
            /// Removes an empty collection.
            18 DeleteCollection ordinary = delete_collection::apply;
            /// Stores a new object.
            19 CreateObject ordinary = create_object::apply;
            /// Replaces an object.
            20 UpdateObject ordinary = update_object::apply;
            /// Changes a part of an object's data.
            21 PatchObject ordinary = patch_object::apply;
            /// Deletes an object, or marks it as being deleted.
            22 DeleteObject ordinary = delete_object::apply;
            /// Carries out several operations on objects atomically.
            23 Transact ordinary = transact::apply;
            /// Processes dependents that deletions have left.
            24 CollectGarbage ordinary = collect_garbage::apply;
            /// Records the revision that a controller wants now.
            25 CreateControllerRevision ordinary = create_controller_revision::apply;
            /// Changes the mutable fields of a ControllerRevision.
            26 UpdateControllerRevision ordinary = update_controller_revision::apply;
            /// Makes an older ControllerRevision the newest of its history.
            27 RollbackControllerRevision ordinary = rollback_controller_revision::apply;
            /// Marks which ControllerRevisions of a history are in use.
            28 MarkControllerRevisions ordinary = mark_controller_revisions::apply;
            /// Deletes the oldest ControllerRevisions of a history that are not in use.
            29 TruncateControllerRevisions ordinary = truncate_controller_revisions::apply;
            /// Deletes a ControllerRevision or a whole history.
            30 DeleteControllerRevisions ordinary = delete_controller_revisions::apply;
            /// Takes ControllerRevisions without a controller into a history.
            31 AdoptControllerRevisions ordinary = adopt_controller_revisions::apply;
            /// Releases a ControllerRevision from its history.
            32 ReleaseControllerRevision ordinary = release_controller_revision::apply;
            /// Takes a lease, or a place in the queue for it.
            33 AcquireLease ordinary = acquire_lease::apply;
            /// Moves a lease's deadline.
            34 RenewLease urgent = renew_lease::apply;
            /// Gives up a lease, or a place in the queue for it.
            35 ReleaseLease ordinary = release_lease::apply;
            /// Registers a candidate for a lease.
            36 PutLeaseCandidate ordinary = put_lease_candidate::apply;
            /// Moves a candidate's deadline.
            37 RenewLeaseCandidate urgent = renew_lease_candidate::apply;
            /// Withdraws a candidate for a lease.
            38 WithdrawLeaseCandidate ordinary = withdraw_lease_candidate::apply;
            /// Creates a migration on request.
            39 StartMigration ordinary = migrations::start::apply;
            /// Gives a pending migration to a worker.
            40 ClaimMigration ordinary = migrations::claim::apply;
            /// A worker reports its progress.
            41 ReportMigrationProgress urgent = migrations::progress::apply;
            /// A worker reports that the migration is complete.
            42 CompleteMigration urgent = migrations::complete::apply;
            /// A worker reports that the migration has failed.
            43 FailMigration urgent = migrations::fail::apply;
            /// Aborts a migration.
            44 AbortMigration ordinary = migrations::abort::apply;
            /// Makes a failed migration pending again.
            45 RetryMigration ordinary = migrations::retry::apply;
            /// Records what discovery shows of a resource.
            46 ObserveStorage urgent = observe_storage::apply;
            /// Discards what is known of the stored encodings.
            47 ResetStorageStates ordinary = reset_storage_states::apply;
            /// Sets a roster: the members that must report a resource.
            48 SetRoster ordinary = rosters::set;
            /// Removes a roster: the next wider one applies.
            49 DeleteRoster ordinary = rosters::delete;
            /// Does more of what follows from switches that moved.
            50 FollowSwitches ordinary = follow_switches::apply;
            /// A worker gives its claim back: the migration is pending again.
            51 ReleaseMigration urgent = migrations::release::apply;
            /// Deletes a lease, whoever holds it.
            52 DeleteLease ordinary = delete_lease::apply;
            /// Deletes a migration, at any time.
            53 DeleteMigration ordinary = migrations::delete::apply;
            /// Ends what looks at discovery have shown.
            54 DismissLooks ordinary = dismiss_looks::apply;
            /// Says that resources are one store under several names.
            55 AddEquivalents ordinary = equivalents::add;
            /// Takes a name out of a set of equivalent resources.
            56 RemoveEquivalent ordinary = equivalents::remove;
        }
    };
}

pub(crate) use command_table;
