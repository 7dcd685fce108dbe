//! The examples of `synod migrations`.

pub(in crate::args) const MIGRATIONS_LIST: &str = "\
Examples:
  synod migrations list
  synod migrations list -o wide";

pub(in crate::args) const MIGRATIONS_GET: &str = "\
Examples:
  synod migrations get jobs.batch-41
  synod migrations get jobs.batch-41 -o json";

pub(in crate::args) const MIGRATIONS_WATCH: &str = "\
Examples:
  synod migrations watch jobs.batch-41";

pub(in crate::args) const MIGRATIONS_START: &str = "\
Examples:
  synod migrations start jobs.batch
  synod migrations start jobs.batch --alias jobs-to-v2
  synod migrations watch $(synod migrations start jobs.batch --rewrite-all)

Prints the name of the migration.";

pub(in crate::args) const MIGRATIONS_ABORT: &str = "\
Examples:
  synod migrations abort jobs.batch-41";

pub(in crate::args) const MIGRATIONS_DELETE: &str = "\
Examples:
  synod migrations delete jobs.batch-41
  synod migrations delete jobs-to-v2 --if-revision 58";

pub(in crate::args) const MIGRATIONS_RETRY: &str = "\
Examples:
  synod migrations retry jobs.batch-41";

pub(in crate::args) const MIGRATIONS_RELEASE: &str = "\
Examples:
  synod migrations release jobs.batch-41
  synod migrations release jobs.batch-41 --token 58";

pub(in crate::args) const MIGRATIONS_RESET: &str = "\
Examples:
  synod migrations reset jobs.batch
  synod migrations reset --all --dry-run
  synod migrations reset --all";
