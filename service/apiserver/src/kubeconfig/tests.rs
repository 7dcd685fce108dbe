use std::fs;

use tempfile::TempDir;

use super::*;

const ONE: &str = r#"
apiVersion: v1
kind: Config
current-context: one
preferences: {}
contexts:
- {name: one, context: {cluster: a, user: file, namespace: default}}
- {name: two, context: {cluster: b, user: plugin}}
- {name: three, context: {cluster: nowhere, user: file}}
- {name: four, context: {cluster: both, user: file}}
- {name: five, context: {cluster: a, user: person}}
- {name: six, context: {cluster: a, user: old}}
- {name: seven, context: {cluster: a, user: half}}
- {name: eight, context: {cluster: a, user: other}}
clusters:
- name: a
  cluster: {server: "https://10.0.0.1:6443", certificate-authority: ca.crt, tls-server-name: kubernetes}
- name: b
  cluster:
    server: https://b.example
    insecure-skip-tls-verify: true
    proxy-url: socks5://proxy:1080
    disable-compression: true
    extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]
- name: both
  cluster: {server: "https://c", certificate-authority-data: Q0E=, insecure-skip-tls-verify: true}
users:
- {name: file, user: {tokenFile: tokens/one, token: hunter2}}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: [--now]
      env: [{name: WHO, value: me}]
      interactiveMode: IfAvailable
      provideClusterInfo: true
- name: person
  user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login, interactiveMode: Always}}
- {name: old, user: {auth-provider: {name: gcp}}}
- {name: half, user: {client-key-data: S0VZ}}
- {name: other, user: {as: alice, as-groups: [admins], client-certificate-data: Q0VS VA==, client-key: own.key}}
"#;

fn written(text: &str) -> (TempDir, Kubeconfig) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    fs::write(&path, text).unwrap();
    let read = Kubeconfig::read(&[path]).unwrap();
    (folder, read)
}

#[test]
fn paths_are_beside_the_file_and_the_file_of_a_token_counts_before_the_token() {
    let (folder, config) = written(ONE);
    let access = config.access(None).unwrap();
    assert_eq!(access.address.url(), "https://10.0.0.1:6443");
    assert_eq!(
        access.trust,
        Trust::Ca(Pem::File(folder.path().join("ca.crt")))
    );
    assert_eq!(access.server_name.as_deref(), Some("kubernetes"));
    assert_eq!(
        access.identity.login,
        Login::TokenFile(folder.path().join("tokens/one"))
    );
    assert!(!format!("{config:?}{access:?}").contains("hunter2"));
}

#[test]
fn a_plugin_is_told_of_the_cluster_if_it_asks() {
    let (_folder, config) = written(ONE);
    let access = config.access(Some("two")).unwrap();
    assert_eq!(access.trust, Trust::Anybody);
    assert!(matches!(&access.proxy, Proxy::At(proxy) if proxy.host() == Some("proxy")));
    let Login::Exec(plugin) = access.identity.login else {
        panic!("{:?}", access.identity);
    };
    let cluster = plugin.cluster.unwrap();
    assert_eq!(cluster["config"]["audience"], "x");
    assert_eq!(cluster["insecure-skip-tls-verify"], true);
    assert_eq!(cluster["disable-compression"], true);
    assert_eq!(cluster["proxy-url"], "socks5://proxy:1080");
    assert_eq!(plugin.environment, [("WHO".to_owned(), "me".to_owned())]);
}

#[test]
fn what_cannot_be_used_is_named() {
    let (_folder, config) = written(ONE);
    for (context, part) in [
        ("none", "there is none"),
        ("three", "no cluster \"nowhere\""),
        ("four", "only one of them"),
        ("five", "needs a person"),
        ("six", "auth-provider"),
        ("seven", "not both"),
    ] {
        let fault = config.access(Some(context)).unwrap_err().to_string();
        assert!(fault.contains(part), "{context}: {fault}");
    }
}

#[test]
fn a_plugin_is_refused_where_kubectl_refuses_it() {
    let asked = |exec: &str| {
        let context = "{current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
            clusters: [{name: a, cluster: {server: 'https://a'}}], users: [{name: a, user: {exec: EXEC}}]}";
        let (_folder, config) = written(&context.replace("EXEC", exec));
        config.access(None)
    };
    let of = |version: &str, rest: &str| {
        format!("{{apiVersion: client.authentication.k8s.io/{version}, command: login{rest}}}")
    };
    for (exec, part) in [
        (of("v1", ""), "must have an interactiveMode"),
        (of("v1", ", interactiveMode: Often"), "\"Often\""),
        (of("v1beta1", ", interactiveMode: Always"), "needs a person"),
        (of("v1alpha1", ""), "v1alpha1"),
        (of("v1beta1", "").replace("login", "''"), "has no command"),
        (
            of("v1beta1", ", env: [{name: '', value: a}]"),
            "without a name",
        ),
    ] {
        let fault = asked(&exec).unwrap_err().to_string();
        assert!(fault.contains(part), "{exec}: {fault}");
    }
    for exec in [
        of("v1", ", interactiveMode: Never"),
        of("v1beta1", ", env: [{name: A}]"),
    ] {
        asked(&exec).unwrap();
    }
}

#[test]
fn a_user_who_acts_as_another_says_so_with_every_request() {
    let (_folder, config) = written(ONE);
    let access = config.access(Some("eight")).unwrap();
    assert_eq!(access.impersonation.user.as_deref(), Some("alice"));
    let headers = access.impersonation.headers().unwrap();
    assert_eq!(headers.len(), 2);
    assert_eq!(headers[1].1, "admins");
    assert!(access.identity.own.is_some());
}

#[test]
fn of_several_files_the_first_counts_that_names_something() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    fs::write(
        &first,
        "clusters: [{name: a, cluster: {server: 'https://first'}}]",
    )
    .unwrap();
    fs::write(&second, ONE).unwrap();
    let list = std::env::join_paths([&first, &second, &folder.path().join("missing")]).unwrap();
    let list = list.into_string().unwrap();
    let variable = |name: &str| (name == "KUBECONFIG").then(|| list.clone());
    let config = Kubeconfig::find(None, variable).unwrap().unwrap();
    assert_eq!(config.access(None).unwrap().address.url(), "https://first");
    assert!(Kubeconfig::find(None, |_| None).unwrap().is_none());
}

#[test]
fn a_file_that_is_no_kubeconfig_is_named_without_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    fs::write(&path, "users: [{name: a, user: hunter2}]").unwrap();
    let fault = Kubeconfig::read(&[path]).unwrap_err().to_string();
    assert!(
        fault.contains("line 1") && !fault.contains("hunter2"),
        "{fault}"
    );
}

#[test]
fn a_list_that_is_null_is_empty() {
    for text in [
        "{current-context: null, contexts: null, clusters: null, users: null}",
        "current-context:\ncontexts:\nclusters:\nusers:\n",
    ] {
        let (_folder, config) = written(text);
        assert!(config.access(None).is_err(), "it names no server");
    }
    let nobody =
        "{current-context: one, contexts: [{name: one, context: {cluster: a}}], users: null,
        clusters: [{name: a, cluster: {server: 'https://a'}}]}";
    let (_folder, config) = written(nobody);
    assert_eq!(config.access(None).unwrap().identity, Identity::default());
}
