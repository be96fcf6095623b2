//! Directives: a model restates one first; it takes effect after the caller confirms it.
//!
//! **Invariant:** a restatement is recorded before the caller sees it. It was paid for, and a
//! confirmation refers to that exact sentence.

use super::call::ToolCall;
use super::deliberating::record_intervention;
use super::run_answer::RunAnswer;
use super::tools::intervene::InterveneRequest;
use crate::domain::intervention::{Intervention, find_unconfirmed};
use crate::domain::transcript::RunState;
use crate::engine::check_intervention;
use crate::error::Error;
use crate::hosting::{RestateOutcome, RunServer, restate_directive};

pub(super) async fn call_direct(
    call: &ToolCall,
    wanted: InterveneRequest,
    transcript: RunState,
) -> Result<RunAnswer, Error> {
    let InterveneRequest { dialogue_id: id, text, confirmed, .. } = wanted;
    let directive =
        |restatement| Intervention::Directive { text: text.clone(), restatement, confirmed };
    check_intervention(&transcript, &directive(None))?;
    let known = find_unconfirmed(&transcript.interventions, &text).cloned();
    let is_known = known.is_some();
    let RunServer { loader, factory, .. } = call.run_server.as_ref();
    let restated = match known {
        Some(restatement) => RestateOutcome::Restated(restatement),
        None => {
            let engine = call.run_server.engine()?;
            let daily_budget = engine.daily_budget.as_deref();
            restate_directive(loader, &transcript, &text, factory, daily_budget).await?
        }
    };
    let (said, restatement) = match restated {
        RestateOutcome::Restated(restatement) => {
            (format!("understood as: {}", restatement.sentence), Some(restatement))
        }
        RestateOutcome::Failed { reason } => (format!("it could not be restated: {reason}"), None),
    };
    let is_noted = confirmed || (restatement.is_some() && !is_known);
    let answer: RunAnswer = match is_noted {
        // A confirmation applies to the caller's own text, restated or not.
        true => record_intervention(call, id, directive(restatement)).await?,
        false => call.run_server.report_status(&id).await?.into(),
    };
    let suggestion = match confirmed {
        true => format!("Taken up when the next round begins; {said}"),
        false => format!("{said}. Not taken up yet: call again with confirmed: true"),
    };
    Ok(RunAnswer { suggestion: Some(suggestion), ..answer })
}
