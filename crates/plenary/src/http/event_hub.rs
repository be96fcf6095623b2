//! [`EventHub`]: reads the journals that clients follow, once for all of them.
//!
//! A feed holds the events of one dialogue as text, in the order of the journal. Clients read from
//! feeds at their own pace, so a slow client costs no other client and no run.
//!
//! **Invariant:** when the hub publishes number N, every feed has all entries up to N.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::ethos::rule_set::EthosStatus;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntry, JournalEntryKind, JournalEvent};
use plenary_core::model::time::Moment;
use plenary_core::report::events::RunEvent;
use plenary_engine::app::project::Project;
use plenary_engine::app::run_server::{RunServer, run_blocking};
use plenary_engine::app::run_status::RunFollower;
use plenary_engine::engine::live_text::{LiveReader, WritingEvent};
use plenary_engine::engine::run::lock_mutex;
use plenary_engine::error::{Error, to_json_text};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::sleep;

/// Interval between two looks at the journal and at what seats are writing.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Parts of replies that a feed keeps. A client that missed some gets the whole text again.
const PARTS_MAX: usize = 256;

/// Bytes of one unfinished reply that a feed keeps for new clients.
const WRITING_BYTES_MAX: usize = 256 * 1024;

/// Place of an event: the global number of its entry, and its place in the entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventPlace {
    pub seq: u64,
    pub index: u32,
}

impl EventPlace {
    /// Parses `seq.n`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (seq, index) = text.split_once('.')?;
        Some(Self { seq: seq.parse().ok()?, index: index.parse().ok()? })
    }
}

/// Which changes were published: the journal's number, and a count of all changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HubNews {
    pub head: u64,
    changes: u64,
}

#[derive(Debug)]
pub(crate) struct EventHub {
    run_server: Arc<RunServer>,
    feeds: Mutex<HubFeeds>,
    news: watch::Sender<HubNews>,
}

#[derive(Debug, Default)]
struct HubFeeds {
    by_dialogue: BTreeMap<DialogueId, Arc<DialogueFeed>>,
    /// Clients that follow the hub; without one it does not poll.
    clients: usize,
    is_polling: bool,
}

/// The events of one dialogue.
#[derive(Debug)]
struct DialogueFeed {
    id: DialogueId,
    content: Mutex<FeedContent>,
}

#[derive(Debug)]
struct FeedContent {
    follower: RunFollower,
    live: LiveReader,
    /// Events of the journal, in order.
    frames: Vec<(EventPlace, Bytes)>,
    /// What each ask has written so far.
    writing: BTreeMap<u32, WritingEvent>,
    /// The newest parts, and the number of the first of them.
    parts: VecDeque<Bytes>,
    first_part: u64,
}

impl EventHub {
    pub(crate) fn new(run_server: Arc<RunServer>) -> Arc<Self> {
        let (news, _) = watch::channel(HubNews::default());
        Arc::new(Self { run_server, feeds: Mutex::default(), news })
    }

    /// Follows dialogues from a place on; without dialogues only the journal's number.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        ids: Vec<DialogueId>,
        after: EventPlace,
    ) -> Result<HubClient, Error> {
        let client = self.add_client(ids, after);
        let (hub, feeds) = (Arc::clone(self), client.feeds.clone());
        // Each feed is in the hub before it is read, so that no entry falls between the two.
        run_blocking(move || {
            let project = hub.run_server.open_project()?;
            for (feed, _) in &feeds {
                let mut content = lock_mutex(&feed.content);
                // The feed of another client is complete, and each poll reads the rest.
                if content.follower.seq > 0 {
                    continue;
                }
                if project.store.load_dialogue(&feed.id)?.is_none() {
                    return Err(dialogue_not_found(feed.id.as_str()).into());
                }
                content.read_journal(&project, &feed.id)?;
            }
            Ok(())
        })
        .await?;
        Ok(client)
    }

    fn add_client(self: &Arc<Self>, ids: Vec<DialogueId>, after: EventPlace) -> HubClient {
        let mut feeds = lock_mutex(&self.feeds);
        feeds.clients += 1;
        if !feeds.is_polling {
            feeds.is_polling = true;
            tokio::spawn(poll_journal(Arc::clone(self)));
        }
        let protocols = &self.run_server.loader.protocols;
        let followed = ids.into_iter().map(|id| {
            let feed = feeds.by_dialogue.entry(id.clone());
            let feed = feed.or_insert_with(|| {
                let content = FeedContent::new(RunFollower::new(protocols));
                Arc::new(DialogueFeed { id, content: Mutex::new(content) })
            });
            (Arc::clone(feed), PartsCursor::default())
        });
        HubClient {
            feeds: followed.collect(),
            hub: Arc::clone(self),
            news: self.news.subscribe(),
            sent: after,
        }
    }

    /// Reads the journal for all feeds; returns whether to continue.
    fn poll_once(&self) -> Result<bool, Error> {
        let project = self.run_server.open_project()?;
        let head = project.store.load_head(None)?.seq;
        let feeds: Vec<Arc<DialogueFeed>> = {
            let mut feeds = lock_mutex(&self.feeds);
            if feeds.clients == 0 {
                feeds.is_polling = false;
                return Ok(false);
            }
            feeds.by_dialogue.values().cloned().collect()
        };
        let is_longer = head != self.news.borrow().head;
        let mut has_parts = false;
        for feed in feeds {
            let mut content = lock_mutex(&feed.content);
            if is_longer {
                content.read_journal(&project, &feed.id)?;
            }
            has_parts |= content.read_parts(&self.run_server);
        }
        if is_longer || has_parts {
            self.news.send_modify(|news| *news = HubNews { head, changes: news.changes + 1 });
        }
        Ok(true)
    }
}

async fn poll_journal(hub: Arc<EventHub>) {
    loop {
        let polled = Arc::clone(&hub);
        // A store that cannot be read now may be readable the next time.
        if let Ok(false) = run_blocking(move || polled.poll_once()).await {
            return;
        }
        sleep(POLL_INTERVAL).await;
    }
}

impl FeedContent {
    fn new(follower: RunFollower) -> Self {
        Self {
            follower,
            live: LiveReader::from_start(),
            frames: Vec::new(),
            writing: BTreeMap::new(),
            parts: VecDeque::new(),
            first_part: 0,
        }
    }

    /// Adds the events of entries that the feed does not have.
    fn read_journal(&mut self, project: &Project, id: &DialogueId) -> Result<(), Error> {
        let after = self.follower.seq;
        let entries = project.store.load_entries(id, after)?;
        let places = project.store.load_entry_places(id, after)?;
        for (entry, place) in entries.iter().zip(places) {
            let changes = self.follower.apply_entry(entry);
            let events = self.follower.events_of(&changes);
            for (index, event) in (0_u32..).zip(stamp_events(id, entry, &events)?) {
                let place = EventPlace { seq: place.global_seq, index };
                let text = format!("id: {}.{index}\ndata: {event}\n\n", place.seq);
                self.frames.push((place, Bytes::from(text)));
            }
        }
        let state = self.follower.state.as_ref();
        let is_open = |ask: u32| {
            let asked = state.and_then(|state| state.find_ask(ask));
            asked.is_some_and(|asked| asked.last_reply().is_none() && !asked.gave_up)
        };
        self.writing.retain(|ask, _| is_open(*ask));
        Ok(())
    }

    /// Adds what seats have written since; returns whether there is something new.
    fn read_parts(&mut self, run_server: &RunServer) -> bool {
        let parts = run_server.read_writing(&self.follower, &mut self.live);
        let Some(state) = &self.follower.state else { return false };
        let before = self.parts.len();
        let mut has_new = false;
        for part in parts {
            let asked = state.find_ask(part.ask);
            if asked.is_none_or(|asked| asked.last_reply().is_some()) {
                continue;
            }
            let Ok(text) = to_json_text(&part) else { continue };
            self.parts.push_back(Bytes::from(format!("data: {text}\n\n")));
            has_new = true;
            keep_text(&mut self.writing, &part);
        }
        while self.parts.len() > PARTS_MAX.max(before) {
            self.parts.pop_front();
            self.first_part += 1;
        }
        has_new
    }

    /// The parts after a number. A client that missed parts, or is new, gets whole texts.
    fn parts_after(&self, cursor: &mut PartsCursor) -> Vec<Bytes> {
        let end = self.first_part + self.parts.len() as u64;
        let from = cursor.next.replace(end);
        let missed = match from {
            Some(from) if from >= self.first_part => {
                let skipped = usize::try_from(from - self.first_part).unwrap_or(usize::MAX);
                return self.parts.iter().skip(skipped).cloned().collect();
            }
            Some(_) | None => self.writing.values(),
        };
        let texts = missed.filter_map(|whole| to_json_text(whole).ok());
        texts.map(|text| Bytes::from(format!("data: {text}\n\n"))).collect()
    }
}

/// Adds a part to the text of its ask. A new attempt starts a new text.
fn keep_text(writing: &mut BTreeMap<u32, WritingEvent>, part: &WritingEvent) {
    let known = writing.entry(part.ask).or_insert_with(|| WritingEvent {
        text: String::new(),
        bytes: 0,
        ..part.clone()
    });
    if part.bytes < known.bytes + part.text.len() || known.text.len() > WRITING_BYTES_MAX {
        known.text.clear();
    }
    known.text.push_str(&part.text);
    known.bytes = part.bytes;
}

/// The events of an entry as JSON. An entry without an event of its run says what it records.
fn stamp_events(
    id: &DialogueId,
    entry: &JournalEntry,
    events: &[RunEvent],
) -> Result<Vec<String>, Error> {
    #[derive(Serialize)]
    struct StampedFrame<'a, E> {
        seq: u64,
        ts: Moment,
        dialogue_id: &'a DialogueId,
        #[serde(flatten)]
        event: E,
    }
    #[derive(Serialize)]
    struct RecordedEntry<'a> {
        event: &'static str,
        kind: JournalEntryKind,
        #[serde(skip_serializing_if = "Option::is_none")]
        ethos: Option<RecordedEthos<'a>>,
    }
    #[derive(Serialize)]
    struct RecordedEthos<'a> {
        status: EthosStatus,
        open_conflicts: usize,
        approved_by: Option<&'a str>,
    }
    let (seq, ts) = (entry.seq, entry.at);
    if events.is_empty() {
        let ethos = entry.events.iter().rev().find_map(|change| {
            let JournalEvent::EthosSaved(saved) = change else { return None };
            Some(RecordedEthos {
                status: saved.status,
                open_conflicts: saved.open_conflicts().count(),
                approved_by: saved.approved_by.as_deref(),
            })
        });
        let event = RecordedEntry { event: "recorded", kind: entry.kind, ethos };
        return Ok(vec![to_json_text(&StampedFrame { seq, ts, dialogue_id: id, event })?]);
    }
    let stamp = |event| to_json_text(&StampedFrame { seq, ts, dialogue_id: id, event });
    events.iter().map(stamp).collect()
}

/// The number of the next part that a client has not got; none before its first.
#[derive(Debug, Clone, Copy, Default)]
struct PartsCursor {
    next: Option<u64>,
}

/// A client of the hub; dropping it ends its subscription.
#[derive(Debug)]
pub(crate) struct HubClient {
    feeds: Vec<(Arc<DialogueFeed>, PartsCursor)>,
    hub: Arc<EventHub>,
    news: watch::Receiver<HubNews>,
    /// The last event that the client has.
    sent: EventPlace,
}

impl HubClient {
    /// Waits until there may be something new.
    pub(crate) async fn wait_for_news(&mut self) {
        // The hub lives as long as its clients.
        let _ = self.news.changed().await;
    }

    /// What the client has not got, in the order of the journal; then what seats are writing.
    pub(crate) fn take_news(&mut self) -> Vec<Bytes> {
        let head = self.news.borrow_and_update().head;
        if self.feeds.is_empty() {
            return self.take_head(head);
        }
        let mut fresh: Vec<(EventPlace, Bytes)> = Vec::new();
        let mut parts: Vec<Bytes> = Vec::new();
        for (feed, cursor) in &mut self.feeds {
            let content = lock_mutex(&feed.content);
            let start = content.frames.partition_point(|(place, _)| *place <= self.sent);
            let known = content.frames.iter().skip(start);
            fresh.extend(known.take_while(|(place, _)| place.seq <= head).cloned());
            parts.extend(content.parts_after(cursor));
        }
        fresh.sort_by_key(|(place, _)| *place);
        if let Some((last, _)) = fresh.last() {
            self.sent = *last;
        }
        fresh.into_iter().map(|(_, frame)| frame).chain(parts).collect()
    }

    /// A client without dialogues learns that the store has changed.
    fn take_head(&mut self, head: u64) -> Vec<Bytes> {
        if head <= self.sent.seq {
            return Vec::new();
        }
        self.sent = EventPlace { seq: head, index: 0 };
        let text = format!("id: {head}.0\ndata: {{\"event\":\"changed\",\"seq\":{head}}}\n\n");
        vec![Bytes::from(text)]
    }
}

impl Drop for HubClient {
    fn drop(&mut self) {
        let mut feeds = lock_mutex(&self.hub.feeds);
        feeds.clients -= 1;
        self.feeds.clear();
        // A feed that no client holds has one owner, the hub.
        feeds.by_dialogue.retain(|_, feed| Arc::strong_count(feed) > 1);
    }
}
