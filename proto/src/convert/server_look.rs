//! Converts the looks at discovery, server by server.

use std::collections::BTreeMap;

use synod_model::{
    MemberId, ObservedServer, ServerLook, StorageVersionHash, Violation, Violations,
};

use super::distinct;
use crate::v1;
use crate::wire::{Wire, sound};

/// A server must not be named twice.
impl Wire<Vec<v1::ServerLook>> for BTreeMap<ObservedServer, ServerLook> {
    fn to_wire(&self) -> Vec<v1::ServerLook> {
        let looks = self.iter();
        looks
            .map(|(server, look)| v1::ServerLook {
                server: server.to_wire(),
                hashes: distinct::write(&look.hashes),
                of_member: look.member.to_wire(),
            })
            .collect()
    }

    fn of_wire(pb: Vec<v1::ServerLook>) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let mut looks = Self::new();
        for (at, look) in pb.into_iter().enumerate() {
            let name = look.server.clone();
            match read(look) {
                Err(faults) => found.extend_at(format!("[{at}]"), faults),
                Ok((server, look)) => {
                    if looks.insert(server, look).is_some() {
                        let fault = Violation::duplicate(&name);
                        found.push(fault.at("server").at(&format!("[{at}]")));
                    }
                }
            }
        }
        sound(looks, found)
    }
}

fn read(pb: v1::ServerLook) -> Result<(ObservedServer, ServerLook), Violations> {
    let mut found = Violations::new();
    let server = found.parsed("server", ObservedServer::parse(&pb.server));
    let hashes = distinct::read::<String, StorageVersionHash>(pb.hashes);
    let hashes = found.parsed("hashes", hashes);
    let member: Result<Option<MemberId>, Violations> = Wire::of_wire(pb.of_member);
    let member = found.parsed("of_member", member);
    match (server, hashes, member) {
        (Some(server), Some(hashes), Some(member)) => Ok((server, ServerLook { hashes, member })),
        _ => Err(found),
    }
}
