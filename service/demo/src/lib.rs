//! `synod demo`: shows an upgrade from its beginning to its end, on this machine, in less than a minute.
//!
//! Three replicas, three API servers, one server of another kind and their store run as processes of their own. Clients
//! write all the time, while the servers are upgraded one by one, first in report mode, then in vote mode, and the
//! leader of the replicas is killed. Trinkets are kept in Synod, all other objects in the servers' store. In the last
//! act workers migrate the objects that are still stored in the old version; until they are done, a release that cannot
//! read that version may not join. A fourth API server is no member at first: verdicts of safety then name that
//! assumption, and once a roster asks for that server, nothing is safe until it has joined. Everything is recorded as
//! it happens. At the end [`check`] reads the recordings, and nothing else, and decides whether every promise was kept.
//! else, and decides whether every promise was kept.
//!
//! | module | what |
//! |---|---|
//! | [`story`] | the acts of the demo, in their order |
//! | [`cluster`], [`servers`], [`workers`], [`recorders`] | the processes of the run |
//! | [`apiserver`], [`store`], [`migrator`] | the programs of these processes, beside `synod serve` and `synod watch` |
//! | [`clients`], [`survey`] | what runs beside the story all the time |
//! | [`release`], [`codec`] | what the servers' releases encode and decode, and the shapes of objects |
//! | [`records`], [`check`] | what is recorded, and the promises that are checked |
//! | [`stage`], [`board`], [`picture`], [`screen`] | what is shown |
//! | [`leash`], [`processes`], [`ports`], [`patience`] | no process is left behind, and every wait has a limit |

mod apiserver;
mod args;
mod board;
mod check;
mod clients;
mod clock;
mod cluster;
mod codec;
mod home;
mod journal;
mod leash;
mod migrator;
mod patience;
mod picture;
mod ports;
mod processes;
mod recorders;
mod records;
mod release;
mod report;
mod run;
mod screen;
mod servers;
mod stage;
mod store;
mod story;
mod survey;
mod whole;
mod workers;

pub use apiserver::{ApiServerArgs, run as run_apiserver};
pub use args::{DemoArgs, Violation};
pub use leash::{LeashArgs, run as run_leash};
pub use migrator::{MigratorArgs, run as run_migrator};
pub use store::{StoreArgs, run as run_store};
pub use whole::run;
