//! Commands that move switches.

use synod_machine::Command;
use synod_model::{Feature, SettingsPatch, Switch, UpdateSettings};

/// Moves the switch of one feature.
pub(crate) fn switch(feature: Feature, to: Switch) -> Command {
    let mut patch = SettingsPatch::default();
    let field = match feature {
        Feature::Votes => &mut patch.votes,
        Feature::Objects => &mut patch.objects,
        Feature::Histories => &mut patch.histories,
        Feature::Leases => &mut patch.leases,
        Feature::Migrations => &mut patch.migrations,
    };
    *field = Some(to);
    Command::UpdateSettings(UpdateSettings {
        patch,
        if_revision: None,
    })
}
