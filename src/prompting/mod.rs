//! What a seat is sent: instructions of ours, and other people's text inside fences.
