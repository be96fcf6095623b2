//! `models`: lists the models that providers offer.

use clap::Args;
use plenary_core::report::model_list::{ModelList, model_list_sections};
use plenary_core::report::terminal::layout::PageCanvas;
use plenary_core::report::terminal::page::draw_sections;
use plenary_engine::app::models::list_models;
use plenary_engine::error::Error;

use crate::cli::session::{CliSession, ExitStatus};

/// List models with window, price and retirement
///
/// Asks each provider of council.yaml, or each provider that was found, which models it offers. For
/// a provider that cannot be asked, it lists the models that Plenary knows. Tokens are those of a
/// request (context) and of a reply (output); prices are dollars per million tokens. `latest` is
/// the model that Plenary takes when council.yaml names none.
///
/// $ plenary models
///
/// $ plenary models claude --json
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Only this provider, of council.yaml or a known name
    provider: Option<String>,
}

impl ModelsArgs {
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let list = list_models(&session.loader, self.provider.as_deref())?;
        let canvas = session.ui.page_canvas();
        session.ui.print_result(&list, |list| draw_model_list(list, canvas))?;
        Ok(ExitStatus::Ok)
    }
}

fn draw_model_list(list: &ModelList, canvas: PageCanvas) -> String {
    let lines = draw_sections(&model_list_sections(list), canvas);
    lines.iter().map(|line| format!("{line}\n")).collect()
}
