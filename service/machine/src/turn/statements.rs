//! What members said last. Moves no revision: nobody reads it.

use synod_model::MemberId;

use super::Turn;
use crate::StatementRow;
use crate::hashes::statement_hash;

impl Turn<'_> {
    /// Notes the last statement of a member that was taken. One that is refused was not taken, and is never noted.
    pub(crate) fn take_statement(&mut self, id: &MemberId, said: StatementRow) {
        self.state.sum.add(statement_hash(id, &said));
        if let Some(before) = self.state.statements.insert(id.clone(), said) {
            self.state.sum.subtract(statement_hash(id, &before));
        }
    }

    /// Nothing that was said under an epoch that is over counts under another.
    pub(crate) fn forget_statements(&mut self, id: &MemberId) {
        if let Some(before) = self.state.statements.remove(id) {
            self.state.sum.subtract(statement_hash(id, &before));
        }
    }
}
