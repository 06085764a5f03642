//! The frame of a page: one HTML file that needs nothing else.

const STYLE: &str = include_str!("page.css");

/// A whole page; `body` is HTML.
pub fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n{body}</html>\n",
        escape(title),
    )
}

/// A plot with its caption, which is HTML.
pub fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>\n")
}

/// Rows of a name and what it says, which is HTML.
pub fn facts<const N: usize>(rows: [(&str, String); N]) -> String {
    let row = |(name, value): (&str, String)| format!("<tr><th>{name}</th><td>{value}</td></tr>\n");
    format!("<table class=\"facts\">\n{}</table>\n", rows.map(row).concat())
}

/// Text that is no HTML.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            other => safe.push(other),
        }
    }
    safe
}
