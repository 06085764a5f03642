//! [`Calm`]: momentum that keeps an interval calm, whose upper end the guard columns may tell.

use favard_engine::Memory;
use favard_engine::recurrence::{Progress, Recurrence, Start, Triple};
use favard_operator::Scalar;

/// $F_{t+1} = (A - m) F_t - \tfrac{e^2}{4} F_{t-1}$: Chebyshev's polynomials, scaled, on the
/// interval $m \pm e$; eigenvalues in it stay calm, those above it explode.
///
/// The upper end is given, or it is the largest value that the (k+1)-th Ritz value of the block has
/// had so far. By Courant and Fischer $\theta_{k+1} \le \lambda_{k+1}$ at every tick, so the
/// interval never reaches $\lambda_k$, whatever the start; and while its end lies below
/// $\lambda_{k+1}$ that direction grows, and the Ritz value with it. The coefficients change a
/// little from tick to tick and settle as the guard column does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Calm<T> {
    /// The lower end; `None` for minus the upper one.
    low: Option<T>,
    high: T,
    /// The place of the Ritz value that tells the upper end.
    place: Option<usize>,
    /// Only the first measure after a restart is exact.
    anchored: bool,
    start: Start,
}

impl<T: Scalar> Calm<T> {
    /// A given interval.
    pub fn given(low: T, high: T, start: Start) -> Self {
        Self { low: Some(low), high, place: None, anchored: false, start }
    }

    /// From `low`, or symmetric about zero, to the Ritz value behind the first `components`.
    pub fn guarded(low: Option<T>, components: usize, start: Start) -> Self {
        let high = low.unwrap_or(T::zero());
        Self { low, high, place: Some(components), anchored: false, start }
    }

    /// For a map whose measure is exact only at the first tick of an epoch.
    #[must_use]
    pub fn anchored(self) -> Self {
        Self { anchored: true, ..self }
    }

    /// m and e.
    fn interval(&self) -> (T, T) {
        let half = T::of(0.5);
        match self.low {
            None => (T::zero(), self.high),
            Some(low) => ((self.high + low) * half, (self.high - low) * half),
        }
    }
}

impl<T: Scalar> Recurrence<T> for Calm<T> {
    fn name(&self) -> &'static str {
        "calm interval"
    }

    fn wants_measure(&self) -> bool {
        self.place.is_some()
    }

    fn triple(&mut self, progress: &Progress<'_, T>) -> Triple<T> {
        let exact = !self.anchored || progress.phase == 0;
        let measure = progress.measure.filter(|_| exact);
        if let (Some(place), Some(measure)) = (self.place, measure)
            && let Some(&ritz) = measure.ritz.get(place)
        {
            self.high = self.high.max(ritz);
        }
        let (middle, half) = self.interval();
        let halved = progress.phase == 0 && self.start == Start::T;
        let first = if halved { T::of(0.5) } else { T::one() };
        Triple { a: first, b: -middle * first, c: half * half / T::of(4.0) }
    }

    fn memory(&self) -> Memory<T> {
        let flags = [u64::from(self.anchored), u64::from(self.start == Start::T)];
        Memory::of("calm interval")
            .scalars([self.high])
            .scalars(self.low)
            .counters(flags)
            .counters(self.place.map(|place| place as u64))
    }

    fn restore(&mut self, mut memory: Memory<T>) -> favard_engine::Result<()> {
        // The upper end is state when the guard columns tell it, and a parameter otherwise.
        let mut own = self.memory();
        if self.place.is_some() && !memory.scalars.is_empty() {
            own.scalars[0] = memory.scalars[0];
        }
        memory.check_same(&own)?;
        self.high = memory.scalars.remove(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use favard_engine::Measure;

    fn triple(calm: &mut Calm<f64>, phase: u64, ritz: &[f64]) -> (f64, f64, f64) {
        let measure = Measure { ritz: ritz.to_vec(), residuals: vec![0.0; ritz.len()] };
        let progress = Progress { tick: phase, phase, measure: Some(&measure) };
        let Triple { a, b, c } = calm.triple(&progress);
        (a, b, c)
    }

    /// β = θ²/4 with the largest θ so far; a shift by half the interval on [0, θ].
    #[test]
    fn the_interval_follows_the_guard_column() {
        let mut plain = Calm::guarded(None, 1, Start::U);
        assert_eq!(triple(&mut plain, 0, &[1.0, 0.5]), (1.0, 0.0, 0.0625));
        assert_eq!(triple(&mut plain, 1, &[1.0, 0.25]), (1.0, 0.0, 0.0625));
        assert_eq!(triple(&mut plain, 2, &[1.0, 1.0]), (1.0, 0.0, 0.25));
        let mut shifted = Calm::guarded(Some(0.0), 1, Start::T);
        assert_eq!(triple(&mut shifted, 0, &[2.0, 1.0]), (0.5, -0.25, 0.0625));
        assert_eq!(triple(&mut shifted, 1, &[2.0, 1.0]), (1.0, -0.5, 0.0625));
    }

    /// With anchors only the first tick of an epoch counts; without a guard column nothing is calm.
    #[test]
    fn only_exact_measures_count() {
        let mut calm = Calm::guarded(None, 1, Start::U).anchored();
        assert_eq!(triple(&mut calm, 3, &[1.0, 0.5]), (1.0, 0.0, 0.0));
        assert_eq!(triple(&mut calm, 0, &[1.0, 0.5]), (1.0, 0.0, 0.0625));
        let mut bare = Calm::guarded(None, 1, Start::U);
        assert_eq!(triple(&mut bare, 0, &[1.0]), (1.0, 0.0, 0.0));
    }

    #[test]
    fn restores_its_state_and_refuses_another_run() {
        let mut calm = Calm::guarded(None, 1, Start::U);
        triple(&mut calm, 0, &[1.0, 0.5]);
        let mut fresh = Calm::guarded(None, 1, Start::U);
        fresh.restore(calm.memory()).unwrap();
        assert_eq!(fresh, calm);
        assert!(Calm::guarded(None, 2, Start::U).restore(calm.memory()).is_err());
        assert!(Calm::given(0.0, 0.25, Start::U).restore(calm.memory()).is_err());
    }
}
