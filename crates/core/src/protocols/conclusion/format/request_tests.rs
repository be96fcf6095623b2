//! Questions with a format constraint, and many more that only mention one.

use crate::protocols::conclusion::format::constraint::find_constraints;

/// The constraints on one line, or `-`.
fn describe_constraints(question: &str) -> String {
    let constraints: Vec<String> =
        find_constraints(question).iter().map(ToString::to_string).collect();
    if constraints.is_empty() { "-".to_owned() } else { constraints.join(", ") }
}

/// Reports all wrong rows at once.
#[track_caller]
fn check(table: &[(&str, &str)]) {
    let wrong = table.iter().filter(|(question, due)| describe_constraints(question) != *due);
    let wrong: Vec<String> =
        wrong.map(|(q, due)| format!("{q:?}: {} (due: {due})", describe_constraints(q))).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_limit_is_a_maximum() {
    check(&[
        ("Limit your answer to 100 words.", "at most 100 words"),
        ("Limit: 100 words. Should we cache?", "at most 100 words"),
    ]);
}

#[test]
fn a_command_is_a_request() {
    check(&[
        ("Answer in exactly 5 lines.", "exactly 5 lines"),
        ("Should we ship? Answer in 5 lines.", "exactly 5 lines"),
        ("Should we ship? Please answer in exactly five lines!", "exactly 5 lines"),
        ("Explain consensus in 5 lines", "exactly 5 lines"),
        ("Explain in exactly 5 lines why the cache is slow.", "exactly 5 lines"),
        ("Explain, in 5 lines, why the cache is slow.", "exactly 5 lines"),
        ("Explain how TCP works in 3 sentences.", "exactly 3 sentences"),
        ("Summarise the risks as 3 bullet points.", "exactly 3 bullets"),
        ("Summarize the debate using three bullets", "exactly 3 bullets"),
        ("Describe the trade-off in two sentences.", "exactly 2 sentences"),
        ("Tell me in at most 100 words whether to sell.", "at most 100 words"),
        ("Reply with no more than 3 sentences.", "at most 3 sentences"),
        ("Answer in under 50 words.", "at most 49 words"),
        ("Respond in fewer than 4 lines.", "at most 3 lines"),
        ("Answer with at least 4 bullets.", "at least 4 bullets"),
        ("Give me between 3 and 5 bullets.", "3 to 5 bullets"),
        ("Give 3-5 bullets on the risks.", "3 to 5 bullets"),
        ("Answer in 3 to 5 sentences.", "3 to 5 sentences"),
        ("Answer in one or two sentences.", "1 to 2 sentences"),
        ("Give me a 5-line summary.", "exactly 5 lines"),
        ("Write a 5 line summary of the options.", "exactly 5 lines"),
        ("Give me a one-sentence answer.", "exactly 1 sentence"),
        ("Write a 100-word summary for the board.", "about 100 words"),
        ("Limit yourself to 50 words.", "at most 50 words"),
        ("Limit your answer to at most 50 words.", "at most 50 words"),
        ("Keep it to three bullets.", "at most 3 bullets"),
        ("Keep your answer under 100 words.", "at most 99 words"),
        ("Use at most three sentences.", "at most 3 sentences"),
        ("Use a maximum of 80 words.", "at most 80 words"),
        ("Answer in up to 6 lines.", "at most 6 lines"),
        ("Answer in about 100 words.", "about 100 words"),
        ("Explain it in roughly 200 words.", "about 200 words"),
        ("Answer in a single sentence.", "exactly 1 sentence"),
        ("Explain it in a sentence.", "exactly 1 sentence"),
        ("Decide: tabs or spaces. Justify in one line.", "exactly 1 line"),
        ("Answer in bullet points.", "at least 1 bullet"),
        ("Give your answer as a bulleted list.", "at least 1 bullet"),
        ("Use bullets.", "at least 1 bullet"),
        ("Answer in a dozen lines.", "-"),
        ("Answer in twenty words.", "about 20 words"),
        ("Answer in exactly twenty words.", "exactly 20 words"),
        ("Answer in one word.", "exactly 1 word"),
        ("Do not write more than 100 words.", "at most 100 words"),
        ("Don't exceed 3 sentences.", "at most 3 sentences"),
        ("Could you explain Raft in 3 sentences?", "exactly 3 sentences"),
        ("If so, explain why in 3 bullets.", "exactly 3 bullets"),
        ("You are a pirate. Answer in exactly 5 lines, like a pirate.", "exactly 5 lines"),
        ("Give me a summary of at most 100 words.", "at most 100 words"),
        ("Write a summary no longer than 5 lines.", "at most 5 lines"),
        ("Answer in **exactly 5 lines**.", "exactly 5 lines"),
        ("Answer in\nexactly 5 lines", "exactly 5 lines"),
        ("Answer in 5 lines or less.", "at most 5 lines"),
        ("Answer in 100 words max.", "at most 100 words"),
        ("should we ship or not, answer in 5 lines", "exactly 5 lines"),
        ("Explain it in no more than two (2) sentences.", "-"),
    ]);
}

#[test]
fn a_statement_about_the_answer_is_a_request() {
    check(&[
        ("Should we ship? 5 lines.", "exactly 5 lines"),
        ("Should we ship? Five lines", "exactly 5 lines"),
        ("Should we ship? Max 50 words.", "at most 50 words"),
        ("Should we ship? (max 50 words)", "at most 50 words"),
        ("Should we ship? In 5 lines, please.", "exactly 5 lines"),
        ("Should we ship? One-sentence answer please.", "exactly 1 sentence"),
        ("Should we ship? No more than 3 sentences.", "at most 3 sentences"),
        ("Should we ship? Bullet points, please.", "at least 1 bullet"),
        ("Should we ship? 5 lines, no jargon.", "exactly 5 lines"),
        ("Should we ship, in exactly 5 lines?", "exactly 5 lines"),
        ("In exactly 5 lines: should we ship?", "exactly 5 lines"),
        ("In two sentences, should we ship?", "exactly 2 sentences"),
        ("In 3 bullets explain why we should ship.", "exactly 3 bullets"),
        ("In 5 lines or less, what is a monad?", "at most 5 lines"),
        ("Your answer must be exactly 5 lines.", "exactly 5 lines"),
        ("What, in one sentence, is the risk?", "-"),
        ("You have 5 lines to convince me.", "-"),
        ("The answer should have at most 3 bullets.", "at most 3 bullets"),
        ("The recommendation must not exceed 100 words.", "at most 100 words"),
        ("Your reply should be in two sentences.", "exactly 2 sentences"),
        ("Format: exactly 5 lines.", "exactly 5 lines"),
        ("Answer format: 3 bullets", "exactly 3 bullets"),
        ("Length: at most 100 words.", "at most 100 words"),
        ("You have 100 words.", "-"),
    ]);
}

#[test]
fn a_second_request_counts_only_as_a_word_limit() {
    check(&[
        ("Answer in two paragraphs.", "exactly 2 paragraphs"),
        ("Answer in 3 sentences, max 50 words.", "exactly 3 sentences, at most 50 words"),
        ("Answer in 5 lines and at most 100 words.", "exactly 5 lines, at most 100 words"),
        ("Answer in at least 3 bullets. No more than 5 bullets.", "-"),
        ("Explain it in 5 lines using bullets.", "-"),
        // A constraint on each item, or on a part, is none on the whole.
        ("Answer in one sentence, then 3 bullets.", "-"),
        ("Give me one sentence and three bullets.", "-"),
        ("Give me four sentences and three bullets.", "-"),
        ("Give me two sentences and then five lines.", "-"),
        ("Answer in one sentence. Then list the risks in 3 bullets.", "-"),
        ("Give a one-line verdict. Then explain it.", "-"),
        ("Give a one-line verdict. Explain your reasoning.", "-"),
        ("Answer in one sentence and explain why.", "-"),
        ("Give your verdict in one line, followed by 3 bullets.", "-"),
        ("Give the verdict in one sentence. List the risks in 3 bullets.", "-"),
        ("Give me 3 bullets for and 3 bullets against.", "-"),
        ("Give me 3 bullets of pros and 3 of cons.", "-"),
        ("Answer in 5 lines or 3 sentences.", "-"),
        ("Answer in 3 bullets, max 10 words.", "exactly 3 bullets"),
        ("Answer in 3 bullets, then at most 50 words.", "-"),
        ("Give a one-line verdict and at most 50 words of reasoning.", "-"),
        ("Give me one sentence and then 3 bullets comparing them.", "-"),
        ("Answer in 5 lines. Answer in 7 lines.", "-"),
        ("For each option, write 2 sentences.", "-"),
        ("Describe every option in two sentences.", "-"),
        ("Give a one-sentence summary of each option.", "-"),
        ("Start with one sentence.", "-"),
        ("Conclude with one sentence.", "-"),
        ("Then give a one-sentence recommendation.", "-"),
    ]);
}

/// The critic's model judges these.
#[test]
fn a_form_outside_the_list_is_no_request() {
    check(&[
        ("Should we migrate in exactly 5 lines?", "-"),
        ("Explain why we should not ship in 5 lines.", "-"),
        ("Answer in 3 bullets, each one sentence.", "-"),
    ]);
}

#[test]
fn a_format_that_is_only_mentioned_is_no_request() {
    check(&[
        ("How should we parse files with 5 lines?", "-"),
        ("Our linter limits a function to 5 lines. Is that wise?", "-"),
        ("Should a linter limit a function to 5 lines?", "-"),
        ("Is 'in two words' an idiom?", "-"),
        ("Is in two words an idiom?", "-"),
        ("Our README has 300 words, is that too long?", "-"),
        ("Our README: 300 words. Is that too long?", "-"),
        ("300 words. Is that too long?", "-"),
        ("What do the first 3 lines of the file say?", "-"),
        ("Explain the first 3 lines of the file.", "-"),
        ("Should we adopt a policy of no more than 3 bullets per slide?", "-"),
        ("No more than 3 bullets per slide: a good rule?", "-"),
        ("Should commit messages be limited to 50 words?", "-"),
        ("Should we limit commit messages to one line?", "-"),
        ("Keep commit messages to one line?", "-"),
        ("Keep the README under 300 words.", "-"),
        ("Can it be implemented in 5 lines?", "-"),
        ("Can quicksort be written in 5 lines of Haskell?", "-"),
        ("Write a function in 5 lines.", "-"),
        ("Write 5 lines of code.", "-"),
        ("Write a 5-line function.", "-"),
        ("Explain how grep reads input in 5 lines.", "-"),
        ("Tell me how to write it in 5 lines.", "-"),
        ("Decide whether we should describe services in one sentence.", "-"),
        ("Why do tweets have at most 50 words?", "-"),
        ("Does a haiku have 3 lines?", "-"),
        ("Is a one-sentence answer enough for our FAQ?", "-"),
        ("Should our bot answer in 5 lines?", "-"),
        ("Should our bot answer in exactly 5 lines or in 10 lines?", "-"),
        ("My boss told me to answer in 5 lines. Should I?", "-"),
        ("My boss said: answer in 5 lines. Should I?", "-"),
        ("Our prompt says \"answer in exactly 5 lines\". Is it good?", "-"),
        ("Our prompt says `answer in 5 lines`. Is it good?", "-"),
        ("Is this prompt good?\n```\nAnswer in exactly 5 lines.\n```", "-"),
        ("Is this prompt good?\n> Answer in exactly 5 lines.", "-"),
        ("Review this prompt: Answer in 5 lines.", "-"),
        ("Here is our style guide:\n- max 3 bullets\n- at most 50 words\nIs it sound?", "-"),
        ("Here is my draft:\n\nAnswer in 5 lines.\n\nIs it good?", "-"),
        ("Do not answer in one line.", "-"),
        ("Don't use bullets.", "-"),
        ("No bullet points.", "-"),
        ("Answer without bullets.", "-"),
        ("Explain it in prose rather than 5 bullets.", "-"),
        ("If you answer in 5 lines, nobody reads it. Why?", "-"),
        ("The team wrote the plan in two sentences. Is it any good?", "-"),
        ("He answered, in two words, that we should stop. Was he right?", "-"),
    ]);
}

#[test]
fn a_format_of_the_subject_is_no_request() {
    check(&[
        ("In two sentences the author claims that it works. Is he right?", "-"),
        ("In two sentences, the author claims that it works. Is he right?", "-"),
        ("Is our README - 300 words - too long?", "-"),
        ("Should we shorten the README (300 words)?", "-"),
        ("Should we keep the limit (max 300 words)?", "-"),
        ("Which is better: a summary in 5 lines, or in 10 lines?", "-"),
        ("Which of these two sentences is better?", "-"),
        ("What is wrong with these 3 lines?", "-"),
        ("Give me 5 words for snow.", "-"),
        ("Give me 5 words that rhyme with ship.", "-"),
        ("List five words.", "-"),
        ("Suggest names in two words.", "-"),
        ("Delete 3 lines from the config?", "-"),
        ("We need two sentences for the footer. Which?", "-"),
        ("We want commit messages with at most 50 words. Should we enforce it?", "-"),
        ("Explain the rule that slides have 3 bullets.", "-"),
        ("In other words, should we ship?", "-"),
        ("Say it in your own words.", "-"),
        ("Tell me in a few words.", "-"),
        ("Should we read between the lines?", "-"),
        ("Should we drop the two product lines?", "-"),
        ("Two lines of business lose money. Which goes first?", "-"),
        ("Our assembly has 3 lines. Should we add one?", "-"),
        ("Are there silver bullets?", "-"),
        ("Is it a 5-line change?", "-"),
        ("Does the 100-word abstract hold up?", "-"),
        ("Output in 5 lines is truncated, why?", "-"),
        ("Review comments in 3 lines are ignored. Why?", "-"),
        ("Why is the error repeated in 3 lines?", "-"),
        ("Options:\n1. 5 lines\n2. 10 lines", "-"),
        ("Should titles be short, at most 5 words?", "-"),
        ("It has a short description. Two sentences. How do we expand it?", "-"),
        ("The model answers in 5 lines. Is it right to complain?", "-"),
        ("Answer in 1.5 lines.", "-"),
        ("Answer in 0 lines.", "-"),
        ("Should the summary in our PR template be 3 lines?", "-"),
        ("Our abstract must have at most 250 words; what do we cut?", "-"),
        ("The form says your answer must be 5 lines. Is that legal?", "-"),
        ("Is this sentence too long: Answer in 5 lines, please.", "-"),
        ("Which prompt is better?\n1. Answer in 5 lines.\n2. Answer in 3 bullets.", "-"),
        ("Which prompt is better?\nA: Answer in 5 lines.\nB: Answer in 3 bullets.", "-"),
        ("Our guideline is: use at most 3 bullets. Good?", "-"),
        ("Evaluate our policy: summaries in at most 3 bullets.", "-"),
        ("Should we write the intro in exactly 5 lines?", "-"),
        ("Should we put the intro in exactly 5 lines?", "-"),
        ("Should the bot phrase it in exactly 5 lines?", "-"),
        ("Choose between 3 and 5 bullets for the slide.", "-"),
        ("Compare a 5-line summary with a 10-line summary.", "-"),
        ("", "-"),
    ]);
}
