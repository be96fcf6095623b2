//! stub
#[derive(Debug)]
pub struct Mask;
impl Mask {
    pub fn new<'a>(
        _names: impl Iterator<Item = &'a str>,
        _said: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self
    }
    pub fn apply(&self, text: &str) -> (String, usize) {
        (text.to_owned(), 0)
    }
}
