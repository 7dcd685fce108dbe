//! Backups, and what is founded from them, as tables.

use std::collections::BTreeMap;
use std::path::Path;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use synod_server::offline::{Founded, Founder, Survivor};
use synod_store::LogId;
use synod_store::backup::{BackupHeader, BackupSum};

use super::or_unset;
use crate::output::{Document, Table};

/// `synod backup create` and `synod backup verify`; with the number of rows of each kind, if all were read.
pub(crate) fn backup(
    header: &BackupHeader,
    format: u32,
    sum: &BackupSum,
    counts: Option<BTreeMap<&'static str, u64>>,
) -> Document {
    let sha256 = HEXLOWER.encode(&sum.sha256);
    let mut value = json!({
        "clusterId": header.cluster.to_string(),
        "clusterName": header.cluster_name,
        "revision": header.revision.to_string(),
        "logTimeMs": header.log_time.as_millis().to_string(),
        "time": header.wall.to_string(),
        "version": header.binary,
        "machineVersion": header.machine_version,
        "format": format,
        "bytes": sum.bytes.to_string(),
        "sha256": sha256,
    });
    let mut table = Table::new(["Cluster", "Id", "Revision", "Time", "Bytes"]);
    let cells = [
        header.cluster_name.clone(),
        header.cluster.to_string(),
        header.revision.to_string(),
        header.wall.to_string(),
        sum.bytes.to_string(),
    ];
    table.row(&cells);
    let mut wide = Table::new([
        "Cluster", "Id", "Revision", "Time", "Bytes", "Version", "Format", "SHA-256",
    ]);
    let more = [header.binary.clone(), format.to_string(), sha256];
    wide.row(cells.iter().chain(&more));
    let (mut tables, mut wide) = (vec![table], vec![wide]);
    if let Some(counts) = counts {
        let mut table = Table::new(["What", "Rows"]);
        for (kind, count) in &counts {
            table.row([*kind, &count.to_string()]);
        }
        tables.push(table.clone());
        wide.push(table);
        let counts = counts.into_iter();
        let counts = counts.map(|(kind, count)| (kind.to_owned(), count.to_string().into()));
        value["rows"] = Value::Object(counts.collect());
    }
    Document {
        value,
        tables,
        wide,
        names: vec![header.cluster.to_string()],
    }
}

/// The same of a backup that was written to this file, with the names of those that were removed for it.
pub(crate) fn created(mut document: Document, file: &Path, removed: &[String]) -> Document {
    let file = file.display().to_string();
    let mut place = Table::new(["File"]);
    place.row([&file]);
    let mut added = vec![place];
    if !removed.is_empty() {
        let mut gone = Table::new(["Removed"]);
        for name in removed {
            gone.row([name]);
        }
        added.push(gone);
    }
    document.value["file"] = file.into();
    document.value["removed"] = removed.into();
    document.tables.extend(added.iter().cloned());
    document.wide.extend(added);
    document
}

/// A cluster that was founded, and how to start its replica.
pub(crate) fn founded(founder: &Founder, founded: &Founded) -> Document {
    let Founder {
        data_dir,
        cluster_name,
        replica,
        peer,
        ..
    } = founder;
    let place = data_dir.display().to_string();
    let start = format!(
        "synod serve --data-dir {place} --cluster-name {cluster_name} --replica-id {replica} --replicas {replica}={peer}"
    );
    let value = json!({
        "clusterId": founded.cluster.to_string(),
        "clusterName": cluster_name,
        "revision": founded.revision.to_string(),
        "replicaId": replica.to_string(),
        "directoryId": founded.directory.to_string(),
        "dataDir": place,
        "start": start,
    });
    let mut table = Table::new(["Cluster", "Id", "Revision", "Replica", "Directory"]);
    table.row([
        cluster_name.as_str(),
        &founded.cluster.to_string(),
        &founded.revision.to_string(),
        &replica.to_string(),
        &place,
    ]);
    let mut next = Table::new(["Start it by"]);
    next.row([&start]);
    let tables = vec![table, next];
    Document {
        value,
        tables: tables.clone(),
        wide: tables,
        names: vec![founded.cluster.to_string()],
    }
}

/// Everything that may be missing in a state that was read from one directory of a lost cluster, as sentences.
pub(crate) fn may_be_lost(survivor: &Survivor) -> Vec<String> {
    let mut lost = vec![format!(
        "what was acknowledged after {} of the log: this directory does not know of it",
        position(&survivor.last)
    )];
    for unheard in &survivor.ahead {
        let entries = unheard.held.index.saturating_sub(survivor.last.index);
        lost.push(format!(
            "replica {} had come to {}, committed: at least {entries} entries beyond this directory are lost",
            unheard.replica,
            position(&unheard.held)
        ));
    }
    let uncommitted = survivor.uncommitted();
    if uncommitted > 0 {
        lost.push(format!(
            "the last {uncommitted} entries of the log are not known to be committed: they count from now on, though their \
             callers may have been told nothing, or may find them undone by what the others decided"
        ));
    }
    lost.extend(survivor.damage.iter().cloned());
    lost.push(
        "members, leases, sessions: API servers join and report again by themselves".to_owned(),
    );
    lost
}

/// What one data directory of a lost cluster holds.
pub(crate) fn survivor(survivor: &Survivor, lost: &[String]) -> Document {
    let identity = &survivor.identity;
    let written = survivor.last_written.map(|wall| wall.to_string());
    let committed = survivor.committed.as_ref().map(position);
    let replicas: Vec<String> = survivor
        .replica_set
        .iter()
        .flat_map(|set| &set.replicas)
        .map(|(id, address)| format!("{id}={}", address.peer))
        .collect();
    let cluster = survivor.state.cluster().map(ToString::to_string);
    let value = json!({
        "clusterId": cluster,
        "clusterName": identity.cluster_name,
        "replicaId": identity.replica_id.to_string(),
        "revision": survivor.state.revision().to_string(),
        "lastIndex": survivor.last.index.to_string(),
        "lastTerm": survivor.last.term.to_string(),
        "committedIndex": survivor.committed.map(|id| id.index.to_string()),
        "lastWritten": written,
        "replicas": replicas,
        "mayBeLost": lost,
    });
    let mut table = Table::new(["Replica", "Revision", "Holds", "Committed", "Last written"]);
    table.row([
        identity.replica_id.to_string(),
        survivor.state.revision().to_string(),
        position(&survivor.last),
        or_unset(committed),
        or_unset(written),
    ]);
    let mut losses = Table::new(["May be lost"]);
    for line in lost {
        losses.row([line]);
    }
    let tables = vec![table, losses];
    Document {
        value,
        tables: tables.clone(),
        wide: tables,
        names: cluster.into_iter().collect(),
    }
}

fn position(id: &LogId) -> String {
    format!("entry {} (term {})", id.index, id.term)
}
