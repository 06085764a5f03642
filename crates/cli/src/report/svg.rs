//! SVG without a background: black is the colour of the page's text.

use plotters::coord::Shift;
use plotters::prelude::*;

/// What the plotting crate says.
pub type Failed = Box<dyn std::error::Error>;

/// Width and height.
pub const SIZE: (u32, u32) = (640, 300);
/// The text of axes and legends.
pub const TEXT: (&str, u32) = ("sans-serif", 13);
/// Readable on white and on black, and apart from each other for most eyes that see colours
/// differently; the first two are those of the style sheet.
pub const COLOURS: [RGBColor; 7] = [
    RGBColor(59, 130, 246),
    RGBColor(234, 120, 40),
    RGBColor(22, 163, 120),
    RGBColor(196, 80, 190),
    RGBColor(170, 140, 20),
    RGBColor(220, 70, 90),
    RGBColor(130, 140, 150),
];

/// Where a plot is drawn.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws into a string.
pub fn svg(draw: impl FnOnce(&Area<'_>) -> Result<(), Failed>) -> Result<String, Failed> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&area)?;
        area.present()?;
    }
    Ok(text.replace("\"#000000\"", "\"currentColor\""))
}
