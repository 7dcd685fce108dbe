//! Limits the rate of HTTP/2 control frames (settings, pings, window updates, priorities), which carry no request.
//!
//! HTTP/2 lets a peer send as many as it likes. A client needs few: answers to this replica's pings and settings, and
//! windows for what it has read. So each costs a token; tokens are granted for time and for bytes that were sent.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::{CONTROL_FRAMES_MAX, CONTROL_FRAMES_PER_SECOND};

/// The length of the preface that every HTTP/2 connection begins with.
pub(super) const PREFACE_BYTES: usize = PREFACE.len();

/// The length of a frame's head.
const HEAD: usize = 9;

/// The number of sent bytes that grant a token: no client has to grow a window for less.
const BYTES_PER_TOKEN: usize = 512;

/// The types of frames that carry requests.
mod kind {
    pub(super) const DATA: u8 = 0;
    pub(super) const HEADERS: u8 = 1;
    pub(super) const RST_STREAM: u8 = 3;
    pub(super) const CONTINUATION: u8 = 9;
}

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoken {
    /// It has not sent enough to tell.
    Unknown,
    Http1,
    Http2,
}

/// Finds out whether a connection begins as one of HTTP/2 does.
#[derive(Debug)]
pub(super) struct Preface {
    /// The number of received bytes, all of which are as they would be; `None`: one was not.
    matched: Option<usize>,
}

/// No method of HTTP/1 is called so.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

impl Default for Preface {
    fn default() -> Self {
        Self { matched: Some(0) }
    }
}

impl Preface {
    /// What is spoken, by all that was received, with these bytes at its end.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> Spoken {
        for byte in bytes {
            let Some(matched) = self.matched.filter(|matched| *matched < PREFACE.len()) else {
                break;
            };
            self.matched = (PREFACE[matched] == *byte).then_some(matched + 1);
        }
        match self.matched {
            None => Spoken::Http1,
            Some(PREFACE_BYTES) => Spoken::Http2,
            Some(_) => Spoken::Unknown,
        }
    }
}

/// Follows the frames that arrive on one connection, and counts its tokens.
#[derive(Debug)]
pub(super) struct Frames {
    /// The bytes to skip before the next frame's head.
    left: usize,
    head: [u8; HEAD],
    headed: usize,
    tokens: usize,
    /// The time up to which tokens were granted.
    paid: Instant,
    /// Sent bytes that have not been turned into tokens yet.
    sent: usize,
}

impl Frames {
    /// The frames of a connection that begins now.
    pub(super) fn new() -> Self {
        Self {
            left: PREFACE_BYTES,
            head: [0; HEAD],
            headed: 0,
            tokens: CONTROL_FRAMES_MAX,
            paid: Instant::now(),
            sent: 0,
        }
    }

    /// Grants tokens for bytes that were sent.
    pub(super) fn send(&mut self, bytes: usize) {
        self.sent += bytes;
        let (tokens, rest) = (self.sent / BYTES_PER_TOKEN, self.sent % BYTES_PER_TOKEN);
        self.sent = rest;
        self.pay(tokens);
    }

    /// Reads the frames in `bytes`. False: there are too many control frames.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) -> bool {
        let mut cost = 0;
        while !bytes.is_empty() {
            let passed = self.left.min(bytes.len());
            self.left -= passed;
            bytes = &bytes[passed..];
            let taken = (HEAD - self.headed).min(bytes.len());
            if self.left > 0 || taken == 0 {
                continue;
            }
            self.head[self.headed..self.headed + taken].copy_from_slice(&bytes[..taken]);
            self.headed += taken;
            bytes = &bytes[taken..];
            if self.headed == HEAD {
                cost += usize::from(self.begin());
                self.headed = 0;
            }
        }
        self.charge(cost)
    }

    /// Begins the frame whose head was read. Returns whether it costs a token.
    fn begin(&mut self) -> bool {
        let [high, middle, low, kind, ..] = self.head;
        self.left = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        match kind {
            // The number of streams, and how often they are reset, have limits of their own.
            kind::HEADERS | kind::CONTINUATION | kind::RST_STREAM => false,
            kind::DATA => self.left == 0,
            _ => true,
        }
    }

    fn charge(&mut self, cost: usize) -> bool {
        if cost == 0 {
            return true;
        }
        let per_token = Duration::from_secs(1) / CONTROL_FRAMES_PER_SECOND;
        let due = self.paid.elapsed().as_nanos() / per_token.as_nanos();
        let due = u32::try_from(due).unwrap_or(u32::MAX);
        self.paid += per_token * due;
        self.pay(due as usize);
        match self.tokens.checked_sub(cost) {
            Some(left) => {
                self.tokens = left;
                true
            }
            None => false,
        }
    }

    fn pay(&mut self, tokens: usize) {
        self.tokens = (self.tokens + tokens).min(CONTROL_FRAMES_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: u8 = 6;

    /// A frame of a kind that carries this many bytes.
    fn frame(kind: u8, bytes: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, bytes, kind, 0, 0, 0, 0, 0];
        frame.extend(vec![PING; usize::from(bytes)]);
        frame
    }

    fn begun() -> Frames {
        let mut frames = Frames::new();
        assert!(frames.pass(&[PING; PREFACE_BYTES]));
        frames
    }

    #[tokio::test(start_paused = true)]
    async fn every_frame_is_seen_however_the_bytes_are_cut() {
        let frames = [
            frame(kind::HEADERS, 40),
            frame(kind::DATA, 200),
            frame(PING, 8),
        ];
        let bytes = [frames.concat(), frame(kind::DATA, 0), frame(kind::DATA, 1)].concat();
        for cut in 1..=bytes.len() {
            let mut frames = begun();
            bytes
                .chunks(cut)
                .for_each(|piece| assert!(frames.pass(piece)));
            assert_eq!(CONTROL_FRAMES_MAX - frames.tokens, 2, "in pieces of {cut}");
            assert_eq!((frames.left, frames.headed), (0, 0), "in pieces of {cut}");
        }
    }

    #[test]
    fn the_preface_is_found_however_the_bytes_are_cut_and_nowhere_else() {
        for cut in 1..PREFACE.len() {
            let mut preface = Preface::default();
            let heard = PREFACE.chunks(cut).map(|piece| preface.hear(piece));
            let heard: Vec<Spoken> = heard.collect();
            let (last, before) = heard.split_last().unwrap();
            assert_eq!(*last, Spoken::Http2, "in pieces of {cut}");
            assert!(before.iter().all(|heard| *heard == Spoken::Unknown));
        }
        let mut preface = Preface::default();
        assert_eq!(preface.hear(b"GET / HTTP/1.1\r\n"), Spoken::Http1);
        assert_eq!(preface.hear(PREFACE), Spoken::Http1);
    }

    #[tokio::test(start_paused = true)]
    async fn there_may_be_as_many_as_time_and_bytes_pay_for() {
        let mut frames = begun();
        let most = frame(PING, 8).repeat(CONTROL_FRAMES_MAX);
        assert!(frames.pass(&most));
        assert!(!frames.pass(&frame(PING, 8)));
        tokio::time::advance(Duration::from_millis(10)).await;
        assert!(frames.pass(&frame(PING, 8).repeat(10)));
        assert!(!frames.pass(&frame(PING, 8)));
        frames.send(3 * BYTES_PER_TOKEN);
        assert!(frames.pass(&frame(PING, 8).repeat(3)));
        assert!(!frames.pass(&frame(PING, 8)));
    }
}
