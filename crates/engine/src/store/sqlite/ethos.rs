//! The tables of calibration: the library of the store, and constraints, ethos and challenges of a
//! dialogue.

use plenary_core::ethos::library::{
    EthosDomain, EthosLens, EthosLibrary, EthosPrinciple, EthosTenet, LibraryChange,
};
use plenary_core::ethos::rule_set::{
    CalibrationRecord, DialogueEthos, EthosConstraint, EthosRule, EthosStatus, RuleChallenge,
    RuleConflict,
};
use plenary_core::model::queries::EthosSummary;
use rusqlite::{Connection, Row, params};

use crate::store::error::StoreResult;
use crate::store::sqlite::apply::{ApplyResult, EventApplier};
use crate::store::sqlite::load::DialogueReader;
use crate::store::sqlite::statements::{
    parse_column, parse_optional_column, query_rows, read_json, read_optional_json, to_json,
};

/// Tables of the library with the column of their ids. No id is in two of them.
const LIBRARY_IDS: [(&str, &str); 4] = [
    ("principles", "principle_id"),
    ("domains", "domain_id"),
    ("tenets", "tenet_id"),
    ("lenses", "lens_id"),
];

impl EventApplier<'_> {
    pub(crate) fn change_library(&self, change: &LibraryChange) -> ApplyResult {
        match change {
            LibraryChange::Principle(item) => self.run_sql(
                "INSERT INTO principles (principle_id, label, description, rationale, status, priority, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![item.id, item.label, item.description, item.rationale, item.status.name(), item.priority, self.at],
            ),
            LibraryChange::Domain(item) => self.run_sql(
                "INSERT INTO domains (domain_id, code, place, label, description, parent_domains, status, created_at)
                 VALUES (?1, ?2, (SELECT count(*) FROM domains), ?3, ?4, ?5, ?6, ?7)",
                params![item.slug, item.code, item.label, item.description, to_json(&item.parent_domains)?, item.status.name(), self.at],
            ),
            LibraryChange::Tenet(item) => self.run_sql(
                "INSERT INTO tenets (tenet_id, domain_id, label, description, rationale, status, priority, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![item.id, item.domain, item.label, item.description, item.rationale, item.status.name(), item.priority, self.at],
            ),
            LibraryChange::Lens(item) => self.run_sql(
                "INSERT INTO lenses (lens_id, domain_id, label, include_tenets, exclude_tenets, priority_overrides, status, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    item.id,
                    item.domain,
                    item.label,
                    item.include_tenets.as_ref().map(to_json).transpose()?,
                    to_json(&item.exclude_tenets)?,
                    to_json(&item.priority_overrides)?,
                    item.status.name(),
                    self.at
                ],
            ),
            LibraryChange::Deprecated { id, reason } => {
                for (table, column) in LIBRARY_IDS {
                    self.run_sql(
                        &format!("UPDATE {table} SET status = 'deprecated', deprecated_because = ?2 WHERE {column} = ?1"),
                        params![id, reason],
                    )?;
                }
                Ok(())
            }
        }
    }

    pub(crate) fn insert_constraint(&self, constraint: &EthosConstraint) -> ApplyResult {
        self.run_sql(
            "INSERT INTO constraints (dialogue_id, constraint_id, label, description, source, source_detail, priority, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                self.id,
                constraint.id,
                constraint.label,
                constraint.description,
                constraint.source.name(),
                constraint.source_detail,
                constraint.priority,
                self.at
            ],
        )
    }

    /// Saves a version. The rows of a draft are replaced; the triggers protect a decided one.
    pub(crate) fn save_ethos(&self, ethos: &DialogueEthos) -> ApplyResult {
        let id = ethos.ethos_id.as_str();
        self.run_sql(
            "INSERT OR IGNORE INTO ethos (dialogue_id, ethos_id, version, status, domains, rules_count, conflicts_count, created_at)
             VALUES (?1, ?2, ?3, 'draft', ?4, 0, 0, ?5)",
            params![self.id, id, ethos.version, to_json(&ethos.domains)?, self.at],
        )?;
        for table in ["ethos_rules", "ethos_conflicts"] {
            self.run_sql(
                &format!("DELETE FROM {table} WHERE dialogue_id = ?1 AND ethos_id = ?2"),
                params![self.id, id],
            )?;
        }
        for rule in &ethos.rules {
            self.insert_rule(id, rule)?;
        }
        for conflict in &ethos.conflicts {
            self.insert_conflict(id, conflict)?;
        }
        self.run_sql(
            "UPDATE ethos SET status = ?3, rules_count = ?4, conflicts_count = ?5, approved_by = ?6,
               approved_at = ?7, rejected_because = ?8
             WHERE dialogue_id = ?1 AND ethos_id = ?2",
            params![
                self.id,
                id,
                ethos.status.name(),
                ethos.rules_in_force().count(),
                ethos.conflicts.len(),
                ethos.approved_by,
                ethos.approved_at.map(|at| at.to_string()),
                ethos.rejected_because
            ],
        )?;
        if ethos.status != EthosStatus::Approved {
            return Ok(());
        }
        self.run_sql(
            "UPDATE dialogues SET ethos_id = ?2 WHERE dialogue_id = ?1",
            params![self.id, id],
        )
    }

    fn insert_rule(&self, ethos_id: &str, rule: &EthosRule) -> ApplyResult {
        self.run_sql(
            "INSERT INTO ethos_rules (dialogue_id, ethos_id, seq, rule_type, source_id, source_domain, label,
               description, priority, supersedes, standing)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                self.id,
                ethos_id,
                rule.seq,
                rule.rule_type.name(),
                rule.source_id,
                rule.source_domain,
                rule.label,
                rule.description,
                rule.priority,
                to_json(&rule.supersedes)?,
                rule.standing.name()
            ],
        )
    }

    fn insert_conflict(&self, ethos_id: &str, conflict: &RuleConflict) -> ApplyResult {
        self.run_sql(
            "INSERT INTO ethos_conflicts (dialogue_id, ethos_id, conflict, a, b, conflict_type, finding,
               resolution, reason, resolved_by, proposal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                self.id,
                ethos_id,
                conflict.conflict,
                conflict.a,
                conflict.b,
                conflict.conflict_type.name(),
                conflict.finding,
                conflict.resolution.map(|resolution| resolution.name()),
                conflict.reason,
                conflict.resolved_by.map(|resolver| resolver.name()),
                conflict.proposal.as_ref().map(to_json).transpose()?
            ],
        )
    }

    pub(crate) fn insert_challenge(&self, challenge: &RuleChallenge) -> ApplyResult {
        self.run_sql(
            "INSERT INTO rule_challenges (dialogue_id, tension_id, rule_id, ethos_id, source_id, experts, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                self.id,
                challenge.tension.to_string(),
                challenge.rule_id,
                challenge.ethos_id.as_str(),
                challenge.source_id,
                to_json(&challenge.experts)?,
                self.at
            ],
        )
    }
}

pub(crate) fn load_library(connection: &Connection) -> StoreResult<EthosLibrary> {
    Ok(EthosLibrary {
        principles: query_rows(
            connection,
            "SELECT principle_id, label, description, rationale, status, priority
             FROM principles ORDER BY principle_id",
            [],
            |row| {
                Ok(EthosPrinciple {
                    id: row.get(0)?,
                    label: row.get(1)?,
                    description: row.get(2)?,
                    rationale: row.get(3)?,
                    status: parse_column(row, 4, "status")?,
                    priority: row.get(5)?,
                })
            },
        )?,
        domains: query_rows(
            connection,
            "SELECT domain_id, code, label, description, parent_domains, status
             FROM domains ORDER BY place",
            [],
            |row| {
                Ok(EthosDomain {
                    slug: row.get(0)?,
                    code: row.get(1)?,
                    label: row.get(2)?,
                    description: row.get(3)?,
                    parent_domains: read_json(row, 4, "parents")?,
                    status: parse_column(row, 5, "status")?,
                })
            },
        )?,
        tenets: query_rows(
            connection,
            "SELECT tenet_id, domain_id, label, description, rationale, status, priority
             FROM tenets ORDER BY tenet_id",
            [],
            |row| {
                Ok(EthosTenet {
                    id: row.get(0)?,
                    domain: row.get(1)?,
                    label: row.get(2)?,
                    description: row.get(3)?,
                    rationale: row.get(4)?,
                    status: parse_column(row, 5, "status")?,
                    priority: row.get(6)?,
                })
            },
        )?,
        lenses: query_rows(
            connection,
            "SELECT lens_id, domain_id, label, include_tenets, exclude_tenets, priority_overrides, status
             FROM lenses ORDER BY lens_id",
            [],
            |row| {
                Ok(EthosLens {
                    id: row.get(0)?,
                    domain: row.get(1)?,
                    label: row.get(2)?,
                    include_tenets: read_optional_json(row, 3, "tenets")?,
                    exclude_tenets: read_json(row, 4, "tenets")?,
                    priority_overrides: read_json(row, 5, "priorities")?,
                    status: parse_column(row, 6, "status")?,
                })
            },
        )?,
    })
}

/// The newest versions of all dialogues, newest first.
pub(crate) fn list_ethos(connection: &Connection, limit: usize) -> StoreResult<Vec<EthosSummary>> {
    query_rows(
        connection,
        "SELECT ethos_id, dialogue_id, status FROM ethos ORDER BY created_at DESC, ethos_id DESC LIMIT ?1",
        [limit],
        |row| {
            Ok(EthosSummary {
                ethos_id: parse_column(row, 0, "ethos id")?,
                dialogue_id: parse_column(row, 1, "dialogue id")?,
                ethos_status: parse_column(row, 2, "status")?,
            })
        },
    )
}

impl DialogueReader<'_> {
    /// What the tables have of a calibrated dialogue.
    pub(crate) fn load_calibration(&self) -> StoreResult<CalibrationRecord> {
        let constraints = self.read_all(
            "SELECT constraint_id, label, description, source, source_detail, priority
             FROM constraints WHERE dialogue_id = ?1 ORDER BY constraint_id",
            |row| {
                Ok(EthosConstraint {
                    id: row.get(0)?,
                    label: row.get(1)?,
                    description: row.get(2)?,
                    source: parse_column(row, 3, "source")?,
                    source_detail: row.get(4)?,
                    priority: row.get(5)?,
                })
            },
        )?;
        let mut versions = self.read_all(
            "SELECT ethos_id, version, status, domains, approved_by, approved_at, rejected_because
             FROM ethos WHERE dialogue_id = ?1 ORDER BY ethos_id",
            |row| {
                Ok(DialogueEthos {
                    ethos_id: parse_column(row, 0, "ethos id")?,
                    version: row.get(1)?,
                    status: parse_column(row, 2, "status")?,
                    domains: read_json(row, 3, "domains")?,
                    rules: Vec::new(),
                    conflicts: Vec::new(),
                    approved_by: row.get(4)?,
                    approved_at: parse_optional_column(row, 5, "moment")?,
                    rejected_because: row.get(6)?,
                })
            },
        )?;
        let rules = self.read_all(
            "SELECT ethos_id, seq, rule_type, source_id, source_domain, label, description, priority,
               supersedes, standing
             FROM ethos_rules WHERE dialogue_id = ?1 ORDER BY ethos_id, seq",
            read_rule,
        )?;
        let conflicts = self.read_all(
            "SELECT ethos_id, conflict, a, b, conflict_type, finding, resolution, reason, resolved_by,
               proposal
             FROM ethos_conflicts WHERE dialogue_id = ?1 ORDER BY ethos_id, conflict",
            read_conflict,
        )?;
        for ethos in &mut versions {
            let id = ethos.ethos_id.as_str();
            let own = rules.iter().filter(|(of, _)| of == id);
            ethos.rules = own.map(|(_, rule)| rule.clone()).collect();
            let own = conflicts.iter().filter(|(of, _)| of == id);
            ethos.conflicts = own.map(|(_, conflict)| conflict.clone()).collect();
        }
        let challenges = self.read_all(
            "SELECT tension_id, ethos_id, rule_id, source_id, experts
             FROM rule_challenges WHERE dialogue_id = ?1 ORDER BY tension_id, rule_id",
            |row| {
                Ok(RuleChallenge {
                    tension: parse_column(row, 0, "tension id")?,
                    ethos_id: parse_column(row, 1, "ethos id")?,
                    rule_id: row.get(2)?,
                    source_id: row.get(3)?,
                    experts: read_json(row, 4, "experts")?,
                })
            },
        )?;
        Ok(CalibrationRecord { constraints, versions, challenges })
    }
}

fn read_rule(row: &Row<'_>) -> StoreResult<(String, EthosRule)> {
    let rule = EthosRule {
        seq: row.get(1)?,
        rule_type: parse_column(row, 2, "rule type")?,
        source_id: row.get(3)?,
        source_domain: row.get(4)?,
        label: row.get(5)?,
        description: row.get(6)?,
        priority: row.get(7)?,
        supersedes: read_json(row, 8, "sources")?,
        standing: parse_column(row, 9, "standing")?,
    };
    Ok((row.get(0)?, rule))
}

fn read_conflict(row: &Row<'_>) -> StoreResult<(String, RuleConflict)> {
    let conflict = RuleConflict {
        conflict: row.get(1)?,
        a: row.get(2)?,
        b: row.get(3)?,
        conflict_type: parse_column(row, 4, "conflict type")?,
        finding: row.get(5)?,
        resolution: parse_optional_column(row, 6, "resolution")?,
        reason: row.get(7)?,
        resolved_by: parse_optional_column(row, 8, "resolver")?,
        proposal: read_optional_json(row, 9, "proposal")?,
    };
    Ok((row.get(0)?, conflict))
}
