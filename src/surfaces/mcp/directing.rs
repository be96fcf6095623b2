//! A directive: restated first, taken up once it is confirmed.
//!
//! **Invariant:** what was restated is in the record before anybody is told of it: it was paid
//! for, and whoever confirms it means the sentence they saw.

use super::call::Call;
use super::deliberating::note;
use super::run_answer::RunAnswer;
use super::tools::intervene::InterveneArguments;
use crate::domain::intervention::{Intervention, Restatement, unconfirmed};
use crate::domain::transcript::Transcript;
use crate::engine::check_intervention;
use crate::error::Error;
use crate::hosting::restate;

pub(super) async fn direct(
    call: &Call,
    wanted: InterveneArguments,
    transcript: Transcript,
) -> Result<RunAnswer, Error> {
    let InterveneArguments { id, text, confirmed, .. } = wanted;
    let directive =
        |restatement| Intervention::Directive { text: text.clone(), restatement, confirmed };
    check_intervention(&transcript, &directive(None))?;
    let known = unconfirmed(&transcript.interventions, &text).cloned();
    let (is_known, restated) = match known {
        Some(restatement) => (true, Ok(restatement)),
        None => (false, asked(call, &transcript, &text).await?),
    };
    let said = match &restated {
        Ok(Restatement { sentence, .. }) => format!("understood as: {sentence}"),
        Err(reason) => format!("it could not be restated: {reason}"),
    };
    let is_noted = confirmed || (restated.is_ok() && !is_known);
    let answer: RunAnswer = match is_noted {
        // Whoever confirms it means what they wrote, restated or not.
        true => note(call, id, directive(restated.ok())).await?,
        false => call.house.report(&id).await?.into(),
    };
    let suggestion = match confirmed {
        true => format!("Taken up when the next round begins; {said}"),
        false => format!("{said}. Not taken up yet: call again with confirmed: true"),
    };
    Ok(RunAnswer { suggestion: Some(suggestion), ..answer })
}

/// What the chair's model understands; or why it does not say.
async fn asked(
    call: &Call,
    transcript: &Transcript,
    text: &str,
) -> Result<Result<Restatement, String>, Error> {
    restate(&call.house.premises, transcript, text, &call.house.outlets).await
}
