//! [`nearest`]: digits times a power of ten, correctly rounded.

// The caller's hot loop is compiled for the processor at hand, and only what is inlined into it.
#![allow(clippy::inline_always)]

/// The largest power of ten, up or down: 5^54 is the last that leaves two of 128 bits free.
const LIMIT: i64 = 54;

/// 10^0, …, 10^22: all of them are numbers.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The first 128 bits of 5^power for −54 ≤ power ≤ 54, the upper half first.
static FIVES: [(u64, u64); 2 * LIMIT as usize + 1] = {
    let mut table = [(0, 0); 2 * LIMIT as usize + 1];
    let mut i = 0;
    while i < table.len() {
        let bits = five(i as i64 - LIMIT);
        #[allow(clippy::cast_possible_truncation)]
        let halves = ((bits >> 64) as u64, bits as u64);
        table[i] = halves;
        i += 1;
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

/// The number nearest to digits · 10^power, ties to even; `None` where the power is beyond 54.
///
/// Short numbers take one exact operation (Clinger). The others are multiplied with the first 64
/// bits of 5^power, and with the next 64 where those do not settle the rounding, one time in 512.
///
/// # Reference
/// Lemire, *Number parsing at a gigabyte per second* (2021), Algorithm 1; Mushtak and Lemire, *Fast
/// number parsing without fallback* (2023), for why 128 bits are always enough.
#[inline(always)]
pub(crate) fn nearest(digits: u64, power: i64) -> Option<f64> {
    // Both factors are numbers, so the one rounding is the nearest. (Up to 2^53 would do; that is in
    // the midst of the numbers with 16 digits, and branches that nobody can foresee cost more.)
    if digits < 1_000_000_000_000_000 {
        let size = usize::try_from(power.unsigned_abs()).ok()?;
        if let Some(&ten) = TENS.get(size) {
            let digits = digits as f64;
            return Some(if power < 0 { digits / ten } else { digits * ten });
        }
        if digits == 0 {
            return Some(0.0);
        }
    }
    let (high, low) = *FIVES.get(usize::try_from(power + LIMIT).ok()?)?;
    let shift = digits.leading_zeros();
    let digits = digits << shift;
    let (mut bottom, mut top) = product(digits, high);
    // 53 bits, one to round with and one that may be lost in front: the 9 below tell nothing when
    // they are all ones, since what was cut off may carry into them.
    if top & 0x1ff == 0x1ff {
        let (sum, carries) = bottom.overflowing_add(product(digits, low).1);
        bottom = sum;
        top += u64::from(carries);
    }
    let upper = top >> 63;
    let cut = upper + 9;
    let mut mantissa = top >> cut;
    // Exactly half way, which only small powers of five can be: down to the even one.
    if bottom <= 1 && mantissa & 3 == 1 && (-4..=23).contains(&power) && mantissa << cut == top {
        mantissa &= !1;
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    // ⌊log₂ 5^power⌋ + power + 63, and the bias.
    let exponent = ((217_706 * power) >> 16) + 63 + 1023 - i64::from(shift);
    // The leading one adds to the exponent, and where rounding reached 2^53 so does the carry.
    let bits = ((exponent.cast_unsigned() + upper) << 52).wrapping_add(mantissa - (1 << 52));
    Some(f64::from_bits(bits))
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
        let found = nearest(digits, power).unwrap();
        assert_eq!(found.to_bits(), wanted.to_bits(), "{digits}e{power}");
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
        assert_eq!(nearest(1, LIMIT + 1), None);
        assert_eq!(nearest(1, -LIMIT - 1), None);
        assert_eq!(nearest(1, i64::MIN), None);
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
