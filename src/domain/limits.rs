//! What a request may hold, and why not more.

/// Two digits of an id name the round.
pub const ROUND_MAX: u8 = 99;

/// Two digits of an id name the item within its round, from 1.
pub const ITEMS_PER_ROUND_MAX: u8 = 99;

/// Experts are named in every local id they write; a longer name drowns the id.
pub const EXPERT_SLUG_BYTES_MAX: usize = 32;

/// A dialogue's slug is a folder name and a URL segment.
pub const DIALOGUE_SLUG_BYTES_MAX: usize = 60;

/// `x`, `x-2` … `x-99`: beyond that a title says nothing any more.
pub const SIMILAR_TITLES_MAX: u32 = 99;

/// Headings: titles, labels, roles, one-line recommendations fit a few screen lines.
pub const LINE_CHARS_MAX: usize = 1_000;

/// Contents, descriptions and summaries: some thirty printed pages.
pub const TEXT_CHARS_MAX: usize = 100_000;

/// A raw reply is kept whole; no model writes a megabyte in one turn.
pub const RAW_REPLY_CHARS_MAX: usize = 1_000_000;

/// `background` and `parameters`, as compact JSON: they travel in every context.
pub const STRUCTURED_BYTES_MAX: usize = 256 * 1024;

/// A panel larger than this is a poll, not a deliberation.
pub const EXPERTS_MAX: usize = 200;

/// Lists inside one item: contributors, references, conditions, targets.
pub const LIST_ITEMS_MAX: usize = 500;

/// Moves, updates and loose references of one batch.
pub const BATCH_ITEMS_MAX: usize = 5_000;

/// Scores are small numbers; this only keeps their sums far from overflow.
pub const SCORE_MAX: i64 = 1_000_000;

/// The arguments of one operation, as JSON text.
pub const ARGUMENTS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Levels of lists and objects in the arguments: half of what a JSON reader takes, because what
/// is kept of them stands a few levels deeper in the journal and must be readable there.
pub const ARGUMENTS_DEPTH_MAX: usize = 64;

/// Results of one page of `list` and of one `similar`.
pub const PAGE_MAX: usize = 500;

/// The offending value, where an error repeats it.
pub const ECHO_CHARS_MAX: usize = 200;
