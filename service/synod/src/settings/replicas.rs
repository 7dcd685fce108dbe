//! Parses the first replica set: the peer address of each replica.

use std::collections::BTreeMap;

use super::address::reachable;

/// Parses the peer addresses of replicas, as in `1=host:port,2=host:port`.
///
/// # Errors
///
/// The first item at fault, by its number and its text.
pub(super) fn parse(text: &str) -> Result<BTreeMap<u64, String>, String> {
    let mut replicas = BTreeMap::new();
    for (number, item) in (1..).zip(text.split(',')) {
        let fault = |rule: String| format!("item {number}, {item:?}: {rule}");
        let Some((id, address)) = item.trim().split_once('=') else {
            return Err(fault(
                "must be id=host:port, as in 1=10.0.0.1:4610".to_owned(),
            ));
        };
        let id = replica_id(id).map_err(fault)?;
        let address = reachable(address).map_err(fault)?;
        if let Some((other, _)) = replicas.iter().find(|(_, known)| **known == address) {
            return Err(fault(format!("replica {other} has this address already")));
        }
        if replicas.insert(id, address).is_some() {
            return Err(fault(format!("replica {id} stands twice")));
        }
    }
    Ok(replicas)
}

/// Parses the id of a replica.
///
/// # Errors
///
/// The text says what the id should look like.
pub(crate) fn replica_id(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!(
            "{text:?} is no number of a replica: give a whole number, at least 1"
        )),
        Ok(id) => Ok(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_listed_by_number_and_address() {
        let replicas = parse("2=b:1, 1=a:1,3=[::1]:2").unwrap();
        let pairs: Vec<_> = replicas
            .iter()
            .map(|(id, address)| (*id, address.as_str()))
            .collect();
        assert_eq!(pairs, [(1, "a:1"), (2, "b:1"), (3, "[::1]:2")]);
    }

    #[test]
    fn a_faulty_item_is_named() {
        for (text, fault) in [
            ("", "item 1, \"\": must be id=host:port"),
            ("1=a:1,", "item 2, \"\": must be id=host:port"),
            ("1=a:1,2-b:1", "item 2, \"2-b:1\": must be id=host:port"),
            (
                "0=a:1",
                "item 1, \"0=a:1\": \"0\" is no number of a replica",
            ),
            (
                "x=a:1",
                "item 1, \"x=a:1\": \"x\" is no number of a replica",
            ),
            ("1=a", "item 1, \"1=a\": must be host:port"),
            ("1=a:1,1=b:1", "item 2, \"1=b:1\": replica 1 stands twice"),
            (
                "1=a:1,2=a:1",
                "item 2, \"2=a:1\": replica 1 has this address already",
            ),
        ] {
            let found = parse(text).unwrap_err();
            assert!(found.starts_with(fault), "{text}: {found}");
        }
    }
}
