//! Parses the arguments of `verdict_register`.

use serde_json::Value;

use crate::domain::facts::Mentions;
use crate::domain::ids::{DialogueId, EntityKind, ExpertSlug, JUDGE, LocalId, VerdictId};
use crate::domain::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item, Refusal};
use crate::domain::target::Target;
use crate::domain::verdict::{Confidence, VerdictType, Vote};
use crate::record::faults::{not_an_id, read_dialogue_id, wrong_kind};
use crate::record::fields::{Fields, cut};
use crate::record::notes::Notes;
use crate::record::warning::Warning;

/// Parsed arguments of `verdict_register`.
#[derive(Debug, Clone)]
pub struct Request {
    pub dialogue_id: DialogueId,
    pub(super) verdict_id: VerdictId,
    pub(super) verdict_type: VerdictType,
    pub(super) round: Option<u16>,
    pub(super) author: Option<String>,
    pub(super) recommendation: String,
    pub(super) description: String,
    pub(super) conditions: Option<Vec<String>>,
    pub(super) vote: Option<Vote>,
    pub(super) confidence: Option<Confidence>,
    pub(super) tensions_resolved: List,
    pub(super) tensions_accepted: List,
    pub(super) recommendations_adopted: List,
    pub(super) key_evidence: List,
    pub(super) key_claims: List,
    pub(super) supporting_experts: Option<Vec<String>>,
    pub(super) forced: bool,
    pub(super) warning: Option<String>,
}

/// Entities listed in one field of a verdict; `None` if the field is absent.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub field: &'static str,
    pub targets: Option<Vec<Target>>,
}

const FIELDS: [&str; 19] = [
    "dialogue_id",
    "verdict_id",
    "verdict_type",
    "round",
    "author_expert",
    "recommendation",
    "description",
    "conditions",
    "vote",
    "confidence",
    "tensions_resolved",
    "tensions_accepted",
    "recommendations_adopted",
    "key_evidence",
    "key_claims",
    "supporting_experts",
    "ethos_compliance",
    "forced",
    "warning",
];

pub fn read(arguments: &Value) -> Result<(Request, Vec<Warning>), Refusal> {
    let fields = Fields::of_arguments(arguments)?;
    let mut notes = Notes::default();
    fields.expect_only(&FIELDS, &mut notes);
    let request = read_request(&fields, &mut notes);
    if fields.has("ethos_compliance") {
        let message = "ethos_compliance belongs to calibrated dialogues, which are not supported";
        notes.fault(Fault::new(Code::NotSupported, message).field("ethos_compliance"));
    }
    notes.settle(request)
}

fn read_request(fields: &Fields<'_>, notes: &mut Notes) -> Option<Request> {
    let dialogue_id = read_dialogue_id(fields, notes);
    let verdict_id = read_verdict_id(fields, notes);
    let verdict_type = fields.required_word("verdict_type", notes);
    let round = fields.integer("round", 0..=i64::from(u16::MAX), notes);
    let author = fields.text("author_expert", LINE_CHARS_MAX, notes);
    let recommendation = fields.required_text("recommendation", LINE_CHARS_MAX, notes);
    let description = fields.required_text("description", TEXT_CHARS_MAX, notes);
    let conditions = fields.texts("conditions", TEXT_CHARS_MAX, notes);
    let vote = read_vote(fields, notes);
    let confidence = fields.word("confidence", notes);
    let mut list = |field, kind| read_list(fields, field, kind, notes);
    let tensions_resolved = list("tensions_resolved", EntityKind::Tension);
    let tensions_accepted = list("tensions_accepted", EntityKind::Tension);
    let recommendations_adopted = list("recommendations_adopted", EntityKind::Recommendation);
    let key_evidence = list("key_evidence", EntityKind::Evidence);
    let key_claims = list("key_claims", EntityKind::Claim);
    let supporting_experts = fields.texts("supporting_experts", LINE_CHARS_MAX, notes);
    let forced = fields.boolean("forced", notes);
    let warning = match forced {
        true => fields.required_text("warning", TEXT_CHARS_MAX, notes),
        false => fields.text("warning", TEXT_CHARS_MAX, notes),
    };
    let author = author.filter(|author| author != JUDGE);
    let supporters = supporting_experts.as_deref();
    check_type_needs(fields, verdict_type, author.as_deref(), supporters, notes);
    Some(Request {
        dialogue_id: dialogue_id?,
        verdict_id: verdict_id?,
        verdict_type: verdict_type?,
        round: round.and_then(|round| u16::try_from(round).ok()),
        author,
        recommendation: recommendation?,
        description: description?,
        conditions,
        vote,
        confidence,
        tensions_resolved,
        tensions_accepted,
        recommendations_adopted,
        key_evidence,
        key_claims,
        supporting_experts,
        forced,
        warning,
    })
}

fn read_verdict_id(fields: &Fields<'_>, notes: &mut Notes) -> Option<VerdictId> {
    let text = fields.required_text("verdict_id", LINE_CHARS_MAX, notes)?;
    let id = text.parse().ok();
    if id.is_none() {
        let message = format!(
            "verdict_id '{}' is not a name: letters, digits, '-' and '_', such as 'final' or 'V01', and not an entity's id",
            cut(&text)
        );
        notes.fault(Fault::new(Code::InvalidSlug, message).field("verdict_id").value(text));
    }
    id
}

fn read_vote(fields: &Fields<'_>, notes: &mut Notes) -> Option<Vote> {
    let text = fields.text("vote", LINE_CHARS_MAX, notes)?;
    let vote = text.parse().ok();
    if vote.is_none() {
        let message = format!("vote '{}' is not a tally", cut(&text));
        notes.fault(
            Fault::new(Code::InvalidVote, message)
                .field("vote")
                .value(text)
                .options(["N-M", "N-M-A", "unanimous"])
                .suggest("write '11-1', '11-1-2' with two abstentions, or 'unanimous'"),
        );
    }
    vote
}

fn read_list(
    fields: &Fields<'_>,
    field: &'static str,
    kind: EntityKind,
    notes: &mut Notes,
) -> List {
    let Some(texts) = fields.texts(field, LINE_CHARS_MAX, notes) else {
        return List { field, targets: None };
    };
    let mut targets = Vec::with_capacity(texts.len());
    for text in texts {
        let item = Item::Source { item_type: "verdict", source_id: Some(cut(&text)) };
        match text.parse::<Target>() {
            Ok(target) if target.kind() == kind && !matches!(target, Target::Position(_)) => {
                targets.push(target);
            }
            Ok(_) => notes.fault(wrong_kind(field, kind, &text).about(&item)),
            Err(_) => notes.fault(not_an_id(field, &text).about(&item)),
        }
    }
    List { field, targets: Some(targets) }
}

/// A minority verdict needs supporting experts, a dissent needs an author.
fn check_type_needs(
    fields: &Fields<'_>,
    verdict_type: Option<VerdictType>,
    author: Option<&str>,
    supporters: Option<&[String]>,
    notes: &mut Notes,
) {
    match verdict_type {
        Some(VerdictType::Minority) if supporters.is_none_or(<[String]>::is_empty) => {
            let fault = fields.missing("supporting_experts");
            notes.fault(fault.suggest("a minority verdict names the experts behind it"));
        }
        Some(VerdictType::Dissent) if author.is_none() => {
            let fault = fields.missing("author_expert");
            notes.fault(fault.suggest("a dissent names the expert who objects"));
        }
        Some(
            VerdictType::Interim
            | VerdictType::Final
            | VerdictType::Minority
            | VerdictType::Dissent,
        )
        | None => {}
    }
}

impl Request {
    /// A verdict as a protocol gives it, without any of the optional fields.
    pub fn new(
        dialogue_id: DialogueId,
        verdict_id: VerdictId,
        verdict_type: VerdictType,
        recommendation: String,
        description: String,
    ) -> Self {
        let list = |field| List { field, targets: None };
        Self {
            dialogue_id,
            verdict_id,
            verdict_type,
            round: None,
            author: None,
            recommendation,
            description,
            conditions: None,
            vote: None,
            confidence: None,
            tensions_resolved: list("tensions_resolved"),
            tensions_accepted: list("tensions_accepted"),
            recommendations_adopted: list("recommendations_adopted"),
            key_evidence: list("key_evidence"),
            key_claims: list("key_claims"),
            supporting_experts: None,
            forced: false,
            warning: None,
        }
    }

    #[must_use]
    pub fn round(self, round: u8) -> Self {
        Self { round: Some(round.into()), ..self }
    }

    /// The seat that decided; without one, or if it is called `judge`, the Judge.
    #[must_use]
    pub fn author(self, author: Option<&ExpertSlug>) -> Self {
        let author = author.map(ToString::to_string).filter(|author| author != JUDGE);
        Self { author, ..self }
    }

    #[must_use]
    pub fn accept_tensions(mut self, tensions: Vec<LocalId>) -> Self {
        self.tensions_accepted.targets = Some(tensions.into_iter().map(Target::Local).collect());
        self
    }

    #[must_use]
    pub fn supported_by<'a>(self, experts: impl IntoIterator<Item = &'a ExpertSlug>) -> Self {
        let experts = experts.into_iter().map(ToString::to_string).collect();
        Self { supporting_experts: Some(experts), ..self }
    }

    #[must_use]
    pub fn vote(self, vote: Vote) -> Self {
        Self { vote: Some(vote), ..self }
    }

    pub fn mentions(&self) -> Mentions {
        let lists = [
            &self.tensions_resolved,
            &self.tensions_accepted,
            &self.recommendations_adopted,
            &self.key_evidence,
            &self.key_claims,
        ];
        let targets = lists.into_iter().filter_map(|list| list.targets.as_ref()).flatten();
        Mentions {
            targets: targets.cloned().collect(),
            verdict: Some(self.verdict_id.clone()),
            ..Mentions::default()
        }
    }
}
