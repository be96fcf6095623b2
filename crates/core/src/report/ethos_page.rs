//! Calibration on pages: the library, an ethos, and how a dialogue stands to its rules.

use serde_json::{Value, json};

use crate::ethos::compliance::{EthosCompliance, RuleStatus, not_calibrated};
use crate::ethos::library::{EthosDomain, EthosLibrary, EthosTenet, ItemStatus};
use crate::ethos::rule_set::{
    CalibrationRecord, DialogueEthos, EthosRule, EthosStatus, RuleConflict,
};
use crate::model::ids::EntityId;
use crate::model::queries::EthosSummary;
use crate::model::record::DialogueRecord;
use crate::model::validation_error::ValidationError;
use crate::model::verdict::Verdict;
use crate::report::calibration_export::{last_compliance, with_view};
use crate::report::page::{
    ColumnKind, ListItem, PageBlock, PageModel, PageSection, PageTable, RichText, TableColumn,
    TableRow, TextTone,
};
use crate::report::phrases::count_noun;

/// The compliance of the newest final verdict.
fn final_compliance(record: &DialogueRecord) -> Option<&EthosCompliance> {
    let verdicts: Vec<&Verdict> = record.verdicts.iter().map(|given| &given.verdict).collect();
    last_compliance(&verdicts)
}

/// The rules that a tension challenges, as a note on the board.
pub(crate) fn challenge_note(record: &DialogueRecord, tension: EntityId) -> Option<String> {
    let challenges = &record.calibration.as_ref()?.challenges;
    let rules: Vec<&str> = challenges
        .iter()
        .filter(|challenge| challenge.tension == tension)
        .map(|challenge| challenge.rule_id.as_str())
        .collect();
    (!rules.is_empty()).then(|| format!("challenges {}", rules.join(", ")))
}

/// The document of `ethos check`: each rule with its status in the final verdict, null before it.
pub fn check_document(record: &DialogueRecord) -> Result<Value, ValidationError> {
    let Some(calibration) = &record.calibration else {
        return Err(not_calibrated(&record.dialogue).with_field("dialogue_id"));
    };
    let ethos = calibration.approved_ethos();
    let compliance = final_compliance(record);
    let rules = ethos.into_iter().flat_map(DialogueEthos::rules_in_force).map(|rule| {
        let row = compliance.and_then(|all| all.rules.iter().find(|r| r.rule_id == rule.rule_id()));
        let challenged_by: Vec<EntityId> =
            calibration.challenges_of(rule).map(|challenge| challenge.tension).collect();
        json!({
            "rule_id": rule.rule_id(),
            "type": rule.rule_type,
            "label": rule.label,
            "priority": rule.priority,
            "status": row.map(|row| row.status),
            "reason": row.and_then(|row| row.reason.as_deref()),
            "ids": row.map(|row| &row.ids[..]).unwrap_or_default(),
            "challenged_by": challenged_by,
        })
    });
    let rules: Vec<Value> = rules.collect();
    Ok(json!({
        "dialogue_id": record.dialogue.id(),
        "ethos_id": ethos.map(|ethos| &ethos.ethos_id),
        "fully_compliant": compliance.map(|compliance| compliance.fully_compliant),
        "rules": rules,
    }))
}

/// What has to happen before an ethos binds the dialogue.
fn unapproved_blocks(record: &DialogueRecord, calibration: &CalibrationRecord) -> Vec<PageBlock> {
    let versions = calibration.versions.iter().rev();
    let draft = versions.clone().find(|ethos| ethos.status == EthosStatus::Draft);
    let (text, command) = match draft {
        None => (
            "No ethos is approved yet.".to_owned(),
            format!("plenary ethos synthesize {} --approve", record.dialogue.id()),
        ),
        Some(draft) => match draft.open_conflicts().next() {
            Some(open) => (
                format!("{} is a draft with open conflicts.", draft.ethos_id),
                format!(
                    "plenary ethos resolve {} {} --as a_supersedes --why \"…\"",
                    draft.ethos_id, open.conflict
                ),
            ),
            None => (
                format!("{} is a draft.", draft.ethos_id),
                format!("plenary ethos approve {}", draft.ethos_id),
            ),
        },
    };
    let text = RichText::default().push_strong(text, TextTone::Caution);
    vec![PageBlock::Paragraph(text), PageBlock::Command(command)]
}

/// Rules × status × reason, exceptions and challenges; empty if the dialogue is not calibrated.
pub fn calibration_section(record: &DialogueRecord) -> PageSection {
    let Some(calibration) = &record.calibration else { return PageSection::default() };
    let Some(ethos) = calibration.approved_ethos() else {
        return PageSection::new("Calibration", unapproved_blocks(record, calibration));
    };
    let compliance = final_compliance(record);
    let rows = ethos.rules_in_force().map(|rule| rule_status_row(rule, calibration, compliance));
    let columns = vec![
        TableColumn::new("Rule", ColumnKind::Short),
        TableColumn::new("Status", ColumnKind::Short),
        TableColumn::new("Challenged by", ColumnKind::Short),
        TableColumn::new("Label", ColumnKind::Wrap),
        TableColumn::new("Reason", ColumnKind::Below),
    ];
    let table = PageTable { columns, rows: rows.collect() };
    let mut blocks = vec![PageBlock::Table(table)];
    let exceptions = compliance.map(|compliance| compliance.exceptions.as_slice());
    let exceptions = exceptions.unwrap_or_default().iter().map(|exception| {
        let lead = format!("Exception {}:", exception.rule_id);
        let note = format!("{} · approved by {}", exception.exception_type, exception.approved_by);
        ListItem::new(lead, exception.justification.as_str())
            .with_notes(vec![RichText::toned(note, TextTone::Faint)])
    });
    let exceptions: Vec<ListItem> = exceptions.collect();
    if !exceptions.is_empty() {
        blocks.push(PageBlock::List(exceptions));
    }
    let challenges = calibration.challenges.iter().map(|challenge| {
        let lead = RichText::toned(challenge.tension.to_string(), TextTone::Id);
        let outcome = with_view(record, |view| view.challenge_outcome(challenge));
        let outcome = outcome.unwrap_or_default();
        ListItem::new(lead, format!("challenges {}: {outcome}", challenge.rule_id))
    });
    let challenges: Vec<ListItem> = challenges.collect();
    if !challenges.is_empty() {
        blocks.push(PageBlock::List(challenges));
    }
    let state = match compliance {
        Some(compliance) if compliance.fully_compliant => "fully compliant",
        Some(_) => "not fully compliant",
        None => "no final verdict yet",
    };
    PageSection::new("Calibration", blocks)
        .with_subject(ethos.domain_label())
        .with_note(format!("{} · {state}", ethos.ethos_id))
}

fn rule_status_row(
    rule: &EthosRule,
    calibration: &CalibrationRecord,
    compliance: Option<&EthosCompliance>,
) -> TableRow {
    let row = compliance.and_then(|all| all.rules.iter().find(|row| row.rule_id == rule.rule_id()));
    let status = row.map(|row| row.status);
    let (word, tone) = match status {
        Some(RuleStatus::Compliant) => ("compliant", TextTone::Good),
        Some(RuleStatus::Exception) => ("exception", TextTone::Caution),
        Some(RuleStatus::Violation) => ("violation", TextTone::Bad),
        Some(RuleStatus::NotApplicable) => ("not applicable", TextTone::Faint),
        None => ("not judged", TextTone::Faint),
    };
    let by: Vec<String> =
        calibration.challenges_of(rule).map(|challenge| challenge.tension.to_string()).collect();
    let reason = row.and_then(|row| row.reason.clone()).unwrap_or_default();
    let ids: Vec<String> = row.iter().flat_map(|row| &row.ids).map(ToString::to_string).collect();
    let reason = RichText::toned(reason, TextTone::Faint);
    let reason = match ids.is_empty() {
        true => reason,
        false => {
            reason.append(RichText::with_ids(&format!(" {}", ids.join(", ")), TextTone::Faint))
        }
    };
    TableRow::new(vec![
        RichText::strong(rule.rule_id()),
        RichText::toned(word, tone),
        RichText::with_ids(&by.join(", "), TextTone::Faint),
        rule.label.as_str().into(),
        reason,
    ])
}

/// The page of one ethos.
pub fn ethos_page(ethos: &DialogueEthos) -> PageModel {
    let open = ethos.open_conflicts().count();
    let (mark, tone) = match ethos.status {
        EthosStatus::Approved => ("●", TextTone::Good),
        EthosStatus::Draft => ("◐", TextTone::Caution),
        EthosStatus::Rejected => ("○", TextTone::Bad),
    };
    let mut health = Vec::new();
    if open > 0 && ethos.status == EthosStatus::Draft {
        health.push(format!("{open} OPEN"));
    }
    let mut summary = vec![
        format!("version {}", ethos.version),
        count_noun(ethos.rules_in_force().count(), "rule"),
        count_noun(ethos.conflicts.len(), "conflict"),
    ];
    summary.extend(ethos.approved_by.as_ref().map(|by| format!("approved by {by}")));
    summary.extend(ethos.rejected_because.as_ref().map(|why| format!("rejected: {why}")));
    let code = RichText::toned(ethos.ethos_id.as_str(), TextTone::Code);
    let facts = vec![
        ("Ethos", code),
        ("Version", ethos.version.to_string().into()),
        ("Status", ethos.status.name().into()),
        ("Domains", ethos.domain_slug().unwrap_or_else(|| "none".to_owned()).into()),
    ];
    PageModel {
        kind: "Ethos",
        title: ethos.ethos_id.to_string(),
        state: RichText::marked((mark, tone), ethos.status.name()),
        health,
        facts,
        summary,
        sections: vec![rules_section(ethos), conflicts_section(ethos)],
        ..PageModel::default()
    }
}

fn rules_section(ethos: &DialogueEthos) -> PageSection {
    let rows = ethos.rules_in_force().map(|rule| {
        let taken: Vec<String> = rule
            .supersedes
            .iter()
            .map(|source| format!("supersedes {}: {}", source.source_id, source.reason))
            .collect();
        let mut text = rule.description.clone();
        if !taken.is_empty() {
            text = format!("{text} ({})", taken.join("; "));
        }
        TableRow::new(vec![
            RichText::strong(rule.rule_id()),
            rule.rule_type.name().into(),
            rule.priority.to_string().into(),
            RichText::toned(rule.source_id.as_str(), TextTone::Faint),
            rule.label.as_str().into(),
            RichText::toned(text, TextTone::Faint),
        ])
    });
    let columns = vec![
        TableColumn::new("Rule", ColumnKind::Short),
        TableColumn::new("Type", ColumnKind::Short),
        TableColumn::new("Priority", ColumnKind::Number),
        TableColumn::new("Source", ColumnKind::Short),
        TableColumn::new("Label", ColumnKind::Wrap),
        TableColumn::new("Text", ColumnKind::Below),
    ];
    let table = PageTable { columns, rows: rows.collect() };
    PageSection::new("Rules", vec![PageBlock::Table(table)]).with_subject(ethos.domain_label())
}

fn conflicts_section(ethos: &DialogueEthos) -> PageSection {
    let item = |conflict: &RuleConflict| {
        let RuleConflict { a, b, conflict_type, finding, .. } = conflict;
        let text = format!("{a} and {b}: {conflict_type}; {finding}");
        let mut notes = Vec::new();
        if let Some(proposal) = &conflict.proposal {
            let word = proposal.resolution.map_or("no resolution", |resolution| resolution.name());
            notes.push(format!(
                "the model quotes \"{}\" and \"{}\"",
                proposal.quote_a, proposal.quote_b
            ));
            notes.push(format!("and proposes {word}"));
        }
        let end = match (&conflict.resolution, &conflict.reason, conflict.resolved_by) {
            (Some(resolution), Some(reason), Some(by)) => {
                RichText::toned(format!("{resolution} by {by}: {reason}"), TextTone::Faint)
            }
            _ => RichText::default().push_strong("open", TextTone::Caution),
        };
        let notes = notes.into_iter().map(|note| RichText::toned(note, TextTone::Faint));
        ListItem::new(format!("{}.", conflict.conflict), text)
            .with_notes(notes.chain([end]).collect())
    };
    let items: Vec<ListItem> = ethos.conflicts.iter().map(item).collect();
    let mut blocks = Vec::new();
    if !items.is_empty() {
        blocks.push(PageBlock::List(items));
    }
    if let Some(open) = ethos.open_conflicts().next() {
        blocks.push(PageBlock::Command(format!(
            "plenary ethos resolve {} {} --as a_supersedes --why \"…\"",
            ethos.ethos_id, open.conflict
        )));
    }
    PageSection::new("Conflicts", blocks)
}

/// The page of the library.
pub fn library_page(library: &EthosLibrary, ethos: &[EthosSummary]) -> PageModel {
    let mut sections = vec![principles_section(library)];
    sections.extend(library.domains.iter().map(|domain| domain_section(library, domain)));
    let items: Vec<ListItem> = ethos
        .iter()
        .map(|known| {
            let id = RichText::toned(known.ethos_id.as_str(), TextTone::Code);
            ListItem::new(id, known.ethos_status.name())
        })
        .collect();
    let blocks = (!items.is_empty()).then_some(PageBlock::List(items));
    sections.push(PageSection::new("Ethos of dialogues", blocks.into_iter().collect()));
    let summary = vec![
        count_noun(library.principles.len(), "principle"),
        count_noun(library.domains.len(), "domain"),
        count_noun(library.tenets.len(), "tenet"),
    ];
    let facts = vec![
        ("Principles", library.principles.len().to_string().into()),
        ("Domains", library.domains.len().to_string().into()),
        ("Tenets", library.tenets.len().to_string().into()),
    ];
    PageModel {
        kind: "Library",
        title: "Principles, domains and tenets".to_owned(),
        facts,
        summary,
        sections,
        ..PageModel::default()
    }
}

/// The page of one domain with what it inherits.
pub fn domain_page(
    library: &EthosLibrary,
    domain: &EthosDomain,
) -> Result<PageModel, ValidationError> {
    let inherited = library.inherited_tenets(&domain.slug)?;
    let inherited: Vec<&EthosTenet> =
        inherited.into_iter().filter(|tenet| tenet.domain != domain.slug).collect();
    let mut sections = vec![domain_section(library, domain)];
    sections.push(PageSection::new("Inherited tenets", tenets_table(&inherited)));
    let parents = domain.parent_domains.join(", ");
    let facts = vec![
        ("Domain", RichText::toned(domain.slug.as_str(), TextTone::Code)),
        ("Code", domain.code.as_str().into()),
        ("Parents", if parents.is_empty() { "none".into() } else { parents.into() }),
        ("Status", domain.status.name().into()),
    ];
    let summary = facts.iter().skip(1).map(|(name, text)| {
        let text: String = text.spans.iter().map(|span| span.text.as_str()).collect();
        format!("{} {text}", name.to_lowercase())
    });
    Ok(PageModel {
        kind: "Domain",
        title: domain.label.clone(),
        summary: summary.collect(),
        facts,
        sections,
        ..PageModel::default()
    })
}

fn principles_section(library: &EthosLibrary) -> PageSection {
    let rows = library.principles.iter().map(|item| {
        item_row([&item.id, &item.label, &item.description], item.priority, item.status)
    });
    PageSection::new("Principles", items_table(rows.collect()))
}

/// A domain: its own tenets and lenses.
fn domain_section(library: &EthosLibrary, domain: &EthosDomain) -> PageSection {
    let own: Vec<&EthosTenet> =
        library.tenets.iter().filter(|tenet| tenet.domain == domain.slug).collect();
    let mut blocks: Vec<PageBlock> =
        domain.description.iter().map(|text| PageBlock::prose(text)).collect();
    blocks.extend(tenets_table(&own));
    let lenses = library.lenses.iter().filter(|lens| lens.domain == domain.slug);
    let items: Vec<ListItem> = lenses
        .map(|lens| {
            let mut parts = Vec::new();
            parts.extend(
                lens.include_tenets.as_ref().map(|list| format!("only {}", list.join(", "))),
            );
            parts.extend(
                (!lens.exclude_tenets.is_empty())
                    .then(|| format!("without {}", lens.exclude_tenets.join(", "))),
            );
            let changed =
                lens.priority_overrides.iter().map(|(id, number)| format!("{id} = {number}"));
            parts.extend(changed);
            ListItem::new(RichText::strong(lens.id.as_str()), lens.label.as_str())
                .with_notes(vec![RichText::toned(parts.join(" · "), TextTone::Faint)])
        })
        .collect();
    blocks.extend((!items.is_empty()).then_some(PageBlock::List(items)));
    if blocks.is_empty() {
        blocks.push(PageBlock::Paragraph(RichText::toned("No tenets yet.", TextTone::Faint)));
    }
    let parents = match domain.parent_domains.is_empty() {
        true => String::new(),
        false => format!(" · inherits from {}", domain.parent_domains.join(", ")),
    };
    let note = format!("{} · {} · {}{parents}", domain.slug, domain.code, domain.status);
    PageSection::new("Domain", blocks).with_subject(Some(domain.label.clone())).with_note(note)
}

fn tenets_table(tenets: &[&EthosTenet]) -> Vec<PageBlock> {
    let rows = tenets.iter().map(|item| {
        item_row([&item.id, &item.label, &item.description], item.priority, item.status)
    });
    items_table(rows.collect())
}

fn item_row([id, label, text]: [&String; 3], priority: u32, status: ItemStatus) -> TableRow {
    let tone = match status {
        ItemStatus::Active => TextTone::Good,
        ItemStatus::Draft => TextTone::Caution,
        ItemStatus::Deprecated => TextTone::Faint,
    };
    TableRow::new(vec![
        RichText::strong(id.as_str()),
        priority.to_string().into(),
        RichText::toned(status.name(), tone),
        label.as_str().into(),
        RichText::toned(text.as_str(), TextTone::Faint),
    ])
}

fn items_table(rows: Vec<TableRow>) -> Vec<PageBlock> {
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        TableColumn::new("Id", ColumnKind::Short),
        TableColumn::new("Priority", ColumnKind::Number),
        TableColumn::new("Status", ColumnKind::Short),
        TableColumn::new("Label", ColumnKind::Wrap),
        TableColumn::new("Text", ColumnKind::Below),
    ];
    vec![PageBlock::Table(PageTable { columns, rows })]
}
