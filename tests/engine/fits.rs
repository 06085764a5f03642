//! Which combinations of axes exist is known to the compiler. These assertions are checked when the
//! file is compiled; that the impossible programs are refused with an error is checked by the
//! `compile_fail` examples of `GaugeFits` and `ReadoutFits`.

use favard_engine::gauge::{AugmentedQr, GaugeFits, NoGauge, Norm, PeriodicQr};
use favard_engine::map::{Affine, Exact, Homogeneous, MiniBatch, Stream, Svrg, VarianceReduced};
use favard_engine::readout::{Average, Expansion, Last, Optimal, ReadoutFits};
use favard_engine::recurrence::Legendre;
use favard_operator::{Diagonal, Sampler};
use static_assertions::{assert_impl_all, assert_not_impl_any};

type Op = Diagonal<f64>;
type Sampled = MiniBatch<f64, Op, Sampler<f64>>;
type Reduced = VarianceReduced<f64, Op, Sampler<f64>>;
type Streamed = Stream<std::vec::IntoIter<Op>, Op>;
type Shifted = Affine<f64, Exact<Op>>;
type Anchored = Svrg<f64, Op, Sampler<f64>>;

// Φ(xR) = Φ(x)R holds for linear maps and not for affine ones, whatever they wrap.
assert_impl_all!(Exact<Op>: Homogeneous);
assert_impl_all!(Sampled: Homogeneous);
assert_impl_all!(Reduced: Homogeneous);
assert_impl_all!(Streamed: Homogeneous);
assert_not_impl_any!(Shifted: Homogeneous);
assert_not_impl_any!(Anchored: Homogeneous);
assert_not_impl_any!(Affine<f64, Sampled>: Homogeneous);

// Every gauge fits a homogeneous map; only the empty one fits an affine map.
assert_impl_all!(Norm: GaugeFits<Exact<Op>>, GaugeFits<Sampled>, GaugeFits<Reduced>);
assert_impl_all!(AugmentedQr<f64>: GaugeFits<Exact<Op>>, GaugeFits<Streamed>);
assert_impl_all!(PeriodicQr<f64>: GaugeFits<Exact<Op>>, GaugeFits<Reduced>);
assert_impl_all!(NoGauge: GaugeFits<Exact<Op>>, GaugeFits<Shifted>, GaugeFits<Anchored>);
assert_not_impl_any!(Norm: GaugeFits<Shifted>, GaugeFits<Anchored>);
assert_not_impl_any!(AugmentedQr<f64>: GaugeFits<Shifted>, GaugeFits<Anchored>);
assert_not_impl_any!(PeriodicQr<f64>: GaugeFits<Shifted>, GaugeFits<Anchored>);

// The last iterate can be read in any gauge; a sum of iterates needs them unscaled.
assert_impl_all!(Last: ReadoutFits<NoGauge>, ReadoutFits<Norm>, ReadoutFits<AugmentedQr<f64>>);
assert_impl_all!(Average<f64>: ReadoutFits<NoGauge>);
assert_not_impl_any!(Average<f64>: ReadoutFits<Norm>, ReadoutFits<AugmentedQr<f64>>);
assert_not_impl_any!(Expansion<f64>: ReadoutFits<Norm>, ReadoutFits<PeriodicQr<f64>>);
assert_not_impl_any!(Optimal<f64, Legendre>: ReadoutFits<Norm>);
