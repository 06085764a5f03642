//! [`Lines`]: several series over one axis, linear or logarithmic.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::html::escape;
use super::svg::{COLOURS, Failed, TEXT, svg};

/// A plot of lines.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// What is across, and whether it is logarithmic.
    pub across: (String, bool),
    /// What is up, and whether it is logarithmic.
    pub up: (String, bool),
    pub series: Vec<Series>,
    /// Below this nothing is drawn: rounding, say.
    pub floor: Option<f64>,
}

/// One line.
#[derive(Debug, Clone)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Of the palette.
    pub colour: usize,
    pub dashed: bool,
}

impl Series {
    /// A line through the points.
    pub fn new(name: impl Into<String>, colour: usize, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, colour, dashed: false }
    }

    /// The exponents of ten of what is up.
    fn exponents(&self) -> Self {
        let points = self.points.iter().map(|(x, y)| (*x, y.log10())).collect();
        Self { points, ..self.clone() }
    }

    /// The same, dashed.
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }
}

impl Lines {
    /// The picture and below it the names of its lines; `None` when there is no line with two
    /// points in sight.
    pub fn draw(&self) -> Result<Option<String>, Failed> {
        let floor = self.floor.unwrap_or(f64::NEG_INFINITY);
        let (log_across, log_up) = (self.across.1, self.up.1);
        let seen = |&(x, y): &(f64, f64)| {
            let fits = |value: f64, log: bool| value.is_finite() && (!log || value > 0.0);
            fits(x, log_across) && fits(y, log_up) && y >= floor
        };
        let kept = |series: &Series| {
            let points: Vec<_> = series.points.iter().copied().filter(seen).collect();
            Series { points: thin(points, log_across), ..series.clone() }
        };
        let series: Vec<Series> =
            self.series.iter().map(kept).filter(|series| series.points.len() > 1).collect();
        let points = || series.iter().flat_map(|series| series.points.iter());
        let across = ends(points().map(|point| point.0), log_across, 1.0);
        let up = ends(points().map(|point| point.1), log_up, 1.05);
        let (Some((left, right)), Some((low, high))) = (across, up) else { return Ok(None) };
        let across = if log_across { Scale::Log } else { Scale::Linear };
        let picture = if log_up && (low < 1e-11 || high / low > 1e9) {
            // So many decades that only their exponents fit beside the axis.
            let lines: Vec<Series> = series.iter().map(Series::exponents).collect();
            let range = low.log10()..high.log10();
            match across {
                Scale::Log => self.picture(
                    ((left..right).log_scale(), across),
                    (range, Scale::Exponent),
                    &lines,
                ),
                _ => self.picture((left..right, across), (range, Scale::Exponent), &lines),
            }
        } else {
            let (x, y) = (left..right, low..high);
            match (log_across, log_up) {
                (false, false) => self.picture((x, across), (y, Scale::Linear), &series),
                (false, true) => self.picture((x, across), (y.log_scale(), Scale::Log), &series),
                (true, false) => self.picture((x.log_scale(), across), (y, Scale::Linear), &series),
                (true, true) => {
                    self.picture((x.log_scale(), across), (y.log_scale(), Scale::Log), &series)
                }
            }
        };
        Ok(Some(picture? + &legend(&series)))
    }

    fn picture<X, Y>(
        &self,
        (x, across): (X, Scale),
        (y, up): (Y, Scale),
        series: &[Series],
    ) -> Result<String, Failed>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        svg(|area| {
            let mut chart = ChartBuilder::on(area)
                .margin(10)
                .x_label_area_size(36)
                .y_label_area_size(64)
                .build_cartesian_2d(x, y)?;
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(BLACK.mix(0.15))
                .label_style(TEXT)
                .x_desc(&self.across.0)
                .y_desc(&self.up.0)
                .x_label_formatter(&|x| label(*x, across))
                .y_label_formatter(&|y| label(*y, up))
                .draw()?;
            for Series { points, colour, dashed, .. } in series {
                let style = COLOURS[colour % COLOURS.len()].stroke_width(2);
                if *dashed {
                    let line = DashedLineSeries::new(points.iter().copied(), 6, 4, style);
                    chart.draw_series(line)?;
                } else {
                    chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
                }
            }
            Ok(())
        })
    }
}

/// The names of the lines beside samples of them; a line without a name goes with another.
fn legend(series: &[Series]) -> String {
    let key = |Series { name, colour, dashed, .. }: &Series| {
        let RGBColor(red, green, blue) = COLOURS[colour % COLOURS.len()];
        let dashes = if *dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        format!(
            "<span><svg viewBox=\"0 0 26 8\"><path d=\"M0 4H26\" stroke=\"rgb({red},{green},{blue})\" \
             stroke-width=\"2\"{dashes}/></svg>{}</span>\n",
            escape(name)
        )
    };
    let keys: String = series.iter().filter(|series| !series.name.is_empty()).map(key).collect();
    format!("<div class=\"legend\">{keys}</div>\n")
}

/// Points of a line at most: finer than the picture.
const MOST: usize = 800;

/// At most so many points, at about equal distances of the axis.
fn thin(points: Vec<(f64, f64)>, log: bool) -> Vec<(f64, f64)> {
    if points.len() <= MOST {
        return points;
    }
    let place = |x: f64| if log { x.ln() } else { x };
    let (first, last) = (place(points[0].0), place(points[points.len() - 1].0));
    let step = (last - first) / MOST as f64;
    let mut next = f64::NEG_INFINITY;
    let end = points.len() - 1;
    let chosen = points.into_iter().enumerate().filter(|(i, point)| {
        let here = place(point.0);
        let due = here >= next || *i == end;
        if due {
            next = here + step;
        }
        due
    });
    chosen.map(|(_, point)| point).collect()
}

/// The least and the largest with a little room; `None` when there are none, or only one.
fn ends(values: impl Iterator<Item = f64>, log: bool, room: f64) -> Option<(f64, f64)> {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low.is_infinite() {
        return None;
    }
    if low >= high {
        // A level line needs some height; a line of no width is none.
        let half = if low == 0.0 { 1.0 } else { 0.5 * low.abs() };
        return (room > 1.0).then_some((low - half, low + half));
    }
    if room <= 1.0 {
        return Some((low, high));
    }
    let more = (room - 1.0) * if log { (high / low).ln() } else { high - low };
    Some(if log { (low / more.exp(), high * more.exp()) } else { (low - more, high + more) })
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
    /// Linear in the exponents of ten.
    Exponent,
}

/// A number beside an axis.
fn label(value: f64, scale: Scale) -> String {
    let size = value.abs();
    match scale {
        // Between two whole exponents there is nothing to say.
        Scale::Exponent if (value - value.round()).abs() > 1e-6 => String::new(),
        Scale::Exponent => format!("1e{:.0}", value.round()),
        Scale::Log if !(0.01..1e5).contains(&size) => format!("{value:.0e}"),
        _ if size != 0.0 && !(1e-3..1e6).contains(&size) => format!("{value:.0e}"),
        // Binary fractions of the steps do not show.
        _ => format!("{}", (value * 1e6).round() / 1e6),
    }
}
