//! `synod demo`: the whole path, on this machine, in less than a minute.
//!
//! Three replicas, three API servers, one server of another kind and their store run as processes of their own. Clients
//! write all the time, while the servers are upgraded one by one, first in report mode, then in vote mode, and the leader
//! of the replicas is killed. One kind of object they keep in Synod, the others in their store. In the last act workers
//! migrate what is stored in the old version still, until a release that cannot read it may join. A fourth API server takes
//! no part at first: what is called safe then says what it assumes, and once a roster asks for that server, nothing is safe
//! until it takes part. Everything is recorded as it happens; the [`check`] at the end reads the recordings, and nothing
//! else, and decides whether every promise was kept.
//!
//! | module | what |
//! |---|---|
//! | [`story`] | what happens, in its order |
//! | [`cluster`], [`servers`], [`workers`], [`recorders`] | the processes of the run |
//! | [`apiserver`], [`store`], [`migrator`] | what runs in them, beside `synod serve` and `synod watch` |
//! | [`clients`], [`survey`] | what goes on meanwhile |
//! | [`release`], [`codec`] | what the servers know, and how they store it |
//! | [`records`], [`check`] | what is recorded, and what must hold |
//! | [`stage`], [`board`], [`picture`], [`screen`] | what is shown |
//! | [`leash`], [`processes`], [`ports`], [`patience`] | nothing stays behind, nothing waits for ever |

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
