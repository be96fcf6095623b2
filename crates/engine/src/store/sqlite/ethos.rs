//! The tables of calibration: the library of the store, and constraints, ethos and challenges of a
//! dialogue.

use plenary_core::ethos::library::{EthosLibrary, LibraryChange};
use plenary_core::ethos::rule_set::{
    CalibrationRecord, DialogueEthos, EthosConstraint, EthosRule, EthosStatus, RuleChallenge,
    RuleConflict,
};
use plenary_core::model::queries::EthosSummary;
use rusqlite::{Connection, ToSql, params};

use crate::store::error::StoreResult;
use crate::store::sqlite::apply::{ApplyResult, EventApplier};
use crate::store::sqlite::load::DialogueReader;
use crate::store::sqlite::statements::{
    parse_column, parse_optional_column, query_rows, read_json, read_struct, to_json,
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
        let created: (&str, &dyn ToSql) = ("created_at", &self.at);
        match change {
            LibraryChange::Principle(item) => {
                self.insert_struct("principles", &[created], &[("id", "principle_id")], item)
            }
            LibraryChange::Domain(item) => {
                let place = self.count_rows("domains")?;
                let columns: [(&str, &dyn ToSql); 2] = [created, ("place", &place)];
                self.insert_struct("domains", &columns, &[("slug", "domain_id")], item)
            }
            LibraryChange::Tenet(item) => {
                let renamed = [("id", "tenet_id"), ("domain", "domain_id")];
                self.insert_struct("tenets", &[created], &renamed, item)
            }
            LibraryChange::Lens(item) => {
                let renamed = [("id", "lens_id"), ("domain", "domain_id")];
                self.insert_struct("lenses", &[created], &renamed, item)
            }
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
        let renamed = [("id", "constraint_id")];
        self.insert_struct("constraints", &self.dated_columns(), &renamed, constraint)
    }

    /// The columns that say of which dialogue a row is, and when it was added.
    fn dated_columns(&self) -> [(&'static str, &dyn ToSql); 2] {
        [("dialogue_id", &self.id), ("created_at", &self.at)]
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
        let owner: [(&str, &dyn ToSql); 2] = [("dialogue_id", &self.id), ("ethos_id", &id)];
        for rule in &ethos.rules {
            self.insert_struct("ethos_rules", &owner, &[], rule)?;
        }
        for conflict in &ethos.conflicts {
            let renamed = [("type", "conflict_type")];
            self.insert_struct("ethos_conflicts", &owner, &renamed, conflict)?;
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

    pub(crate) fn insert_challenge(&self, challenge: &RuleChallenge) -> ApplyResult {
        let renamed = [("tension", "tension_id")];
        self.insert_struct("rule_challenges", &self.dated_columns(), &renamed, challenge)
    }
}

pub(crate) fn load_library(connection: &Connection) -> StoreResult<EthosLibrary> {
    Ok(EthosLibrary {
        principles: query_rows(
            connection,
            "SELECT *, principle_id AS id FROM principles ORDER BY principle_id",
            [],
            read_struct,
        )?,
        domains: query_rows(
            connection,
            "SELECT *, domain_id AS slug FROM domains ORDER BY place",
            [],
            read_struct,
        )?,
        tenets: query_rows(
            connection,
            "SELECT *, tenet_id AS id, domain_id AS domain FROM tenets ORDER BY tenet_id",
            [],
            read_struct,
        )?,
        lenses: query_rows(
            connection,
            "SELECT *, lens_id AS id, domain_id AS domain FROM lenses ORDER BY lens_id",
            [],
            read_struct,
        )?,
    })
}

/// The newest versions of all dialogues, newest first.
pub(crate) fn list_ethos(connection: &Connection, limit: usize) -> StoreResult<Vec<EthosSummary>> {
    query_rows(
        connection,
        "SELECT ethos.ethos_id, dialogue_id, ethos.status AS ethos_status, title
         FROM ethos JOIN dialogues USING (dialogue_id)
         ORDER BY ethos.created_at DESC, ethos.ethos_id DESC LIMIT ?1",
        [limit],
        read_struct,
    )
}

impl DialogueReader<'_> {
    /// What the tables have of a calibrated dialogue.
    pub(crate) fn load_calibration(&self) -> StoreResult<CalibrationRecord> {
        let constraints = self.read_all(
            "SELECT *, constraint_id AS id FROM constraints WHERE dialogue_id = ?1
             ORDER BY constraint_id",
            read_struct,
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
        let rules: Vec<(String, EthosRule)> = self.read_all(
            "SELECT ethos_id, * FROM ethos_rules WHERE dialogue_id = ?1 ORDER BY ethos_id, seq",
            |row| Ok((row.get(0)?, read_struct(row)?)),
        )?;
        let conflicts: Vec<(String, RuleConflict)> = self.read_all(
            "SELECT ethos_id, *, conflict_type AS type FROM ethos_conflicts WHERE dialogue_id = ?1
             ORDER BY ethos_id, conflict",
            |row| Ok((row.get(0)?, read_struct(row)?)),
        )?;
        for ethos in &mut versions {
            let id = ethos.ethos_id.as_str();
            let own = rules.iter().filter(|(of, _)| of == id);
            ethos.rules = own.map(|(_, rule)| rule.clone()).collect();
            let own = conflicts.iter().filter(|(of, _)| of == id);
            ethos.conflicts = own.map(|(_, conflict)| conflict.clone()).collect();
        }
        let challenges = self.read_all(
            "SELECT *, tension_id AS tension FROM rule_challenges WHERE dialogue_id = ?1
             ORDER BY tension_id, rule_id",
            read_struct,
        )?;
        Ok(CalibrationRecord { constraints, versions, challenges })
    }
}
