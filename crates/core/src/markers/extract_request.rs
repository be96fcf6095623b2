//! The request of the tool `blue_dialogue_extract`, and [`ExtractDocument`], the result that it shares
//! with `plenary dialogue extract`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dialogue::diagnostics::Diagnostics;
use crate::dialogue::request::{OperationRequest, ReadFields, read_request};
use crate::markers::batch::{RawReplies, build_round_batch, check_across_replies};
use crate::markers::extract::extract_reply;
use crate::markers::extraction::{
    MarkerWarning, ReplyExtraction, ReplyMarker, VerdictDraft, WarningKind,
};
use crate::model::ids::ExpertSlug;
use crate::model::limits::{ITEMS_PER_ROUND_MAX, RAW_REPLY_CHARS_MAX, ROUND_MAX};
use crate::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};

/// Arguments of `blue_dialogue_extract`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ExtractRequest {
    #[schemars(range(min = 0, max = ROUND_MAX))]
    round: u8,
    #[schemars(length(max = ITEMS_PER_ROUND_MAX))]
    replies: Vec<ExpertReply>,
    /// With raw_content.
    #[serde(default)]
    raw: bool,
}

/// An expert's reply.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline, extend("x-item" = "expert", "x-named-by" = ["expert"]))]
pub struct ExpertReply {
    pub expert: ExpertSlug,
    #[schemars(length(max = RAW_REPLY_CHARS_MAX))]
    pub text: String,
}

impl OperationRequest for ExtractRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let replies: Vec<Value> = fields.get("replies").unwrap_or_default();
        let experts: Vec<&Value> = replies.iter().filter_map(|reply| reply.get("expert")).collect();
        for (place, expert) in experts.iter().enumerate() {
            if experts.iter().take(place).any(|earlier| earlier == expert) {
                let message = format!("two replies have the expert {expert}");
                let fault = ValidationError::new(ErrorCode::ExpertExists, message);
                notes.add_error(fault.with_field("replies").with_suggestion("join their texts"));
            }
        }
        if fields.given.has("replies") && replies.is_empty() {
            let fault = fields.given.missing_field("replies");
            notes.add_error(
                fault.with_suggestion("give [{\"expert\": \"muffin\", \"text\": \"…\"}]"),
            );
        }
    }
}

/// Extracts the markers of the replies of a round.
///
/// # Errors
/// The arguments are not a request.
pub fn extract_round(arguments: &Value) -> Result<ExtractDocument, ValidationErrors> {
    let (ExtractRequest { round, replies, raw }, _) = read_request(arguments)?;
    let (mut extracted, kept) = extract_replies(round, &replies);
    let raw = if raw { kept } else { RawReplies::new() };
    check_across_replies(&mut extracted);
    Ok(ExtractDocument::new(round, &extracted, &raw))
}

/// Extracts each reply alone, and keeps the replies verbatim, up to the limit of a record.
pub fn extract_replies(round: u8, replies: &[ExpertReply]) -> (Vec<ReplyExtraction>, RawReplies) {
    let (mut extracted, mut raw) = (Vec::new(), RawReplies::new());
    for ExpertReply { expert, text } in replies {
        let mut reply = extract_reply(text, expert, round);
        if text.len() > RAW_REPLY_CHARS_MAX && text.chars().count() > RAW_REPLY_CHARS_MAX {
            let message =
                format!("the reply is over {RAW_REPLY_CHARS_MAX} characters and is not kept whole");
            reply.warnings.push(MarkerWarning::new(None, WarningKind::Cut, message));
        } else {
            raw.insert(expert.clone(), text.clone());
        }
        extracted.push(reply);
    }
    (extracted, raw)
}

/// The markers of the replies, and the batch that `register` takes.
#[derive(Debug, Serialize)]
pub struct ExtractDocument {
    pub status: &'static str,
    pub batch: Value,
    pub verdicts: Vec<VerdictDraft>,
    pub markers: Vec<OfExpert<ReplyMarker>>,
    pub warnings: Vec<OfExpert<MarkerWarning>>,
}

/// An item of an expert's reply.
#[derive(Debug, Serialize)]
pub struct OfExpert<T> {
    expert: ExpertSlug,
    #[serde(flatten)]
    what: T,
}

impl ExtractDocument {
    pub fn new(round: u8, replies: &[ReplyExtraction], raw: &RawReplies) -> Self {
        Self {
            status: "success",
            batch: build_round_batch(round, replies, raw),
            verdicts: replies.iter().flat_map(|reply| reply.verdicts.clone()).collect(),
            markers: list_items(replies, |reply| &reply.markers),
            warnings: list_items(replies, |reply| &reply.warnings),
        }
    }
}

/// The items of all replies, each with its expert.
fn list_items<T: Clone>(
    replies: &[ReplyExtraction],
    items: fn(&ReplyExtraction) -> &Vec<T>,
) -> Vec<OfExpert<T>> {
    let mut listed = Vec::new();
    for reply in replies {
        let of_reply = |what: &T| OfExpert { expert: reply.expert.clone(), what: what.clone() };
        listed.extend(items(reply).iter().map(of_reply));
    }
    listed
}
