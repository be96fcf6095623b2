//! [`ModelList`]: the document of `plenary models`, and its page.

use serde::Serialize;

use crate::model::string_enum::words;
use crate::model::time::Day;
use crate::report::page::{
    ColumnKind, PageBlock, PageSection, PageTable, RichText, TableColumn, TableRow, TextTone,
};
use crate::report::phrases::count_noun;

words! {
    /// Where a list of models comes from.
    pub enum ModelListSource {
        /// The provider's own list.
        Provider = "provider",
        /// The facts that Plenary contains.
        Facts = "facts",
    }
}

#[derive(Debug, Serialize)]
pub struct ModelList {
    pub providers: Vec<ProviderModels>,
}

#[derive(Debug, Serialize)]
pub struct ProviderModels {
    pub name: String,
    pub source: ModelListSource,
    /// Why the provider's own list is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub models: Vec<ListedModel>,
}

#[derive(Debug, Serialize)]
pub struct ListedModel {
    pub model: String,
    pub context_tokens: Option<u64>,
    pub output_tokens: Option<u32>,
    /// `None` if it is unknown.
    pub price: Option<ListedPrice>,
    pub reasons: bool,
    pub retires: Option<Day>,
    /// Whether `latest` takes this model.
    pub preferred: bool,
}

/// Dollars per million tokens.
#[derive(Debug, Serialize)]
pub struct ListedPrice {
    pub input: f64,
    pub cached_input: Option<f64>,
    pub output: f64,
}

/// One section for each provider.
pub fn model_list_sections(list: &ModelList) -> Vec<PageSection> {
    list.providers.iter().map(provider_section).collect()
}

fn provider_section(listed: &ProviderModels) -> PageSection {
    let count = count_noun(listed.models.len(), "model");
    let note = match (listed.source, &listed.reason) {
        (ModelListSource::Provider, _) => format!("offers {count}"),
        (ModelListSource::Facts, None) => format!("{count} in Plenary's table"),
        (ModelListSource::Facts, Some(reason)) => {
            format!("{count} in Plenary's table; {reason}")
        }
    };
    let columns = [
        ("model", ColumnKind::Whole),
        ("context", ColumnKind::Number),
        ("output", ColumnKind::Number),
        ("$ in", ColumnKind::Number),
        ("cached", ColumnKind::Number),
        ("$ out", ColumnKind::Number),
        ("", ColumnKind::Wrap),
    ];
    let columns = columns.map(|(heading, kind)| TableColumn::new(heading, kind));
    let rows = listed.models.iter().map(model_row).collect();
    let table = PageBlock::Table(PageTable { columns: columns.to_vec(), rows });
    PageSection::new(listed.name.clone(), vec![table]).with_note(note)
}

fn model_row(listed: &ListedModel) -> TableRow {
    let dollars = |price: Option<f64>| price.map_or_else(String::new, |usd| usd.to_string());
    let price = listed.price.as_ref();
    let tokens = |count: Option<u64>| count.map_or_else(String::new, format_tokens);
    let name = match listed.preferred {
        true => RichText::strong(&listed.model),
        false => listed.model.as_str().into(),
    };
    let notes = [
        listed.preferred.then(|| RichText::toned("latest", TextTone::Good)),
        listed.reasons.then(|| RichText::toned("reasons", TextTone::Faint)),
        listed.retires.map(|day| RichText::toned(format!("retires {day}"), TextTone::Caution)),
    ];
    let notes = notes
        .into_iter()
        .flatten()
        .reduce(|all, note| all.push(" · ", TextTone::Faint).append(note));
    TableRow::new(vec![
        name,
        tokens(listed.context_tokens).into(),
        tokens(listed.output_tokens.map(u64::from)).into(),
        dollars(price.map(|price| price.input)).into(),
        dollars(price.and_then(|price| price.cached_input)).into(),
        dollars(price.map(|price| price.output)).into(),
        notes.unwrap_or_default(),
    ])
}

/// `200k`, `1.05M`.
fn format_tokens(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => {
            let millions = format!("{:.2}", tokens as f64 / 1e6);
            format!("{}M", millions.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::terminal::layout::{PageCanvas, StyledLine};
    use crate::report::terminal::page::draw_sections;

    fn sample_list() -> ModelList {
        let model = |model: &str, preferred: bool, retires: Option<&str>| ListedModel {
            model: model.to_owned(),
            context_tokens: Some(1_048_576),
            output_tokens: Some(65_536),
            price: Some(ListedPrice { input: 0.75, cached_input: Some(0.075), output: 3.75 }),
            reasons: true,
            retires: retires.map(|day| day.parse().unwrap()),
            preferred,
        };
        let unknown = ListedModel {
            context_tokens: None,
            output_tokens: None,
            price: None,
            reasons: false,
            ..model("gemini-exp-with-a-long-name-1206", false, None)
        };
        let models = vec![
            model("gemini-3.8-flash", true, None),
            model("gemini-3.1-flash-lite", false, Some("2027-05-07")),
            unknown,
        ];
        let source = ModelListSource::Provider;
        let listed = ProviderModels { name: "gemini".to_owned(), source, reason: None, models };
        ModelList { providers: vec![listed] }
    }

    fn draw(width: usize) -> String {
        let lines = draw_sections(&model_list_sections(&sample_list()), PageCanvas { width });
        let plain = |line: &StyledLine| anstream::adapter::strip_str(&line.to_string()).to_string();
        lines.iter().map(|line| plain(line).trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn the_table_fits_wide_and_narrow_terminals() {
        for width in [60, 80, 120] {
            let page = draw(width);
            assert!(page.lines().all(|line| line.chars().count() <= width), "{width}:\n{page}");
            for text in ["gemini-3.8-flash", "1.05M", "0.075", "retires 2027-05-07", "latest"] {
                assert!(page.contains(text), "{width}: no {text} in\n{page}");
            }
        }
    }

    #[test]
    fn numbers_of_tokens_are_short() {
        let check = |tokens: u64, expected: &str| assert_eq!(format_tokens(tokens), expected);
        check(999, "999");
        check(8_192, "8k");
        check(200_000, "200k");
        check(1_000_000, "1M");
        check(1_048_576, "1.05M");
    }
}
