//! The kind of a resource, for who reports it and does not say: a StorageVersion of Kubernetes names none.

/// The kinds of Kubernetes' own resources whose names are more than one word, or end as no other does.
///
/// What stands here is part of the hash by which a stored version is known, so a name that is wrong looks like another version
/// in discovery.
const KINDS: [&str; 58] = [
    "APIService",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "ConfigMap",
    "ControllerRevision",
    "CronJob",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "CustomResourceDefinition",
    "DaemonSet",
    "DeviceClass",
    "DeviceTaintRule",
    "EndpointSlice",
    "FlowSchema",
    "HorizontalPodAutoscaler",
    "IngressClass",
    "IPAddress",
    "LeaseCandidate",
    "LimitRange",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "NetworkPolicy",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodCertificateRequest",
    "PodDisruptionBudget",
    "PodGroup",
    "PodSecurityPolicy",
    "PodTemplate",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ReplicaSet",
    "ReplicationController",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceQuota",
    "ResourceSlice",
    "RoleBinding",
    "RuntimeClass",
    "ServiceAccount",
    "ServiceCIDR",
    "StatefulSet",
    "StorageClass",
    "StorageState",
    "StorageVersion",
    "StorageVersionMigration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
    "VolumeAttributesClass",
    "VolumeSnapshot",
    "VolumeSnapshotClass",
    "VolumeSnapshotContent",
];

/// The kind of a resource by its plural name: the one that Kubernetes has for it, or else its singular with a capital.
pub(crate) fn kind_of(plural: &str) -> String {
    if plural == "endpoints" {
        return "Endpoints".to_owned();
    }
    let singular = singular(plural);
    let known = KINDS
        .iter()
        .find(|kind| kind.eq_ignore_ascii_case(&singular));
    if let Some(kind) = known {
        return (*kind).to_owned();
    }
    // No kind has a dash, nor begins with a digit.
    let plain: String = singular
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .skip_while(char::is_ascii_digit)
        .collect();
    match plain.split_at_checked(1) {
        Some((first, rest)) => format!("{}{rest}", first.to_ascii_uppercase()),
        None => "Object".to_owned(),
    }
}

/// The singular of a plural, by the rules by which Kubernetes' own generators make plurals.
fn singular(plural: &str) -> String {
    for (ending, own) in [
        ("ies", "y"),
        ("sses", "ss"),
        ("xes", "x"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("s", ""),
    ] {
        if let Some(stem) = plural.strip_suffix(ending)
            && !stem.is_empty()
        {
            return format!("{stem}{own}");
        }
    }
    plural.to_owned()
}

#[cfg(test)]
mod tests {
    use synod_model::Kind;

    use super::*;

    #[test]
    fn the_kind_follows_from_the_plural() {
        for (plural, kind) in [
            ("pods", "Pod"),
            ("deployments", "Deployment"),
            ("ingresses", "Ingress"),
            ("networkpolicies", "NetworkPolicy"),
            ("csistoragecapacities", "CSIStorageCapacity"),
            ("ipaddresses", "IPAddress"),
            ("endpoints", "Endpoints"),
            ("leases", "Lease"),
            ("storageclasses", "StorageClass"),
            ("flowschemas", "FlowSchema"),
            ("widgets", "Widget"),
            ("my-things", "Mything"),
            ("3s", "Object"),
            ("s", "S"),
        ] {
            assert_eq!(kind_of(plural), kind, "{plural}");
            assert!(Kind::parse(kind).is_ok());
        }
    }
}
