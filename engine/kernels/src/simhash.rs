//! The numbers of phrases and texts. The twin is `engine.text.simhash`.

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const LANES: u64 = 0x0101_0101_0101_0101;

/// The number of votes that a counter of 8 bits can hold.
const VOTES_MAX: u32 = 255;

fn append(prefix: u64, last: u64) -> u64 {
    prefix.wrapping_mul(MULTIPLIER).wrapping_add(last)
}

/// Return the number of a phrase of at least one term, given the hashes of its terms.
pub fn phrase(hashes: impl Iterator<Item = u64>) -> u64 {
    hashes.reduce(append).unwrap_or(0).max(1)
}

/// Votes on each of 64 bits. Counter `lanes[bit]` holds eight counters of 8 bits, one for each byte of a vote.
struct Votes {
    lanes: [u64; 8],
    votes: u32,
    counts: [u64; 64],
}

impl Votes {
    fn add(&mut self, vote: u64) {
        for (bit, lane) in self.lanes.iter_mut().enumerate() {
            *lane = lane.wrapping_add(vote >> bit & LANES);
        }
        self.votes += 1;
        if self.votes == VOTES_MAX {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for (bit, lane) in self.lanes.iter_mut().enumerate() {
            for (byte, count) in lane.to_le_bytes().into_iter().enumerate() {
                self.counts[8 * byte + bit] += u64::from(count);
            }
            *lane = 0;
        }
        self.votes = 0;
    }
}

/// Return the fingerprint of a text with enough distinct terms, given the hashes of all its terms.
pub fn fingerprint(hashes: impl Iterator<Item = u64>) -> u64 {
    let mut votes = Votes { lanes: [0; 8], votes: 0, counts: [0; 64] };
    let mut terms: u64 = 0;
    let mut before = None;
    for hash in hashes {
        votes.add(hash);
        if let Some(before) = before {
            votes.add(append(before, hash));
        }
        before = Some(hash);
        terms += 1;
    }
    votes.flush();
    // A majority of 2n − 1 votes is at least n votes.
    let elected = votes.counts.iter().enumerate().filter(|(_, count)| **count >= terms);
    elected.fold(0, |bits, (bit, _)| bits | 1 << bit).max(1)
}
