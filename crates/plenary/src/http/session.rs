//! Sessions of the page: `POST /api/session` exchanges the token, or a one-time token, for a cookie.
//!
//! The cookie holds its own end, signed with a key that follows from the token. The server keeps no
//! list, so a session survives a restart; a new token ends all sessions.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_core::dialogue::request::{OperationRequest, read_strict_request};
use plenary_core::model::hash::sha256_hex;
use plenary_core::model::limits::LINE_CHARS_MAX;
use plenary_core::model::time::Moment;
use plenary_engine::clock::System;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::admission::wrong_token;
use crate::http::answer::{ApiProblem, read_body};
use crate::http::connections::ConnectionState;
use crate::http::router::ApiState;
use crate::http::token::AccessToken;

/// A week: long enough to keep a page open, short enough for a stolen cookie to lose its worth.
const SESSION_SECONDS: u64 = 7 * 24 * 3_600;

/// The address with a one-time token is used at once.
const ONE_TIME_SECONDS: u64 = 15 * 60;

/// One-time tokens that are kept; a new one replaces the oldest.
const ONE_TIME_TOKENS_MAX: usize = 8;

/// What the server needs to open and check sessions.
#[derive(Debug)]
pub(crate) struct SessionKeeper {
    token: AccessToken,
    pub cookie_name: String,
    /// Whether browsers reach the server by TLS.
    is_secure: bool,
    one_time: Mutex<Vec<OneTimeToken>>,
    ambient: Arc<dyn System>,
}

/// The digest of a token that opens one session.
#[derive(Debug)]
struct OneTimeToken {
    digest: String,
    ends_at: u64,
}

impl SessionKeeper {
    /// Cookies do not know ports, so each server on a machine has a name of its own.
    pub(crate) fn new(
        token: AccessToken,
        port: u16,
        is_secure: bool,
        ambient: Arc<dyn System>,
    ) -> Self {
        let cookie_name = format!("plenary_session_{port}");
        Self { token, cookie_name, is_secure, one_time: Mutex::default(), ambient }
    }

    /// Creates a token that opens one session, soon.
    pub(crate) fn create_one_time(&self) -> String {
        let secret: String =
            (0..4).map(|_| format!("{:016x}", self.ambient.random_u64())).collect();
        let ends_at = self.second_now() + ONE_TIME_SECONDS;
        let mut known = self.one_time.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= ONE_TIME_TOKENS_MAX {
            known.remove(0);
        }
        known.push(OneTimeToken { digest: sha256_hex([secret.as_bytes()]), ends_at });
        secret
    }

    /// The cookie of a new session, if the token is right. A one-time token is used up.
    fn open_session(&self, token: &str) -> Option<String> {
        let is_right =
            self.token.matches_secret(token.trim().as_bytes()) || self.redeem_one_time(token);
        is_right.then(|| self.new_cookie())
    }

    fn redeem_one_time(&self, token: &str) -> bool {
        let (digest, now) = (sha256_hex([token.trim().as_bytes()]), self.second_now());
        let mut known = self.one_time.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|one| one.ends_at > now);
        let before = known.len();
        known.retain(|one| one.digest != digest);
        known.len() < before
    }

    fn new_cookie(&self) -> String {
        let ends_at = self.second_now() + SESSION_SECONDS;
        let body = format!("{ends_at:x}-{:016x}", self.ambient.random_u64());
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!(
            "{}={body}-{}; HttpOnly; SameSite=Strict; Path=/; Max-Age={SESSION_SECONDS}{secure}",
            self.cookie_name,
            self.sign(&body)
        )
    }

    /// Two nested digests, as in HMAC, so that a signed text cannot be extended.
    fn sign(&self, body: &str) -> String {
        let key = self.token.session_key.as_bytes();
        let inner = sha256_hex([key, b"\n", body.as_bytes()]);
        sha256_hex([key, b"\n", inner.as_bytes()])
    }

    /// Whether an `Authorization` value contains the token.
    pub(crate) fn matches_bearer(&self, value: &[u8]) -> bool {
        self.token.matches_header(value)
    }

    /// Whether the request has the cookie of an open session.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs =
            lines.flat_map(|line| line.split(';')).filter_map(|one| one.trim().split_once('='));
        let mut values =
            pairs.filter(|(name, _)| *name == self.cookie_name).map(|(_, value)| value);
        values.any(|value| self.is_valid(value))
    }

    fn is_valid(&self, value: &str) -> bool {
        let Some((body, signature)) = value.rsplit_once('-') else { return false };
        let ends_at = body.split_once('-').and_then(|(ends, _)| u64::from_str_radix(ends, 16).ok());
        ends_at.is_some_and(|ends| ends > self.second_now()) && self.sign(body) == signature
    }

    fn second_now(&self) -> u64 {
        self.ambient.now().millis_since(Moment::FIRST) / 1_000
    }
}

/// Body of `POST /api/session`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SessionRequest {
    /// The token of the server, or the one-time token of `plenary serve --open`.
    #[schemars(length(max = LINE_CHARS_MAX))]
    token: String,
}

impl OperationRequest for SessionRequest {}

pub(crate) async fn open_session(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let connection = request.extensions().get::<Arc<ConnectionState>>().cloned();
    let request: SessionRequest = read_strict_request(&read_body(&state, request).await?)?;
    let cookie = state.sessions.open_session(&request.token).ok_or_else(wrong_token)?;
    if let Some(connection) = connection {
        connection.mark_admitted();
    }
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

#[cfg(test)]
mod tests {
    use plenary_engine::clock::RealSystem;

    use super::*;

    fn sample_keeper() -> (SessionKeeper, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let token = AccessToken::load_or_create(folder.path(), &RealSystem).unwrap();
        (SessionKeeper::new(token, 7456, false, Arc::new(RealSystem)), folder)
    }

    fn cookie_header(cookie: &str) -> HeaderMap {
        let pair = cookie.split(';').next().unwrap();
        HeaderMap::from_iter([(header::COOKIE, format!("a=b; {pair}").parse().unwrap())])
    }

    #[test]
    fn a_one_time_token_opens_one_session() {
        let (keeper, _folder) = sample_keeper();
        let token = keeper.create_one_time();
        let cookie = keeper.open_session(&token).unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        assert!(keeper.has_session(&cookie_header(&cookie)));
        assert_eq!(keeper.open_session(&token), None, "it is used up");
        assert_eq!(keeper.open_session(""), None);
    }

    #[test]
    fn a_changed_cookie_opens_nothing() {
        let (keeper, _folder) = sample_keeper();
        let cookie = keeper.new_cookie();
        let value = cookie.split(['=', ';']).nth(1).unwrap();
        let name = &keeper.cookie_name;
        let (ends, rest) = value.split_once('-').unwrap();
        let later = format!("{:x}-{rest}", u64::from_str_radix(ends, 16).unwrap() + 1);
        for forged in ["", "-", &value[1..], &format!("{value}0"), &later, ends] {
            assert!(!keeper.has_session(&cookie_header(&format!("{name}={forged}"))), "{forged}");
        }
        assert!(keeper.has_session(&cookie_header(&format!("{name}={value}"))));
    }

    #[test]
    fn another_token_ends_the_session() {
        let (keeper, _folder) = sample_keeper();
        let (other, _other_folder) = sample_keeper();
        assert!(!other.has_session(&cookie_header(&keeper.new_cookie())));
    }
}
