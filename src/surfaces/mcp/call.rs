//! [`ToolCall`]: a tool call that may wait for a run and reports progress meanwhile.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use super::run_answer::RunAnswer;
use crate::domain::ids::DialogueId;
use crate::error::Error;
use crate::export::council::derive_events;
use crate::export::telling::describe_event;
use crate::hosting::{FOLLOW_INTERVAL, RunFollower, RunServer};

/// Longest wait of a call; clients do not keep a connection open longer.
pub(super) const WAIT_SECONDS_MAX: i64 = 3_600;

#[derive(Debug)]
pub(super) struct ToolCall {
    pub run_server: Arc<RunServer>,
    pub arguments: Value,
    context: RequestContext<RoleServer>,
}

/// What happens to a run when the client cancels the call that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CancelAction {
    /// This call started the run, so cancelling it interrupts the run.
    EndRun,
    /// The call only watches the run.
    LeaveRun,
}

impl ToolCall {
    pub(super) fn new(
        run_server: Arc<RunServer>,
        arguments: Value,
        context: RequestContext<RoleServer>,
    ) -> Self {
        Self { run_server, arguments, context }
    }

    /// Whether the client supports tasks, so that the call need not wait.
    pub(super) fn has_tasks(&self) -> bool {
        self.context.client_capabilities().is_some_and(|known| known.supports_tasks())
    }

    /// Waits for a run for at most `wait` and sends progress; then returns the run's state.
    pub(super) async fn await_run(
        &self,
        id: &DialogueId,
        wait: Duration,
        on_cancel: CancelAction,
    ) -> Result<RunAnswer, Error> {
        let until = Instant::now() + wait;
        let following = self.report_progress(id);
        tokio::select! {
            followed = timeout_at(until, following) => if let Ok(followed) = followed { followed? },
            () = self.context.ct.cancelled() => if on_cancel == CancelAction::EndRun {
                self.run_server.interrupt_run(id);
            },
        }
        Ok(self.run_server.report_status(id).await?.into())
    }

    /// Sends progress until the run ends.
    async fn report_progress(&self, id: &DialogueId) -> Result<(), Error> {
        let mut following = RunFollower::new(&self.run_server.loader.protocols);
        let mut steps = 0_u32;
        loop {
            let is_running = self.run_server.is_running(id, &following)?;
            let fresh = self.run_server.read_entries(id, following.seq).await?;
            let is_quiet = fresh.is_empty();
            for entry in fresh {
                let changes = following.apply_entry(&entry);
                let Some(transcript) = &following.transcript else { continue };
                let seen = derive_events(transcript, &changes);
                for told in seen.iter().flat_map(|event| {
                    describe_event(&self.run_server.loader.protocols, transcript, event)
                }) {
                    steps += 1;
                    self.send_progress(steps, told.text.trim()).await;
                }
            }
            if is_quiet && !is_running {
                return Ok(());
            }
            sleep(FOLLOW_INTERVAL).await;
        }
    }

    async fn send_progress(&self, step: u32, text: &str) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let param = ProgressNotificationParam::new(token, f64::from(step)).with_message(text);
        // Progress is optional, so a failure to send it is ignored.
        let _ = self.context.peer.notify_progress(param).await;
    }
}
