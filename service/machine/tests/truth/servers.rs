//! The processes of servers: members behind a gate, members without one, and strangers that never join.

use synod_model::Epoch;

use crate::events::Event;
use crate::machine::WRITE_GRACE;
use crate::schedule::{Binary, ResourceName, Server, Stance, Version};
use crate::stores::{Write, Writer};
use crate::world::TrueWorld;

/// The rules that a process follows when it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discipline {
    /// It writes only while it can prove its membership.
    Gated,
    /// It is a member, and writes whenever it runs.
    Ungated,
    /// It writes whenever it runs, and never joins.
    Stranger,
}

/// The span for which a process ran under the id of a member that had not expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HiddenSpan {
    /// No other process has joined since.
    Open,
    /// Another process joined so many seconds after the last renewal.
    Closed(u64),
}

/// A process of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerProcess {
    pub(crate) server: Server,
    pub(crate) discipline: Discipline,
    pub(crate) binary: Binary,
    /// The version in which it writes; `None` if it may write nothing.
    pub(crate) encodes: Option<Version>,
    /// Its membership; a stranger has none.
    epoch: Option<Epoch>,
    ttl: u64,
    /// When it sent the last renewal that was accepted.
    renewed: u64,
    pub(crate) is_running: bool,
    is_cut: bool,
    /// When it stopped.
    stopped: u64,
    /// When it left, or when a renewal of it was refused.
    left: Option<u64>,
    /// The span for which the id of a member hid this stranger from the machine; `None` if no member had the id.
    pub(crate) hidden: Option<HiddenSpan>,
}

impl ServerProcess {
    /// When it stopped; `None` if it runs.
    pub(crate) fn stopped(&self) -> Option<u64> {
        (!self.is_running).then_some(self.stopped)
    }

    fn is_gated(&self) -> bool {
        self.discipline == Discipline::Gated
    }

    fn is_voter(&self) -> bool {
        matches!(self.binary.stance, Stance::Prefers(_))
    }

    /// The resource that decides what it encodes.
    fn resource(&self) -> ResourceName {
        self.binary.resources[0]
    }

    /// Returns whether it may send a write now.
    pub(crate) fn can_write(&self, now: u64) -> bool {
        let may_begin = !self.is_gated() || (self.left.is_none() && now < self.renewed + self.ttl);
        self.is_running && self.encodes.is_some() && may_begin
    }

    /// The first second at which a write of it can no longer reach its store.
    pub(crate) fn last_moment_of(&self, write: &Write) -> u64 {
        if self.is_gated() {
            let proved = self.left.unwrap_or(self.renewed + self.ttl);
            proved + WRITE_GRACE
        } else if self.is_running {
            write.ends
        } else {
            write.ends.min(self.stopped + WRITE_GRACE)
        }
    }

    fn stop(&mut self, now: u64) {
        self.is_running = false;
        self.stopped = now;
    }
}

impl TrueWorld {
    /// The newest process of the server.
    pub(crate) fn current(&self, server: Server) -> Option<usize> {
        self.processes.iter().rposition(|it| it.server == server)
    }

    /// The running processes of the server, the newest first. A replaced one runs on while it is cut off.
    fn running_processes(&self, server: Server) -> Vec<usize> {
        let all = self.processes.iter().enumerate().rev();
        let of_server = all.filter(|(_, it)| it.server == server && it.is_running);
        of_server.map(|(at, _)| at).collect()
    }

    /// The last renewal of the server that the machine accepted.
    fn last_renewal_of(&self, server: Server) -> u64 {
        let members = self.processes.iter();
        let members = members.filter(|it| it.server == server && it.epoch.is_some());
        members.map(|it| it.renewed).max().unwrap_or(0)
    }

    /// Returns whether a process of the server has ever joined.
    pub(crate) fn has_joined(&self, server: Server) -> bool {
        let mut all = self.processes.iter();
        all.any(|it| it.server == server && it.epoch.is_some())
    }

    /// Returns whether the process speaks for a member now.
    pub(crate) fn is_member(&self, at: usize) -> bool {
        let process = &self.processes[at];
        process.epoch.is_some() && self.machine.epoch(process.server) == process.epoch
    }

    /// Returns whether the server was a member before this process ran and became one again after it.
    pub(crate) fn was_between_memberships(&self, at: usize) -> bool {
        let server = self.processes[at].server;
        let (before, after) = self.processes.split_at(at);
        let is_membership = |it: &ServerProcess| it.server == server && it.epoch.is_some();
        before.iter().any(is_membership) && after.iter().any(is_membership)
    }

    /// Every process that reaches the cluster renews its membership.
    pub(crate) fn renew_all(&mut self) {
        let now = self.now();
        let newest: Vec<usize> = (0..self.processes.len())
            .filter(|at| self.current(self.processes[*at].server) == Some(*at))
            .collect();
        let mut renewing = Vec::new();
        for at in newest {
            let process = &self.processes[at];
            if let Some(epoch) = process.epoch
                && process.is_running
                && !process.is_cut
                && process.left.is_none()
            {
                renewing.push((at, (process.server, epoch)));
            }
        }
        let members: Vec<_> = renewing.iter().map(|(_, member)| *member).collect();
        let accepted = self.machine.renew(&members);
        for ((at, _), accepted) in renewing.iter().zip(accepted) {
            let process = &mut self.processes[*at];
            if accepted {
                process.renewed = now;
            } else if process.is_gated() {
                process.encodes = None;
                process.left = Some(now);
            }
        }
    }

    /// Another process starts under this id, joins and reports.
    pub(crate) fn start(&mut self, server: Server, binary: &Binary, ttl: u64) {
        let now = self.now();
        if let Some(at) = self.current(server) {
            let before = &mut self.processes[at];
            // A process that is cut off runs on, although it is replaced.
            if before.is_running && !(before.is_cut && before.is_gated()) {
                before.stop(now);
            }
            if before.hidden.is_some() {
                let renewed = self.last_renewal_of(server);
                self.processes[at].hidden = Some(HiddenSpan::Closed(now - renewed));
            }
        }
        if self.machine.epoch(server).is_some() {
            self.counts.note(Event::MemberReplaced);
        }
        let admission = self.machine.admit(server, binary, ttl);
        self.processes.push(ServerProcess {
            server,
            discipline: if binary.is_gated {
                Discipline::Gated
            } else {
                Discipline::Ungated
            },
            binary: *binary,
            encodes: admission.encoding,
            epoch: Some(admission.epoch),
            ttl,
            renewed: now,
            is_running: admission.is_reported,
            is_cut: false,
            stopped: now,
            left: None,
            hidden: None,
        });
    }

    /// A process starts that writes without a gate and never joins.
    pub(crate) fn start_ungated(&mut self, server: Server, version: Version) {
        let now = self.now();
        let is_hidden = self.machine.epoch(server).is_some();
        if let Some(before) = self.current(server) {
            let before = &mut self.processes[before];
            if before.is_running && before.is_cut && before.is_gated() {
                return;
            }
            if before.is_running {
                before.stop(now);
            }
        }
        self.processes.push(ServerProcess {
            server,
            discipline: Discipline::Stranger,
            binary: crate::schedule::UNGATED_1,
            encodes: Some(version),
            epoch: None,
            ttl: 0,
            renewed: now,
            is_running: true,
            is_cut: false,
            stopped: now,
            left: None,
            hidden: is_hidden.then_some(HiddenSpan::Open),
        });
    }

    pub(crate) fn crash(&mut self, server: Server) {
        let now = self.now();
        if let Some(at) = self.current(server) {
            let process = &mut self.processes[at];
            if process.is_running {
                process.stop(now);
            }
        }
    }

    pub(crate) fn leave(&mut self, server: Server, drained: bool) {
        let now = self.now();
        let Some(at) = self.current(server) else {
            return;
        };
        let process = &self.processes[at];
        let Some(epoch) = process.epoch else {
            return;
        };
        if !process.is_running || process.is_cut || (drained && !process.is_gated()) {
            return;
        }
        if self.machine.epoch(server) != Some(epoch) {
            return;
        }
        if drained {
            self.stores.answer(|it| it.writer == Writer::Process(at));
        }
        assert!(self.machine.leave(server, epoch, drained));
        let process = &mut self.processes[at];
        process.left = Some(now);
        process.stop(now);
    }

    /// An operator removes the member. Its process learns of it by its next renewal.
    pub(crate) fn evict(&mut self, server: Server) {
        if let Some(epoch) = self.machine.epoch(server) {
            assert!(self.machine.evict(server, epoch));
            self.counts.note(Event::MemberEvicted);
        }
    }

    pub(crate) fn cut(&mut self, server: Server, is_cut: bool) {
        if let Some(at) = self.current(server) {
            self.processes[at].is_cut = is_cut;
        }
    }

    /// A voter encodes what is selected from now on: its watch may reach further than its renewals.
    pub(crate) fn learn(&mut self, server: Server) {
        let now = self.now();
        for at in self.running_processes(server) {
            let process = &self.processes[at];
            if !process.is_gated() || !process.is_voter() || !process.can_write(now) {
                continue;
            }
            let selected = self.machine.selected_version(process.resource());
            if let Some(selected) = selected.filter(|it| process.binary.decodes.contains(it)) {
                self.processes[at].encodes = Some(selected);
            }
        }
    }

    pub(crate) fn adopt(&mut self, server: Server) {
        let now = self.now();
        let Some(at) = self.current(server) else {
            return;
        };
        let process = &self.processes[at];
        let may_adopt = process.is_voter() && !process.is_cut && process.can_write(now);
        let (Some(epoch), true) = (process.epoch, may_adopt) else {
            return;
        };
        let resource = process.resource();
        let Some(selected) = self.machine.selected_version(resource) else {
            return;
        };
        if !process.binary.decodes.contains(&selected) {
            return;
        }
        // It waits until its writes in other versions are answered.
        let of_process = Writer::Process(at);
        self.stores
            .answer(|it| it.writer == of_process && it.version != selected);
        if self.machine.adopt(server, epoch, resource) {
            self.processes[at].encodes = Some(selected);
            self.counts.note(Event::Adopted);
        }
    }

    /// The server reports another version. A voter keeps its encoding until it learns what is selected.
    pub(crate) fn reencode(&mut self, server: Server, version: Version) {
        let Some(at) = self.current(server) else {
            return;
        };
        let process = &self.processes[at];
        let can_report = process.is_running && !process.is_cut;
        let decodes = process.binary.decodes.contains(&version);
        let (Some(epoch), true) = (process.epoch, can_report && decodes) else {
            return;
        };
        if self.machine.epoch(server) != Some(epoch) {
            return;
        }
        let stance = match process.binary.stance {
            Stance::Encodes(_) => Stance::Encodes(version),
            Stance::Prefers(_) => Stance::Prefers(version),
        };
        if process.is_gated() && !process.is_voter() {
            // It waits until its writes in the version before are answered.
            self.stores.answer(|it| it.writer == Writer::Process(at));
        }
        let binary = Binary {
            stance,
            ..process.binary
        };
        if self.machine.report(server, epoch, &binary) {
            let process = &mut self.processes[at];
            process.binary = binary;
            if !process.is_voter() {
                process.encodes = Some(version);
            }
        }
    }

    pub(crate) fn write(&mut self, server: Server, key: usize) {
        let now = self.now();
        let running = self.running_processes(server).into_iter();
        let mut open = running.filter(|at| self.processes[*at].can_write(now));
        let Some(at) = open.next() else {
            return;
        };
        let process = &self.processes[at];
        if let (Some(version), true) = (process.encodes, self.stores.has_room()) {
            let store = self.stores.place(process.resource());
            self.stores.send(Write {
                number: 0,
                store,
                key,
                version,
                writer: Writer::Process(at),
                ends: now + WRITE_GRACE,
                condition: None,
            });
        }
    }

    /// The oldest write of the server reaches its store.
    pub(crate) fn land(&mut self, server: Server) {
        let processes = &self.processes;
        let of_server = |write: &Write| match write.writer {
            Writer::Process(at) => processes[at].server == server,
            Writer::Worker(_) => false,
        };
        let Some(write) = self.stores.find(of_server).cloned() else {
            return;
        };
        if let Writer::Process(at) = write.writer
            && !self.processes[at].can_write(self.now())
        {
            self.counts.note(Event::LateWriteLanded);
        }
        self.stores.land(write.number);
    }
}
