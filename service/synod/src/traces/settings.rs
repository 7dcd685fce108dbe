//! Where traces go, and which calls are traced. What no flag says is read from the variables that all programs with
//! OpenTelemetry have in common.

use opentelemetry::{Key, KeyValue};
use opentelemetry_sdk::Resource;
use synod_tls::{ClientTls, KeyPair, Pem};
use tonic::transport::Uri;

use super::ADVICE;
use crate::failure::Failure;

/// The name of the service in traces, unless the environment gives another.
const SERVICE: &str = "synod";

/// The variables with the collector, the first that is set first.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

/// The variables with the protocol, the first that is set first.
const PROTOCOLS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];

/// The variables with the CA bundle of a collector behind TLS, the certificate that it is shown, and the key of that; of each
/// the first that is set first.
const TRUSTED_CA: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
];
const CERTIFICATE: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
];
const KEY: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
];

/// The settings of traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TraceSettings {
    /// The collector, if a flag or a file names one.
    pub(crate) endpoint: Option<String>,
    /// How many of the calls are traced whose callers do not say whether they are, if a flag or a file says so.
    pub(crate) ratio: Option<Ratio>,
    /// How a collector behind TLS is called, if flags or a file say so.
    pub(crate) tls: Option<ClientTls>,
}

/// A share of calls, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ratio(u32);

impl TraceSettings {
    /// The collector; `None`: there are no traces.
    ///
    /// # Errors
    ///
    /// The environment names what is no URL.
    pub(super) fn endpoint(&self) -> Result<Option<String>, Failure> {
        if variable("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let found = match self.endpoint.clone() {
            Some(given) => Some(given),
            None => ENDPOINTS
                .into_iter()
                .find_map(|name| Some((name, variable(name)?)))
                .map(|(name, text)| {
                    endpoint(&text).map_err(|rule| Failure::local(format!("{name} {rule}"), ADVICE))
                })
                .transpose()?,
        };
        let Some(endpoint) = found else {
            return Ok(None);
        };
        let protocol = PROTOCOLS.into_iter().find_map(variable);
        if let Some(protocol) = protocol.filter(|protocol| protocol != "grpc") {
            tracing::warn!(
                protocol,
                "traces are exported by gRPC, which is the only protocol here"
            );
        }
        Ok(Some(endpoint))
    }

    /// How a collector behind TLS is called. `None`: nothing says which CA it is trusted by.
    ///
    /// # Errors
    ///
    /// The environment names a certificate without its key, or a key without its certificate.
    pub(super) fn tls(&self) -> Result<Option<ClientTls>, Failure> {
        if self.tls.is_some() {
            return Ok(self.tls.clone());
        }
        let file = |names: [&str; 2]| {
            let name = names.into_iter().find_map(variable);
            name.map(|name| Pem::File(name.into()))
        };
        let own = match (file(CERTIFICATE), file(KEY)) {
            (Some(certificate), Some(key)) => Some(KeyPair { certificate, key }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                let message = "the environment names a certificate or a key for the collector of traces, and not both";
                return Err(Failure::local(message, ADVICE));
            }
        };
        Ok(file(TRUSTED_CA).map(|trusted_ca| ClientTls {
            trusted_ca,
            own,
            server_name: None,
        }))
    }

    /// How many of the calls are traced whose callers do not say. `None`: the environment names a sampler.
    pub(super) fn ratio(&self) -> Option<Ratio> {
        match self.ratio {
            None if variable("OTEL_TRACES_SAMPLER").is_some() => None,
            given => Some(given.unwrap_or_default()),
        }
    }
}

impl Ratio {
    /// Every call.
    pub(crate) const ALL: Self = Self(1_000_000);

    /// # Errors
    ///
    /// The text says what the ratio should look like.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let share = text.parse().ok();
        let share = share.filter(|share: &f64| (0.0..=1.0).contains(share));
        let share = share.ok_or("must be a number from 0 to 1, as in 0.01")?;
        Ok(Self((share * f64::from(Self::ALL.0)).round() as u32))
    }

    /// The share as a number from 0 to 1.
    pub(super) fn share(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ALL.0)
    }
}

/// Parses the URL of a collector.
///
/// # Errors
///
/// The text says what the URL should look like.
pub(crate) fn endpoint(text: &str) -> Result<String, String> {
    let rule = "must be a URL, as in http://127.0.0.1:4317, or in https://collector.example:4317 for one behind TLS";
    let uri: Uri = text.parse().map_err(|_| rule.to_owned())?;
    let is_url = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority().filter(|_| is_url).ok_or(rule)?;
    if authority.as_str().contains('@') {
        let rule =
            "must hold no password: give OTEL_EXPORTER_OTLP_HEADERS what the collector asks for";
        return Err(rule.to_owned());
    }
    Ok(text.to_owned())
}

/// What tells this process from others in traces.
pub(super) fn resource(process: Vec<KeyValue>) -> Resource {
    let named = Resource::builder().build();
    let name = named.get(&Key::new("service.name"));
    let is_named = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let builder = Resource::builder()
        .with_attribute(version)
        .with_attributes(process);
    match is_named {
        true => builder.build(),
        false => builder.with_service_name(SERVICE).build(),
    }
}

/// A variable of the environment that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_a_number_from_0_to_1() {
        for (text, ratio) in [("0", 0), ("1", 1_000_000), ("0.25", 250_000), ("1e-6", 1)] {
            assert_eq!(Ratio::parse(text), Ok(Ratio(ratio)), "{text}");
        }
        assert!((Ratio(250_000).share() - 0.25).abs() < f64::EPSILON);
        for bad in ["", "1.1", "-0.1", "NaN", "10%"] {
            assert!(
                Ratio::parse(bad).unwrap_err().contains("from 0 to 1"),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_collector_is_named_by_a_url_without_a_password() {
        for good in [
            "http://127.0.0.1:4317",
            "http://collector.example:4317",
            "https://collector.example:4317",
        ] {
            assert_eq!(endpoint(good).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "collector:4317",
            "127.0.0.1:4317",
            "grpc://collector:4317",
            "/path",
        ] {
            assert!(
                endpoint(bad).unwrap_err().contains("must be a URL"),
                "{bad}"
            );
        }
        let fault = endpoint("http://me:secret@collector:4317").unwrap_err();
        assert!(fault.contains("no password") && !fault.contains("secret"));
    }
}
