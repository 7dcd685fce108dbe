//! `synod certs`: CAs and certificates to try transport security out with.

mod authority;
mod folder;

use std::fmt::Write as _;
use std::net::IpAddr;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyUsagePurpose, SanType};
use synod_client::{Violation, Violations};
use synod_model::{MemberId, dns1123_subdomain};

use crate::args::{CertsCommand, CertsDevArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use authority::Authority;
use folder::{Folder, KEY_ENDING, Put};

/// What the names of clients begin with: a SPIFFE id (<https://spiffe.io>) in the trust domain `synod`.
const SPIFFE: &str = "spiffe://synod";

/// The clients that are no members: each has the role of its name by the built-in policy.
const ROLES: [&str; 4] = ["admin", "operator", "reader", "backup"];

/// A certificate that is made.
struct Wanted {
    /// The name of its file, without the ending.
    name: String,
    /// The name of the CA that signs it.
    authority: &'static str,
    /// Whom it names.
    subject: String,
    names: Vec<SanType>,
    uses: &'static [ExtendedKeyUsagePurpose],
}

const SERVES: &[ExtendedKeyUsagePurpose] = &[ExtendedKeyUsagePurpose::ServerAuth];
const CALLS: &[ExtendedKeyUsagePurpose] = &[ExtendedKeyUsagePurpose::ClientAuth];
const SERVES_AND_CALLS: &[ExtendedKeyUsagePurpose] = &[
    ExtendedKeyUsagePurpose::ServerAuth,
    ExtendedKeyUsagePurpose::ClientAuth,
];

/// # Errors
///
/// A host or a member that cannot be one, or a file that cannot be read or written.
pub(crate) fn run(command: &CertsCommand) -> Result<Exit, Failure> {
    match command {
        CertsCommand::Dev(args) => dev(args),
    }
}

fn dev(args: &CertsDevArgs) -> Result<Exit, Failure> {
    let wanted = wanted(args)?;
    let folder = Folder::open(&args.out)?;
    let mut told = String::new();
    let mut tell = |put: Put, name: &str| {
        let path = folder.path(&format!("{name}.pem"));
        // Writing to a string does not fail.
        let _ = writeln!(told, "{put} {}", path.display());
    };
    let now = super::now();
    for name in ["server-ca", "client-ca", "peer-ca"] {
        let (authority, put) = Authority::open(&folder, name, now)?;
        tell(put, name);
        for wanted in wanted.iter().filter(|wanted| wanted.authority == name) {
            let made = authority.sign(wanted.parameters(), args.days, now);
            // What another CA has signed is of no use any more.
            let anew = args.renew || put == Put::Wrote;
            let put = folder.put(&wanted.name, anew, made)?;
            tell(put, &wanted.name);
        }
    }
    output::print(&told)?;
    Ok(Exit::Ok)
}

/// The certificates to make.
fn wanted(args: &CertsDevArgs) -> Result<Vec<Wanted>, Failure> {
    let mut faults = Violations::new();
    let hosts: Vec<SanType> = (1..)
        .zip(&args.hosts)
        .filter_map(|(number, host)| {
            faults.parsed(format_args!("--hosts, item {number}"), name(host))
        })
        .collect();
    for (number, member) in (1..).zip(&args.members) {
        let place = format!("--members, item {number}");
        faults.parsed(&place, MemberId::parse(member));
        if member.ends_with(KEY_ENDING) {
            let rule = "must not end in -key: that is how the files of keys end";
            faults.push(Violation::invalid(member, rule).at(&place));
        }
    }
    if !faults.is_empty() {
        return Err(Failure::invalid("there are no such names", faults));
    }
    let of_replica = |name: &str, authority, uses| Wanted {
        name: name.to_owned(),
        authority,
        subject: format!("synod {name}"),
        names: hosts.clone(),
        uses,
    };
    let of_client = |name: String, subject: &str, id: &str| Wanted {
        name,
        authority: "client-ca",
        subject: subject.to_owned(),
        names: uri(&format!("{SPIFFE}/{id}")),
        uses: CALLS,
    };
    let mut wanted = vec![
        of_replica("server", "server-ca", SERVES),
        of_replica("peer", "peer-ca", SERVES_AND_CALLS),
    ];
    wanted.extend(ROLES.map(|role| of_client(role.to_owned(), role, role)));
    wanted.extend(args.members.iter().map(|member| {
        of_client(
            format!("member-{member}"),
            member,
            &format!("member/{member}"),
        )
    }));
    Ok(wanted)
}

/// A host as certificates name it.
fn name(host: &str) -> Result<SanType, Violation> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    let plain = host.strip_prefix("*.").unwrap_or(host);
    let fault = |rule: &str| Violation::invalid(host, rule);
    dns1123_subdomain(plain).map_err(|_| fault("must be a host name or an IP address"))?;
    let name = host.try_into();
    Ok(SanType::DnsName(name.map_err(|_| {
        fault("must be a host name in ASCII or an IP address")
    })?))
}

fn uri(text: &str) -> Vec<SanType> {
    // It is made of ASCII alone.
    text.try_into().map(SanType::URI).into_iter().collect()
}

impl Wanted {
    fn parameters(&self) -> CertificateParams {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = authority::subject(DnType::CommonName, &self.subject);
        parameters.subject_alt_names.clone_from(&self.names);
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = self.uses.to_vec();
        parameters.use_authority_key_identifier_extension = true;
        parameters
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use tempfile::TempDir;

    use super::*;

    fn args(out: &Path, members: &[&str]) -> CertsDevArgs {
        CertsDevArgs {
            out: out.to_owned(),
            hosts: vec!["localhost".to_owned(), "::1".to_owned()],
            members: members.iter().map(|&member| member.to_owned()).collect(),
            days: 30,
            renew: false,
        }
    }

    #[test]
    fn what_is_there_stays_unless_its_ca_has_gone() {
        let folder = TempDir::new().unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        dev(&args(folder.path(), &["a"])).unwrap();
        let names = ["server.pem", "peer.pem", "admin.pem", "member-a.pem"];
        let before = names.map(read);
        dev(&args(folder.path(), &["a", "b"])).unwrap();
        assert_eq!(names.map(read), before);
        assert!(read("member-b.pem").contains("BEGIN CERTIFICATE"));
        fs::remove_file(folder.path().join("client-ca.pem")).unwrap();
        dev(&args(folder.path(), &["a"])).unwrap();
        let after = names.map(read);
        let stayed: Vec<bool> = (0..names.len()).map(|at| before[at] == after[at]).collect();
        assert_eq!(stayed, [true, true, false, false]);
        let key = fs::metadata(folder.path().join("admin-key.pem")).unwrap();
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn names_that_cannot_be_are_named_before_anything_is_written() {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("certs");
        let mut args = args(&out, &["a", "a-key", "Not A Member"]);
        args.hosts.push("no host".to_owned());
        let fault = dev(&args).unwrap_err().to_string();
        for part in ["--hosts, item 3", "--members, item 2", "--members, item 3"] {
            assert!(fault.contains(part), "{fault}");
        }
        assert!(!out.exists());
    }
}
