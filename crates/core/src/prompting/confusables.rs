//! Confusable characters: the ASCII letter or sign that a character looks like.
//!
//! The tables cover only the characters of fences, chat tokens and roles. A model reads `ＥＮＤ`
//! and `ЕND` as `END`, so the neutralizer does too.

use deunicode::deunicode_char;

use crate::model::text::is_invisible;

/// The ASCII look-alike in lower case; `None` for an invisible character.
pub(crate) fn skeleton_char(letter: char) -> Option<char> {
    if letter.is_ascii_graphic() {
        return Some(letter.to_ascii_lowercase());
    }
    if letter.is_whitespace() && !is_invisible(letter) || letter == '\t' {
        return Some(' ');
    }
    if is_invisible(letter) || is_combining(letter) {
        return None;
    }
    Some(sign_skeleton(letter).or_else(|| latin_skeleton(letter)).unwrap_or(letter))
}

fn is_combining(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

fn sign_skeleton(letter: char) -> Option<char> {
    Some(match letter {
        '\u{2550}' | '\u{a78a}' | '\u{fe66}' | '\u{2e40}' | '\u{30a0}' | '\u{207c}'
        | '\u{208c}' | '\u{2261}' | '\u{3013}' | '\u{2ed}' | '\u{1400}' => '=',
        '\u{2502}' | '\u{2503}' | '\u{2223}' | '\u{1c0}' | '\u{2758}' | '\u{23d0}' | '\u{a6}'
        | '\u{2551}' => '|',
        '\u{2039}' | '\u{2329}' | '\u{3008}' | '\u{27e8}' | '\u{276e}' | '\u{2c2}' | '\u{1438}'
        | '\u{fe64}' => '<',
        '\u{203a}' | '\u{232a}' | '\u{3009}' | '\u{27e9}' | '\u{276f}' | '\u{2c3}' | '\u{1433}'
        | '\u{fe65}' => '>',
        '\u{3010}' | '\u{3014}' | '\u{27e6}' | '\u{2772}' => '[',
        '\u{3011}' | '\u{3015}' | '\u{27e7}' | '\u{2773}' => ']',
        '\u{fe13}' | '\u{a789}' | '\u{2236}' | '\u{2d0}' | '\u{fe55}' | '\u{5c3}' => ':',
        '\u{2044}' | '\u{2215}' => '/',
        '\u{2581}' | '\u{fe4d}'..='\u{fe4f}' => '_',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        _ => return None,
    })
}

fn latin_skeleton(letter: char) -> Option<char> {
    let code = u32::from(letter);
    let of_row = |first: u32| char::from_u32(u32::from('a') + (code - first) % 26);
    match code {
        // Full-width forms of all of ASCII.
        0xff01..=0xff5e => char::from_u32(code - 0xfee0).map(|plain| plain.to_ascii_lowercase()),
        0x24b6..=0x24e9 => of_row(0x24b6),
        0x1d400..=0x1d6a3 => of_row(0x1d400),
        0x1f130..=0x1f149 => of_row(0x1f130),
        0x1f150..=0x1f169 => of_row(0x1f150),
        0x1f170..=0x1f189 => of_row(0x1f170),
        // Letters with accents, modifier letters and small capitals.
        0xc0..=0x24f | 0x1e00..=0x1eff | 0x1d00..=0x1d2b | 0x2100..=0x214f | 0xa730 | 0xa731 => {
            first_letter(letter)
        }
        0x250..=0x2af => first_letter(letter),
        _ => cyrillic_or_greek(letter),
    }
}

fn first_letter(letter: char) -> Option<char> {
    let plain = deunicode_char(letter)?.chars().next()?;
    plain.is_ascii_alphabetic().then(|| plain.to_ascii_lowercase())
}

fn cyrillic_or_greek(letter: char) -> Option<char> {
    Some(match letter {
        'а' | 'А' | 'α' | 'Α' => 'a',
        'в' | 'В' | 'β' | 'Β' | 'ь' | 'Ь' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' | 'ժ' => 'd',
        'е' | 'Е' | 'ё' | 'Ё' | 'ε' | 'Ε' => 'e',
        'ց' => 'g',
        'һ' | 'Н' | 'н' | 'Η' | 'հ' => 'h',
        'і' | 'І' | 'ї' | 'ι' | 'Ι' | 'ӏ' => 'i',
        'ј' | 'Ј' => 'j',
        'к' | 'К' | 'κ' | 'Κ' => 'k',
        'м' | 'М' | 'Μ' => 'm',
        'п' | 'ո' | 'η' | 'Ν' | 'и' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' | 'σ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'г' | 'ʀ' => 'r',
        'ѕ' | 'Ѕ' => 's',
        'т' | 'Т' | 'τ' | 'Τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' | 'ү' => 'y',
        'Ζ' => 'z',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(text.chars().filter_map(skeleton_char).collect::<String>(), expected);
    }

    #[test]
    fn what_looks_like_a_word_is_read_as_that_word() {
        check("SyStEm", "system");
        check("ＳＹＳＴＥＭ：", "system:");
        check("ѕуѕтем", "system");
        check("𝐬𝓎𝕤𝖙𝘦𝚖", "system");
        check("sýs̈tém", "system");
        check("ᴇɴᴅ", "end");
        check("ⒺⓃⒹ 🅴🅽🅳", "end end");
        check("E\u{200b}N\u{ad}D\u{e0041}", "end");
        check("＝═꞊", "===");
        check("<｜begin▁of▁sentence｜>", "<|begin_of_sentence|>");
    }

    #[test]
    fn other_writing_stays_other_writing() {
        check("漢字 שלום", "漢字 שלום");
    }
}
