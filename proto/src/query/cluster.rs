use synod_model::Violations;

use super::Consistency;
use super::consistency::consistency;
use crate::fields::sound;
use crate::v1;

/// Asks for the replicated settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetSettings {
    /// How to read.
    pub read: Consistency,
}

impl From<&GetSettings> for v1::ClusterGetSettingsRequest {
    fn from(get: &GetSettings) -> Self {
        Self {
            read: Some(get.read.into()),
        }
    }
}

impl TryFrom<v1::ClusterGetSettingsRequest> for GetSettings {
    type Error = Violations;

    fn try_from(pb: v1::ClusterGetSettingsRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let read = consistency(pb.read, &mut found);
        sound(Self { read }, found)
    }
}
