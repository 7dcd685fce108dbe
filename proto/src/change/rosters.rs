use synod_model::{DeleteRoster, ResourceScope, Revision, SetRoster, Violations};

use super::{Change, key};
use crate::convert::roster_rule;
use crate::fields::sound;
use crate::v1;

impl From<&Change<SetRoster>> for v1::RostersSetRequest {
    fn from(change: &Change<SetRoster>) -> Self {
        let set = &change.body;
        Self {
            request_id: change.wire_key(),
            scope: set.scope.to_string(),
            rule: Some((&set.rule).into()),
            if_revision: set.if_revision.map(Revision::get),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::RostersSetRequest> for Change<SetRoster> {
    type Error = Violations;

    fn try_from(pb: v1::RostersSetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let scope = found.parsed("scope", ResourceScope::parse(&pb.scope));
        let rule = found.parsed("rule", roster_rule(pb.rule));
        let (Some(scope), Some(rule)) = (scope, rule) else {
            return Err(found);
        };
        let body = SetRoster {
            scope,
            rule,
            if_revision: pb.if_revision.map(Revision::new),
        };
        found.extend_at("rule", body.check());
        let change = Self {
            key: key.id,
            session_cluster: key.cluster,
            ..Change::new(body)
        };
        sound(change, found)
    }
}

impl From<&Change<DeleteRoster>> for v1::RostersDeleteRequest {
    fn from(change: &Change<DeleteRoster>) -> Self {
        let delete = &change.body;
        Self {
            request_id: change.wire_key(),
            scope: delete.scope.to_string(),
            if_revision: delete.if_revision.map(Revision::get),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::RostersDeleteRequest> for Change<DeleteRoster> {
    type Error = Violations;

    fn try_from(pb: v1::RostersDeleteRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let Some(scope) = found.parsed("scope", ResourceScope::parse(&pb.scope)) else {
            return Err(found);
        };
        let body = DeleteRoster {
            scope,
            if_revision: pb.if_revision.map(Revision::new),
        };
        let change = Self {
            key: key.id,
            session_cluster: key.cluster,
            ..Change::new(body)
        };
        sound(change, found)
    }
}
