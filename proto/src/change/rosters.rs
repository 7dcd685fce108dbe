use synod_model::{DeleteRoster, SetRoster};

use super::{Change, requests};
use crate::{messages, v1};

requests! {
    v1::RostersSetRequest = SetRoster;
    v1::RostersDeleteRequest = DeleteRoster;
}

messages! {
    v1::RostersSetRequest = SetRoster {
        scope = scope,
        rule = rule,
        if_revision = if_revision,
        ; ..Default::default()
    } => check
    v1::RostersDeleteRequest = DeleteRoster {
        scope = scope,
        if_revision = if_revision,
        ; ..Default::default()
    }
}
