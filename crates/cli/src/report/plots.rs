//! The plots of a fit that do not move.

use favard_engine::Record;
use plotters::prelude::*;

use super::lines::{Lines, Series};
use super::svg::{COLOURS, Failed, TEXT, svg};
use super::theory::Prediction;

/// The shares as bars, and their sum as a line.
pub fn scree(shares: &[f64]) -> Result<String, Failed> {
    let [bar, line, ..] = COLOURS;
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
            Rectangle::new([(j - 0.4, 0.0), (j + 0.4, 100.0 * share)], bar.filled())
        });
        chart.draw_series(bars)?;
        let sums = (1_u32..).zip(shares).scan(0.0, |sum, (j, share)| {
            *sum += 100.0 * share;
            Some((f64::from(j), *sum))
        });
        chart.draw_series(LineSeries::new(sums.clone(), line.stroke_width(2)))?;
        chart.draw_series(sums.map(|point| Circle::new(point, 3, line.filled())))?;
        Ok(())
    })
}

/// Relative residuals against passes, the tolerance and what the theory says; `None` when there
/// are no two residuals.
pub fn course(
    history: &[Record<f64>],
    tolerance: f64,
    prediction: &Prediction,
) -> Result<Option<String>, Failed> {
    let relative = |record: &Record<f64>| (record.passes, record.residual / record.ritz.abs());
    let seen = |point: &(f64, f64)| point.1.is_finite() && point.1 > 0.0;
    let points: Vec<(f64, f64)> = history.iter().map(relative).filter(seen).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(None) };
    let (from, to) = (first.0, last.0);
    if points.len() < 2 || to <= from {
        return Ok(None);
    }
    let (low, high) =
        points.iter().fold((f64::MAX, 0.0_f64), |(low, high), p| (low.min(p.1), high.max(p.1)));
    let mut series = vec![Series::new("measured", 0, points)];
    if tolerance > 0.0 {
        series.push(Series::new("tolerance", 6, vec![(from, tolerance), (to, tolerance)]).dashed());
    }
    if let Prediction::Line(line, name) = prediction {
        // Where the course is: a line has no other place.
        let near = |point: &(f64, f64)| point.1 >= low / 10.0 && point.1 <= high * 10.0;
        let line = line.iter().copied().filter(near).collect();
        series.push(Series::new(name, 1, line).dashed());
    }
    if let Prediction::Bound(line, name) = prediction {
        series.push(Series::new(name, 1, line.clone()).dashed());
    }
    if let Prediction::Level(level, name) = prediction {
        series.push(Series::new(name, 1, vec![(from, *level), (to, *level)]).dashed());
    }
    let across = ("passes".to_string(), false);
    let up = ("residual / λ₁".to_string(), true);
    Lines { across, up, series, floor: None }.draw()
}
