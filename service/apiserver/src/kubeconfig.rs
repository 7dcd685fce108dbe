//! Files that say how to reach which cluster as whom, as `kubectl` reads them.

mod form;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use data_encoding::BASE64;
use serde_json::{Value, json};
use synod_tls::{KeyPair, Pem};

use crate::access::{Access, Address, Proxy};
use crate::fault::Misconfigured;
use crate::identity::{ExecPlugin, Identity, Login};
use crate::impersonation::Impersonation;
use crate::trust::Trust;
use form::{Cluster, Exec, File, User};

/// The versions of the plugin protocol.
const EXEC_VERSIONS: [&str; 2] = [
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
];

/// Several files that are read as one: what is named twice counts as the first of them says.
#[derive(Debug)]
pub struct Kubeconfig {
    /// Each with its folder, from which its relative paths go.
    files: Vec<(PathBuf, File)>,
}

impl Kubeconfig {
    /// The files that `kubectl` would read: this one, else those in `KUBECONFIG`, else `~/.kube/config`. `None`: nobody
    /// names a file, and there is none at home.
    ///
    /// # Errors
    ///
    /// A file that is named, or that is at home, cannot be read.
    pub fn find(
        named: Option<&Path>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, Misconfigured> {
        if let Some(path) = named {
            return Self::read(&[path.to_owned()]).map(Some);
        }
        if let Some(list) = variable("KUBECONFIG").filter(|list| !list.is_empty()) {
            // Some of them may be missing, as for `kubectl`; not all.
            let paths: Vec<PathBuf> = std::env::split_paths(&list).collect();
            let present: Vec<PathBuf> =
                paths.iter().filter(|path| path.exists()).cloned().collect();
            let read = if present.is_empty() { paths } else { present };
            return Self::read(&read).map(Some);
        }
        let home = variable("HOME").map(|home| Path::new(&home).join(".kube/config"));
        match home.filter(|path| path.is_file()) {
            Some(path) => Self::read(&[path]).map(Some),
            None => Ok(None),
        }
    }

    /// Reads these files.
    ///
    /// # Errors
    ///
    /// One of them cannot be read, or is no kubeconfig.
    pub fn read(paths: &[PathBuf]) -> Result<Self, Misconfigured> {
        let files = paths.iter().map(|path| {
            let place = path.display();
            let fault = |why: String| Misconfigured(format!("the kubeconfig {place} {why}"));
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| fault(format!("cannot be read: {error}")))?;
            let file = synod_yaml::from_str(&text);
            // The library's words may repeat a token.
            let file = file.map_err(|error| match error.line() {
                Some(line) => fault(format!("is none: see line {line}")),
                None => fault("is none".to_owned()),
            })?;
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let folder = whole.parent().unwrap_or(Path::new("")).to_owned();
            Ok((folder, file))
        });
        let files: Result<_, _> = files.collect();
        Ok(Self { files: files? })
    }

    /// How a context reaches its cluster; without a name, the current context.
    ///
    /// # Errors
    ///
    /// There is no such context, or it is not whole, or it needs a person or what nobody should use.
    pub fn access(&self, context: Option<&str>) -> Result<Access, Misconfigured> {
        let mut current = self
            .files
            .iter()
            .map(|(_, file)| file.current_context.as_str());
        let current = current.find(|name| !name.is_empty());
        let Some(name) = context.or(current) else {
            return Err(Misconfigured(
                "the kubeconfig names no current context".to_owned(),
            ));
        };
        let fault =
            |why: String| Misconfigured(format!("the context {name:?} of the kubeconfig: {why}"));
        let (_, context) = self
            .named(name, |file| &file.contexts)
            .ok_or_else(|| fault("there is none".to_owned()))?;
        let context = &context.context;
        let (folder, cluster) = self
            .named(&context.cluster, |file| &file.clusters)
            .ok_or_else(|| fault(format!("there is no cluster {:?}", context.cluster)))?;
        let cluster = &cluster.cluster;
        let mut access = reached(folder, cluster).map_err(fault)?;
        if !context.user.is_empty() {
            let (folder, user) = self
                .named(&context.user, |file| &file.users)
                .ok_or_else(|| fault(format!("there is no user {:?}", context.user)))?;
            access.identity = identity(folder, &user.user, cluster).map_err(fault)?;
            access.impersonation = impersonation(&user.user).map_err(fault)?;
        }
        Ok(access)
    }

    /// What has this name, with the folder of its file.
    fn named<T: form::Named + 'static>(
        &self,
        name: &str,
        of: impl Fn(&File) -> &Vec<T>,
    ) -> Option<(&Path, &T)> {
        self.files.iter().find_map(|(folder, file)| {
            let mut all = named_in(file, &of).iter();
            all.find(|one| one.name() == name)
                .map(|one| (folder.as_path(), one))
        })
    }
}

/// The entries of a kind in a file.
fn named_in<'a, T>(file: &'a File, of: &impl Fn(&File) -> &Vec<T>) -> &'a Vec<T> {
    of(file)
}

fn reached(folder: &Path, cluster: &Cluster) -> Result<Access, String> {
    let address = Address::parse(&cluster.server).map_err(|rule| format!("its server {rule}"))?;
    let ca = pem(
        folder,
        cluster.certificate_authority.as_deref(),
        cluster.certificate_authority_data.as_deref(),
        "certificate-authority-data",
    )?;
    let trust = match (ca, cluster.insecure_skip_tls_verify) {
        (Some(_), true) => {
            return Err(
                "it has a CA and insecure-skip-tls-verify: only one of them can count".to_owned(),
            );
        }
        (None, true) => Trust::Anybody,
        (Some(pem), false) => Trust::Ca(pem),
        (None, false) => Trust::System,
    };
    let proxy = cluster.proxy_url.as_deref().filter(|url| !url.is_empty());
    let proxy = proxy.map(|url| Proxy::parse(url).map_err(|rule| rule.to_string()));
    Ok(Access {
        address,
        trust,
        server_name: cluster
            .tls_server_name
            .clone()
            .filter(|name| !name.is_empty()),
        identity: Identity::default(),
        impersonation: Impersonation::default(),
        proxy: proxy.transpose()?.unwrap_or_default(),
    })
}

/// Who a user is. A token counts before a password, and both before a plugin, as for `kubectl`.
fn identity(folder: &Path, user: &User, cluster: &Cluster) -> Result<Identity, String> {
    let certificate = pem(
        folder,
        user.client_certificate.as_deref(),
        user.client_certificate_data.as_deref(),
        "client-certificate-data",
    )?;
    let key = pem(
        folder,
        user.client_key.as_deref(),
        user.client_key_data.as_deref(),
        "client-key-data",
    )?;
    let own = match (certificate, key) {
        (Some(certificate), Some(key)) => Some(KeyPair { certificate, key }),
        (None, None) => None,
        _ => return Err("its user has a certificate or a key, but not both".to_owned()),
    };
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let login = if let Some(file) = given(&user.token_file) {
        Login::TokenFile(folder.join(file))
    } else if let Some(token) = given(&user.token) {
        Login::Token(token)
    } else if let Some(name) = given(&user.username) {
        Login::Basic {
            user: name,
            password: user.password.clone().unwrap_or_default(),
        }
    } else if let Some(exec) = &user.exec {
        Login::Exec(plugin(folder, exec, cluster)?)
    } else if user.auth_provider.is_some() {
        return Err(
            "its user has an auth-provider, which Kubernetes no longer has: use an exec plugin"
                .to_owned(),
        );
    } else {
        Login::Nothing
    };
    Ok(Identity { own, login })
}

fn plugin(folder: &Path, exec: &Exec, cluster: &Cluster) -> Result<ExecPlugin, String> {
    let version = &exec.api_version;
    if !EXEC_VERSIONS.contains(&version.as_str()) {
        let known = EXEC_VERSIONS.join(" and ");
        return Err(format!("its plugin speaks {version:?}, and not {known}"));
    }
    check_interactive_mode(exec)?;
    if exec.command.is_empty() {
        return Err("its plugin has no command".to_owned());
    }
    let environment = exec.env.iter().flatten();
    if environment.clone().any(|one| one.name.is_empty()) {
        return Err("its plugin has an environment variable without a name".to_owned());
    }
    Ok(ExecPlugin {
        command: exec.command.clone(),
        arguments: exec.args.clone().unwrap_or_default(),
        environment: environment
            .map(|one| (one.name.clone(), one.value.clone()))
            .collect(),
        api_version: version.clone(),
        cluster: exec
            .provide_cluster_info
            .then(|| told(folder, cluster))
            .transpose()?,
        install_hint: exec.install_hint.clone(),
        folder: folder.to_owned(),
    })
}

/// Refuses a plugin that needs a person, and what `kubectl` refuses: a mode that there is not, and none where one must be said.
fn check_interactive_mode(exec: &Exec) -> Result<(), String> {
    let needed = exec.api_version == EXEC_VERSIONS[0];
    match exec.interactive_mode.as_deref().unwrap_or_default() {
        "Always" => Err(
            "its plugin needs a person, and nobody sits here: interactiveMode is Always".to_owned(),
        ),
        "" if needed => Err(format!(
            "its plugin must have an interactiveMode, Never or IfAvailable, since it speaks {}",
            exec.api_version
        )),
        "" | "Never" | "IfAvailable" => Ok(()),
        other => Err(format!(
            "its plugin has the interactiveMode {other:?}, and not Never or IfAvailable"
        )),
    }
}

/// What a plugin is told of the cluster.
fn told(folder: &Path, cluster: &Cluster) -> Result<Value, String> {
    let ca = match (
        &cluster.certificate_authority_data,
        &cluster.certificate_authority,
    ) {
        (Some(data), _) if !data.is_empty() => Some(data.clone()),
        (_, Some(file)) if !file.is_empty() => {
            let path = folder.join(file);
            let bytes = std::fs::read(&path);
            let bytes =
                bytes.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
            Some(BASE64.encode(&bytes))
        }
        _ => None,
    };
    let mut told = json!({"server": cluster.server});
    let texts = [
        ("certificate-authority-data", ca),
        ("tls-server-name", cluster.tls_server_name.clone()),
        ("proxy-url", cluster.proxy_url.clone()),
    ];
    for (key, text) in texts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            told[key] = text.into();
        }
    }
    let switches = [
        ("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify),
        ("disable-compression", cluster.disable_compression),
    ];
    for (key, _) in switches.iter().filter(|(_, is_on)| *is_on) {
        told[*key] = true.into();
    }
    let extensions = cluster.extensions.iter().flatten();
    let mut own = extensions.filter(|one| one.name == "client.authentication.k8s.io/exec");
    if let Some(extension) = own.next() {
        told["config"] = extension.extension.clone();
    }
    Ok(told)
}

fn impersonation(user: &User) -> Result<Impersonation, String> {
    if user
        .impersonate_extra
        .as_ref()
        .is_some_and(|extra| !extra.is_empty())
    {
        return Err("its user has as-user-extra, which is not known here".to_owned());
    }
    let found = Impersonation {
        user: user.impersonate.clone().filter(|name| !name.is_empty()),
        uid: user.impersonate_uid.clone().filter(|uid| !uid.is_empty()),
        groups: user.impersonate_groups.clone().unwrap_or_default(),
    };
    if found.user.is_none() && found != Impersonation::default() {
        return Err("its user has as-groups or as-uid without as".to_owned());
    }
    Ok(found)
}

/// A PEM text: what is in the kubeconfig counts before a file beside it.
fn pem(
    folder: &Path,
    file: Option<&str>,
    data: Option<&str>,
    key: &str,
) -> Result<Option<Pem>, String> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let letters: String = data.split_whitespace().collect();
        let bytes = BASE64.decode(letters.as_bytes());
        let bytes = bytes.map_err(|_| format!("its {key} is no base64"))?;
        return Ok(Some(Pem::Bytes(Arc::from(bytes))));
    }
    let file = file.filter(|file| !file.is_empty());
    Ok(file.map(|file| Pem::File(folder.join(file))))
}

#[cfg(test)]
mod tests;
