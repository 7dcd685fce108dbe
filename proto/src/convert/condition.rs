use synod_model::{Condition, ConditionStatus};

use crate::{messages, v1, wire_enums};

messages! {
    v1::Condition = Condition {
        kind = r#type,
        status = status,
        reason = reason,
        message = message,
        observed_generation = observed_generation,
        transition = last_transition_time_ms,
        transition_revision = last_transition_revision,
    }
}

wire_enums! {
    v1::ConditionStatus = ConditionStatus { True = True, False = False, Unknown = Unknown }
}
