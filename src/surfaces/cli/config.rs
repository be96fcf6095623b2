//! `config`: shows each setting in effect and its source.

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::session::{CliSession, ExitStatus};
use super::table::TextTable;
use crate::config::{EffectiveSetting, TrustReport};
use crate::error::Error;

/// Show the settings in effect, and where each came from
///
/// Flags win over the environment, the environment over council.yaml, that over the
/// catalogue of known providers and the defaults. Of a key it says whether it is set
/// and in which variable, never what it is. A file with mistakes is reported with
/// all of them: exit code 5. Settings of a file that is not trusted are shown too; the
/// commands that would use them refuse the file until `plenary trust` allows it.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {}

#[derive(Debug, Serialize)]
struct ConfigReport {
    status: &'static str,
    settings: Vec<EffectiveSetting>,
    /// Whether the project file is trusted; `None` if no file was found or the user named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    trusted: Option<bool>,
}

impl ConfigArgs {
    pub(super) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let settings = session.loader.load_displayed_settings()?.origins;
        let trusted = session.loader.read_trust_report()?.as_ref().map(TrustReport::is_trusted);
        let shown = ConfigReport { status: "success", settings, trusted };
        let width = session.ui.table_width();
        session.ui.print_result(&shown, |shown| config_text(&shown.settings, width))?;
        if trusted == Some(false) {
            session
                .ui
                .print_note("this file is not trusted: `plenary trust` shows what it asks for");
        }
        session.ui.print_detail("`plenary doctor` tells whether each provider can be asked");
        Ok(ExitStatus::Ok)
    }
}

fn config_text(settings: &[EffectiveSetting], width: usize) -> String {
    let mut table = TextTable::new(&["KEY", "VALUE", "SOURCE"]);
    for setting in settings {
        table.add_row([
            setting.key.clone(),
            value_text(&setting.value),
            setting.source.to_string(),
        ]);
    }
    table.draw_table(width)
}

/// Formats a value as it is written in the file.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(self::value_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(key, field)| format!("{key}: {}", self::value_text(field)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
