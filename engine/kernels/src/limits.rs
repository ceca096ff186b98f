//! The bounds of `proofs.limits` and the numbers of the format that several kernels use.

/// The format version in a header (`proofs.hashing.FORMAT`).
pub const FORMAT: u64 = 3;
/// The numbers of `EventKind`.
pub const ATOM_ADDED: u64 = 1;
pub const ATOM_REVISED: u64 = 2;
pub const ATOM_TOMBSTONED: u64 = 3;
pub const ATOM_REVIVED: u64 = 4;
pub const TAGS_ADDED: u64 = 5;
pub const TAGS_REMOVED: u64 = 6;
pub const EDGE_ADDED: u64 = 8;
pub const EDGE_REMOVED: u64 = 9;
pub const ERASED: u64 = 11;
pub const VERSION_NOTED: u64 = 15;
pub const ATOM_NOTED: u64 = 16;

pub const ID_BYTES: usize = 16;
/// The number of fields of an `AtomBody`, and of those that are not further fields.
pub const ATOM_BODY_FIELDS: usize = 17;
pub const ATOM_FIRST_FIELDS: usize = 12;
/// The number of fields of an `EdgeBody`.
pub const EDGE_BODY_FIELDS: usize = 4;
/// The number of fields of a `Header`, and the position of its origin.
pub const HEADER_FIELDS: usize = 8;
pub const ORIGIN: usize = 7;
/// The numbers of the further fields of an atom's body, and of every other body (`proofs.events.FURTHER`).
pub const FURTHER_OF_ATOM: [u64; 5] = [0, 1, 2, 3, 4];
pub const FURTHER_OF_OTHERS: [u64; 2] = [0, 1];

pub const INTEGER_MAX: u64 = (1 << 63) - 1;
pub const SEQ_MAX: u64 = (1 << 53) - 1;
pub const ORDINAL_MAX: u64 = (1 << 32) - 1;
pub const CREATED_MIN: i64 = -62_135_596_800_000_000;
pub const CREATED_MAX: i64 = 253_402_300_799_999_999;
pub const TRUST_MAX: u64 = 100;
pub const TAGS_MAX: usize = 256;
pub const BUCKETS_MAX: usize = 16;

pub const CONTENT_BYTES_MAX: usize = 1 << 20;
pub const LABEL_BYTES_MAX: usize = 32;
pub const TITLE_BYTES_MAX: usize = 512;
pub const SOURCE_BYTES_MAX: usize = 512;
pub const KEY_BYTES_MAX: usize = 512;
pub const TAG_BYTES_MAX: usize = 256;
pub const REASON_BYTES_MAX: usize = 1024;
pub const EDGE_DATA_BYTES_MAX: usize = 4096;
pub const REQUEST_BYTES_MAX: usize = 128;
pub const PIPELINE_BYTES_MAX: usize = 256;
/// The bytes of the code of a registered predicate.
pub const CODE_BYTES: usize = 8;
pub const FOLDER_BYTES_MAX: usize = 512;
/// The bytes of a text that a kernel analyses at most.
pub const TEXT_BYTES_MAX: usize = 1 << 21;
