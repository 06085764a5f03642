//! [`nearest`]: digits times a power of ten, correctly rounded.

// The caller's hot loop is compiled for the processor at hand, and only what is inlined into it.
#![allow(clippy::inline_always)]

/// The largest power of ten, up or down: 5^54 is the last that leaves two of 128 bits free.
const LIMIT: i64 = 54;

/// What a power of ten is multiplied with.
#[derive(Clone, Copy)]
struct Ten {
    /// The first 128 bits of 5^power.
    high: u64,
    low: u64,
    /// The power of two that the product is scaled with, as the bits of a number have it.
    exponent: u64,
    /// 1 where no product can lie half way between two numbers.
    inexact: u64,
}

/// For −54 ≤ power ≤ 54.
static TENS: [Ten; 109] = {
    let mut table = [Ten { high: 0, low: 0, exponent: 0, inexact: 0 }; 109];
    let (mut i, mut power) = (0, -LIMIT);
    while power <= LIMIT {
        let bits = five(power);
        // ⌊log₂ 10^power⌋ is that of the digit 1, which is shifted up 63 places and comes out of the
        // product, with a bit dropped, as a number of 62 bits: 2^61. And the bias.
        let exponent = (((217_706 * power) >> 16) + 63 - 61 + 1023).cast_unsigned();
        #[allow(clippy::cast_possible_truncation)]
        let (high, low) = ((bits >> 64) as u64, bits as u64);
        table[i] = Ten { high, low, exponent, inexact: (power < -4 || power > 23) as u64 };
        (i, power) = (i + 1, power + 1);
    }
    table
};

/// The first 128 bits of 5^power. Those of a negative power are rounded up as long as 5^−power has
/// one word: then a product of them that should be whole comes out whole.
const fn five(power: i64) -> u128 {
    let (mut whole, mut i) = (1_u128, 0);
    while i < power.unsigned_abs() {
        whole *= 5;
        i += 1;
    }
    if power >= 0 {
        return whole << whole.leading_zeros();
    }
    // ⌊2^b / 5^n⌋, bit by bit, with the b that gives 128 of them.
    let (mut quotient, mut rest, mut left) = (0_u128, 1_u128, 128 - whole.leading_zeros() + 127);
    while left > 0 {
        rest *= 2;
        quotient *= 2;
        if rest >= whole {
            rest -= whole;
            quotient += 1;
        }
        left -= 1;
    }
    if power >= -27 { quotient + 1 } else { quotient }
}

/// The number nearest to ±digits · 10^power, ties to even; `None` where the power is beyond 54.
///
/// The digits are multiplied with the first 64 bits of 5^power, and with the next 64 where those do
/// not settle the rounding, one time in 512. The product is rounded once, as it becomes a number; to
/// scale it by a power of two is exact.
///
/// # Reference
/// Lemire, *Number parsing at a gigabyte per second* (2021), Algorithm 1; Mushtak and Lemire, *Fast
/// number parsing without fallback* (2023), for why 128 bits are always enough.
#[inline(always)]
pub(crate) fn nearest(is_negative: bool, digits: u64, power: i64) -> Option<f64> {
    let sign = u64::from(is_negative) << 63;
    if digits == 0 {
        return Some(f64::from_bits(sign));
    }
    let ten = TENS.get(usize::try_from(power.wrapping_add(LIMIT)).ok()?)?;
    let shift = digits.leading_zeros();
    let digits = digits << shift;
    let (mut bottom, mut top) = product(digits, ten.high);
    // 53 bits, one to round with and one that may be lost in front leave 9. When they are neither all
    // ones nor all zeros they tell that there is more below, and not enough to carry: that is all
    // that rounding has to know, and bit 0 says it.
    let mut more = 1;
    if top.wrapping_add(1) & 0x1fe == 0 {
        if top & 1 == 1 {
            let (sum, carries) = bottom.overflowing_add(product(digits, ten.low).1);
            bottom = sum;
            top = top.wrapping_add(u64::from(carries));
        }
        // (Where the bits of a negative power were rounded up, the product that should be half way
        // may be one too large.)
        more = u64::from(bottom > 1) | (top & 1) | ten.inexact;
    }
    let rounded = ((top >> 1) | more).cast_signed() as f64;
    let scale = ((ten.exponent - u64::from(shift)) << 52) | sign;
    Some(rounded * f64::from_bits(scale))
}

/// a · b: the lower and the upper word.
#[inline(always)]
fn product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    #[allow(clippy::cast_possible_truncation)]
    let halves = (product as u64, (product >> 64) as u64);
    halves
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_nearest(digits: u64, power: i64) {
        let wanted: f64 = format!("{digits}e{power}").parse().unwrap();
        for (is_negative, wanted) in [(false, wanted), (true, -wanted)] {
            let found = nearest(is_negative, digits, power).unwrap();
            assert_eq!(found.to_bits(), wanted.to_bits(), "{digits}e{power}");
        }
    }

    /// The known hard ones: halves between two numbers and their neighbours, for every power.
    #[test]
    fn halves_are_rounded_to_even() {
        for power in -LIMIT..=LIMIT {
            for digits in [0, 1, 2, 9, 1 << 53, (1 << 53) + 1, (1 << 53) + 3, u64::MAX, 1 << 63] {
                (-2..=2).for_each(|by| assert_nearest(digits.saturating_add_signed(by), power));
            }
            // The digits of a number and a half, as far as 64 bits hold them.
            for mantissa in [1_u64 << 52, (1 << 52) + 1, 0x0015_5555_5555_5555, (1 << 53) - 1] {
                for five in 0..5 {
                    let half = (2 * mantissa + 1).saturating_mul(5_u64.pow(five));
                    (-1..=1).for_each(|by| assert_nearest(half.saturating_add_signed(by), power));
                }
            }
        }
        assert_eq!(nearest(false, 1, LIMIT + 1), None);
        assert_eq!(nearest(false, 1, -LIMIT - 1), None);
        assert_eq!(nearest(false, 1, i64::MIN), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Equal to the standard library's, for any digits and powers.
        #[test]
        fn every_number_is_the_nearest(
            digits in any::<u64>(), shift in 0_u32..64, power in -LIMIT..=LIMIT,
        ) {
            assert_nearest(digits >> shift, power);
        }

        /// Half way between two numbers, written out: m · 2^−k = m · 5^k · 10^−k.
        #[test]
        fn ties_are_found(mantissa in 1_u64 << 53..1 << 54, five in 0_u32..5, twos in 0_u32..8) {
            let odd = mantissa | 1;
            if let Some(digits) = odd.checked_mul(5_u64.pow(five)) {
                assert_nearest(digits, -i64::from(five));
                assert_nearest(digits, -i64::from(twos));
                assert_nearest(digits + 1, -i64::from(five));
                assert_nearest(digits - 1, -i64::from(five));
            }
        }
    }
}
