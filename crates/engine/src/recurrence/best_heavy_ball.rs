//! [`BestHeavyBall`]: momentum whose β is found by trial.

use favard_operator::{Block, Scalar};

use super::{Progress, Recurrence, Steer, Triple};
use crate::Memory;
use crate::error::Result;

/// The candidates of a round, as factors of the present β, in the order in which they run.
const FACTORS: [f64; 5] = [2.0 / 3.0, 0.99, 1.0, 1.01, 1.5];

/// Steps of a candidate.
const STEPS: u64 = 10;

/// The paper's Best Heavy Ball in its restart form (erratum 4.4): five values of β around the
/// present one run ten steps each from the same block with $w_{-1} = 0$; the block with the largest
/// sum of Ritz values and its β go on.
///
/// The first β is $\nu^2/4$ with the Rayleigh quotient of the start (the sum of the Ritz values
/// over k for a block). A round costs 50 products: the first product of all candidates is the same,
/// and the winner's last one, which gave its Rayleigh quotient, is the first of the next round.
///
/// It needs an exact map: with a sampled one the Rayleigh quotients of two ticks do not compare.
///
/// # Example
/// ```
/// use favard_engine::{Engine, gauge::Norm, map::Exact, recurrence::BestHeavyBall};
/// use favard_operator::{Block, Diagonal};
/// let op = Diagonal::new(vec![1.0, 0.9, 0.5, 0.1])?;
/// let start = Block::column(&[0.5; 4]);
/// let map = Exact::new(op)?;
/// let mut engine = Engine::new(map, BestHeavyBall::default(), start)?.with_gauge(Norm);
/// for _ in 0..=50 {
///     engine.advance()?;
/// }
/// let (beta, quotient) = engine.recurrence().best().unwrap();
/// assert_eq!(beta, 1.5 * 0.625 * 0.625 / 4.0);
/// assert!((quotient - 0.996565057809285_f64).abs() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct BestHeavyBall<T> {
    beta: T,
    /// Steps since the round's block: the present block is $w_i$.
    step: u64,
    candidate: usize,
    /// The block all candidates of the round start from, and its image.
    base: Option<[Block<T>; 2]>,
    /// The best end of the round so far.
    winner: Option<Winner<T>>,
    /// β and the sum of Ritz values that won the last finished round.
    best: Option<(T, T)>,
}

#[derive(Debug, Clone)]
struct Winner<T> {
    score: T,
    beta: T,
    pair: [Block<T>; 2],
}

impl<T: Scalar> BestHeavyBall<T> {
    /// β and the sum of Ritz values of the last round's winner.
    pub fn best(&self) -> Option<(T, T)> {
        self.best
    }

    /// The last round's winning block, from which the present candidates run.
    pub fn block(&self) -> Option<&Block<T>> {
        self.base.as_ref().map(|[block, _]| block)
    }

    fn trial(&self) -> T {
        self.beta * T::of(FACTORS[self.candidate])
    }

    /// Ends a candidate: keeps it if it is the best, and ends the round after the last.
    fn judge(&mut self, score: T, state: &Steer<'_, T>) -> Result<()> {
        let beta = self.trial();
        match &mut self.winner {
            None => {
                let pair = [state.cur.clone(), state.image.clone()];
                self.winner = Some(Winner { score, beta, pair });
            }
            Some(winner) if score > winner.score => {
                (winner.score, winner.beta) = (score, beta);
                winner.pair[0].assign(state.cur.as_ref())?;
                winner.pair[1].assign(state.image.as_ref())?;
            }
            Some(_) => {}
        }
        self.candidate += 1;
        if self.candidate == FACTORS.len() {
            self.candidate = 0;
            if let (Some(winner), Some(base)) = (&mut self.winner, &mut self.base) {
                self.best = Some((winner.beta, winner.score));
                self.beta = winner.beta;
                // The old blocks serve for the next round's winner.
                std::mem::swap(base, &mut winner.pair);
                winner.score = T::neg_infinity();
            }
        }
        Ok(())
    }
}

impl<T: Scalar> Recurrence<T> for BestHeavyBall<T> {
    fn name(&self) -> &'static str {
        "best heavy ball"
    }

    fn wants_measure(&self) -> bool {
        true
    }

    fn steer(&mut self, progress: &Progress<'_, T>, state: Steer<'_, T>) -> Result<()> {
        let Some(measure) = progress.measure else {
            return Ok(());
        };
        let score: T = measure.ritz.iter().copied().sum();
        if self.base.is_none() || progress.phase == 0 {
            // β ← ν²/4 with the Rayleigh quotient of the start
            let mean = score / T::of_count(measure.ritz.len().max(1));
            *self = Self { beta: mean * mean / T::of(4.0), ..Self::default() };
            self.base = Some([state.cur.clone(), state.image.clone()]);
        } else if self.step == STEPS {
            self.judge(score, &state)?;
            if let Some([block, image]) = &self.base {
                // w₀ ← the round's block, w₋₁ ← 0
                state.cur.assign(block.as_ref())?;
                state.image.assign(image.as_ref())?;
                state.prev.fill(T::zero());
            }
            self.step = 0;
        }
        Ok(())
    }

    fn triple(&mut self, _: &Progress<'_, T>) -> Triple<T> {
        self.step += 1;
        Triple { a: T::one(), b: T::zero(), c: self.trial() }
    }

    fn memory(&self) -> Memory<T> {
        let flags = [self.base.is_some(), self.winner.is_some(), self.best.is_some()];
        let mut memory = Memory::of("best heavy ball")
            .scalars([self.beta])
            .counters([self.step, self.candidate as u64])
            .counters(flags.map(u64::from))
            .blocks(self.base.iter().flatten().cloned());
        if let Some(winner) = &self.winner {
            memory = memory.scalars([winner.score, winner.beta]).blocks(winner.pair.clone());
        }
        memory.scalars(self.best.iter().flat_map(|&(beta, score)| [beta, score]))
    }

    fn restore(&mut self, memory: Memory<T>) -> Result<()> {
        memory.check_name("best heavy ball")?;
        let mut scalars = memory.scalars.into_iter();
        let mut counters = memory.counters.into_iter();
        let mut blocks = memory.blocks.into_iter();
        let mut scalar = || scalars.next().unwrap_or(T::zero());
        let mut pair = || Some([blocks.next()?, blocks.next()?]);
        let beta = scalar();
        let step = counters.next().unwrap_or(0);
        let candidate = usize::try_from(counters.next().unwrap_or(0)).unwrap_or(0);
        let mut flag = || counters.next() == Some(1);
        let base = if flag() { pair() } else { None };
        let winner = if flag() {
            let (score, beta) = (scalar(), scalar());
            pair().map(|pair| Winner { score, beta, pair })
        } else {
            None
        };
        let best = flag().then(|| (scalar(), scalar()));
        let candidate = candidate.min(FACTORS.len() - 1);
        *self = Self { beta, step, candidate, base, winner, best };
        Ok(())
    }
}
