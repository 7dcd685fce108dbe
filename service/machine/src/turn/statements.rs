//! Records the last statement of each member. Moves no revision, because no reader sees it.

use synod_model::MemberId;

use super::Turn;
use crate::StatementRow;
use crate::hashes::statement_hash;

impl Turn<'_> {
    /// Records the last accepted statement of a member. A refused statement is never recorded.
    pub(crate) fn take_statement(&mut self, id: &MemberId, said: StatementRow) {
        self.state.sum.add(statement_hash(id, &said));
        if let Some(before) = self.state.statements.insert(id.clone(), said) {
            self.state.sum.subtract(statement_hash(id, &before));
        }
    }

    /// Forgets the last statement of a member, because statement numbers count within one epoch.
    pub(crate) fn forget_statements(&mut self, id: &MemberId) {
        if let Some(before) = self.state.statements.remove(id) {
            self.state.sum.subtract(statement_hash(id, &before));
        }
    }
}
