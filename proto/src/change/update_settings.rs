use synod_model::UpdateSettings;

use super::{Change, requests};
use crate::{messages, v1};

requests! {
    v1::ClusterUpdateSettingsRequest = UpdateSettings;
}

messages! {
    v1::ClusterUpdateSettingsRequest = UpdateSettings {
        patch = patch,
        if_revision = if_revision,
        ; ..Default::default()
    } => check
}
