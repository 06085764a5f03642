//! The plots that do not move, as SVG without a background: black is the colour of the page's text.

use favard_engine::Record;
use plotters::coord::Shift;
use plotters::prelude::*;

/// What the plotting crate says.
pub type Failed = Box<dyn std::error::Error>;

const SIZE: (u32, u32) = (640, 300);
const TEXT: (&str, u32) = ("sans-serif", 13);
/// Readable on white and on black.
const SERIES: RGBColor = RGBColor(59, 130, 246);
const SECOND: RGBColor = RGBColor(234, 120, 40);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws into a string.
fn svg(draw: impl FnOnce(&Area<'_>) -> Result<(), Failed>) -> Result<String, Failed> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&area)?;
        area.present()?;
    }
    Ok(text.replace("\"#000000\"", "\"currentColor\""))
}

/// The shares as bars, and their sum as a line.
pub fn scree(shares: &[f64]) -> Result<String, Failed> {
    let total = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    svg(|area| {
        let last = shares.len() as f64 + 0.5;
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(32)
            .y_label_area_size(56)
            .build_cartesian_2d(0.5..last, 0.0..108.0 * total)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .label_style(TEXT)
            .x_desc("component")
            .y_desc("% of the variance")
            .x_labels(shares.len().min(20))
            .x_label_formatter(&|x| format!("{x:.0}"))
            .draw()?;
        let bars = (1_u32..).zip(shares).map(|(j, share)| {
            let j = f64::from(j);
            Rectangle::new([(j - 0.4, 0.0), (j + 0.4, 100.0 * share)], SERIES.filled())
        });
        chart.draw_series(bars)?;
        let sums = (1_u32..).zip(shares).scan(0.0, |sum, (j, share)| {
            *sum += 100.0 * share;
            Some((f64::from(j), *sum))
        });
        chart.draw_series(LineSeries::new(sums.clone(), SECOND.stroke_width(2)))?;
        chart.draw_series(sums.map(|point| Circle::new(point, 3, SECOND.filled())))?;
        Ok(())
    })
}

/// Relative residuals against passes; `None` when there are no two of them.
pub fn course(history: &[Record<f64>], tolerance: f64) -> Result<Option<String>, Failed> {
    let relative = |record: &Record<f64>| (record.passes, record.residual / record.ritz.abs());
    let seen = |point: &(f64, f64)| point.1.is_finite() && point.1 > 0.0;
    let points: Vec<(f64, f64)> = history.iter().map(relative).filter(seen).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(None) };
    if points.len() < 2 || last.0 <= first.0 {
        return Ok(None);
    }
    let ends =
        points.iter().fold((f64::MAX, 0.0_f64), |(low, high), p| (low.min(p.1), high.max(p.1)));
    let line = if tolerance > 0.0 { Some(tolerance) } else { None };
    let low = line.map_or(ends.0, |line| line.min(ends.0)) / 2.0;
    let svg = svg(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(32)
            .y_label_area_size(64)
            .build_cartesian_2d(first.0..last.0, (low..2.0 * ends.1).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .label_style(TEXT)
            .x_desc("passes")
            .y_desc("residual / λ₁")
            .y_label_formatter(&|y| format!("{y:.0e}"))
            .draw()?;
        if let Some(line) = line {
            let ends = [(first.0, line), (last.0, line)];
            chart.draw_series(DashedLineSeries::new(ends, 6, 4, SECOND.stroke_width(2)))?;
        }
        chart.draw_series(LineSeries::new(points.iter().copied(), SERIES.stroke_width(2)))?;
        Ok(())
    })?;
    Ok(Some(svg))
}
