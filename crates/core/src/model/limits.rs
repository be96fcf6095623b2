//! Size limits of requests, each with its reason.

/// Two digits of an id name the round.
pub const ROUND_MAX: u8 = 99;

/// Two digits of an id name the item within its round, from 1.
pub const ITEMS_PER_ROUND_MAX: u8 = 99;

/// Every local id contains the expert's name; a longer name makes ids hard to read.
pub const EXPERT_SLUG_BYTES_MAX: usize = 32;

/// A dialogue's slug is a folder name and a URL segment.
pub const DIALOGUE_SLUG_BYTES_MAX: usize = 60;

/// `x`, `x-2` … `x-99`: with more, a title no longer identifies a dialogue.
pub const SIMILAR_TITLES_MAX: u32 = 99;

/// Titles, labels, roles and one-line recommendations: a few screen lines.
pub const LINE_CHARS_MAX: usize = 1_000;

/// Contents, descriptions and summaries: about thirty printed pages.
pub const TEXT_CHARS_MAX: usize = 100_000;

/// Raw replies are kept whole; no model writes a megabyte in one turn.
pub const RAW_REPLY_CHARS_MAX: usize = 1_000_000;

/// `background` and `parameters` as compact JSON; every prompt of the dialogue repeats them.
pub const STRUCTURED_BYTES_MAX: usize = 256 * 1024;

/// A larger panel is a poll, not a deliberation.
pub const EXPERTS_MAX: usize = 200;

/// Lists inside one item: contributors, references, conditions, targets.
pub const LIST_ITEMS_MAX: usize = 500;

/// Moves, updates and separate references of one batch.
pub const BATCH_ITEMS_MAX: usize = 5_000;

/// Scores are small numbers; the limit keeps their sums far from overflow.
pub const SCORE_MAX: i64 = 1_000_000;

/// The arguments of one operation, as JSON text.
pub const ARGUMENTS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Nesting depth of the arguments. Half of what the JSON parser accepts, because the journal stores
/// parts of them a few levels deeper and must be able to read them back.
pub const ARGUMENTS_DEPTH_MAX: usize = 64;

/// Results of one page of `list` and of one `similar` query.
pub const PAGE_ITEMS_MAX: usize = 500;

/// Length of an offending value that an error message repeats.
pub const ERROR_VALUE_CHARS_MAX: usize = 200;
