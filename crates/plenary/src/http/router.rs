//! The routes of the API, and what their handlers share: [`ApiState`].

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::ids::DialogueId;
use plenary_engine::app::project::Project;
use plenary_engine::app::run_server::{RunServer, run_blocking};
use plenary_engine::error::Error;

use crate::http::answer::{ApiProblem, json_text};
use crate::http::connections::HttpLimits;
use crate::http::dialogue_list::ListFacts;
use crate::http::event_hub::EventHub;
use crate::http::events::StreamPlaces;
use crate::http::page_files::serve_page_file;
use crate::http::routes::ROUTES;
use crate::http::session::SessionKeeper;
use crate::http::starts::StartKeys;

/// What the handlers share.
#[derive(Debug)]
pub(crate) struct ApiState {
    pub run_server: Arc<RunServer>,
    pub sessions: Arc<SessionKeeper>,
    pub hub: Arc<EventHub>,
    pub list_facts: ListFacts,
    pub start_keys: StartKeys,
    pub streams: StreamPlaces,
    pub body_timeout: Duration,
}

impl ApiState {
    pub(crate) fn new(
        run_server: Arc<RunServer>,
        sessions: Arc<SessionKeeper>,
        limits: HttpLimits,
    ) -> Arc<Self> {
        Arc::new(Self {
            hub: EventHub::new(Arc::clone(&run_server)),
            run_server,
            sessions,
            list_facts: ListFacts::default(),
            start_keys: StartKeys::default(),
            streams: StreamPlaces::default(),
            body_timeout: limits.body_timeout,
        })
    }

    /// Reads the project on a thread that may wait for the disk.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Project) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, ApiProblem> {
        let state = Arc::clone(self);
        let read = run_blocking(move || work(&state, state.run_server.open_project()?.as_ref()));
        Ok(read.await?)
    }
}

/// The dialogue that a path names.
pub(crate) fn parse_dialogue(text: &str) -> Result<DialogueId, ApiProblem> {
    Ok(text.parse().map_err(|_| dialogue_not_found(text))?)
}

/// The values of a query, in order.
pub(crate) fn query_pairs(request: &Request) -> Vec<(String, String)> {
    let query = request.uri().query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// Says that the process answers, and nothing else: it needs no token.
pub(crate) async fn show_health() -> Result<Response, ApiProblem> {
    json_text(StatusCode::OK, "{\"status\":\"ok\"}".to_owned())
}

/// Axum refuses an address that it cannot decode in plain text.
async fn state_refusal(response: Response) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if response.status() != StatusCode::BAD_REQUEST
        || kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"text/plain"))
    {
        return response;
    }
    let message = "a part of this address is not UTF-8 text";
    ApiProblem::new(StatusCode::BAD_REQUEST, "invalid_address", message, "encode it as UTF-8")
        .into_response()
}

async fn refuse_method() -> ApiProblem {
    ApiProblem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address does not take this method",
        "`GET /api/openapi.json` lists the methods of each address",
    )
}

pub(crate) fn api_router(state: Arc<ApiState>) -> Router {
    let router = ROUTES
        .iter()
        .fold(Router::new(), |router, route| router.route(route.path, (route.handler)()));
    let router = router.route_layer(map_response(state_refusal));
    let router = router.method_not_allowed_fallback(refuse_method);
    router.fallback(serve_page_file).with_state(state)
}
