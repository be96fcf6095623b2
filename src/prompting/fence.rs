//! stub
#[derive(Debug)]
pub struct Fences(String);
impl Fences {
    pub fn new(secret: &str, round: u8, _texts: &[&str]) -> Self {
        Self(format!("{secret}{round}"))
    }
    pub fn around(&self, label: &str, whose: &str, text: &str) -> String {
        format!(
            "The text of {whose}:\n--- {label} {} ---\n{text}\n--- END {label} {} ---",
            self.0, self.0
        )
    }
}
