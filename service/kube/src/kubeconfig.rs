//! The file that points kubectl at a replica.

use serde_json::{Value, json};

/// A kubeconfig for the Kubernetes API at `server` (`https://host:port`), as JSON, which is YAML.
///
/// It has neither a CA nor a certificate of who calls: a replica knows none of those that its clients need.
#[must_use]
pub fn kubeconfig(server: &str) -> String {
    const NAME: &str = "synod";
    let config: Value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": NAME, "cluster": { "server": server } }],
        "users": [{ "name": NAME, "user": {} }],
        "contexts": [{ "name": NAME, "context": { "cluster": NAME, "user": NAME } }],
        "current-context": NAME,
    });
    format!("{config:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubeconfig_points_at_the_server_that_it_is_given() {
        let text = kubeconfig("https://127.0.0.1:4630");
        let config: Value = serde_json::from_str(&text).unwrap_or_default();
        let cluster = &config["clusters"][0];
        assert_eq!(cluster["cluster"]["server"], "https://127.0.0.1:4630");
        assert_eq!(config["current-context"], cluster["name"]);
    }
}
