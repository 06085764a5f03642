//! [`Lanes`]: many bytes of text at a time, on any processor.

// Inlining is what carries the instruction set from `dispatch` into the loops: without it they would
// be compiled for the oldest processor.
#![allow(clippy::inline_always)]

/// `0` in each byte.
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// What a parser asks of the processor.
pub(crate) trait Lanes: Copy {
    /// Bit i of the first is set when byte i is not a digit, of the second when it is a line feed.
    fn classes(self, text: &[u8; 64]) -> (u64, u64);

    /// The same of fewer bytes.
    fn short_classes(self, text: &[u8; 32]) -> (u32, u32);

    /// Three numbers of `counts` digits, 1 to 8 each: two that stand in `pair` with one byte between
    /// them, and one at the start of `third`.
    fn short_numbers(self, pair: &[u8; 16], third: &[u8; 16], counts: [usize; 3]) -> [u32; 3];

    /// Two numbers of `counts[0]` and `counts[1]` digits, 1 to 8 each, that stand in `pair` with one
    /// byte between them, and the two halves, of eight digits each, of the number in `tail`.
    fn numbers(self, pair: &[u8; 16], counts: [usize; 2], tail: Tail<'_>) -> [u32; 4];
}

/// A number of up to 16 digits, with or without a point in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail<'a> {
    /// It starts with the number.
    pub text: &'a [u8; 16],
    /// Digits, at most 16, or 15 with a point.
    pub count: usize,
    /// Those before the point; [`Tail::NONE`] where there is none.
    pub point: u8,
}

impl Tail<'_> {
    /// No point.
    pub const NONE: u8 = 16;
}

/// A loop that is compiled for every kind of [`Lanes`].
pub(crate) trait Task {
    /// What it gives.
    type Output;

    /// Runs it. Implementations and all they call often are `#[inline(always)]`.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Runs a task with the widest lanes of this processor.
pub(crate) fn dispatch<K: Task>(task: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = pulp::x86::V3::try_new() {
        return lanes.vectorize(wide::Wide { lanes, task });
    }
    task.run(Words)
}

/// The first `count` ≤ 8 digits of a word of text, behind as many zeros as there are others; the
/// first digit is in the lowest byte.
#[inline(always)]
pub(crate) fn front_digits(text: u64, count: usize) -> u64 {
    // In two steps: a shift by 64 would be none.
    let half = 32_usize.wrapping_sub(4 * count) & 63;
    ((text ^ ZEROS) << half) << half
}

/// The number that the eight digits of a word are.
#[inline(always)]
pub(crate) fn number_of(digits: u64) -> u64 {
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    // d₀d₁…d₇: pairs, then quadruples, then all.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let high = (pairs & MASK).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & MASK).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

/// Eight bytes in a word: every processor has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words;

impl Lanes for Words {
    #[inline(always)]
    fn classes(self, text: &[u8; 64]) -> (u64, u64) {
        const TO_TOP: u64 = u64::from_le_bytes([0x80 - 10; 8]);
        const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
        const FEEDS: u64 = u64::from_le_bytes([b'\n'; 8]);
        const GATHER: u64 = 0x0102_0408_1020_4080;
        // The top bits of the bytes, side by side.
        let gather = |tops: u64| (tops >> 7).wrapping_mul(GATHER) >> 56;
        let (words, _) = text.as_chunks::<8>();
        words.iter().rev().fold((0, 0), |(others, feeds_before), &word| {
            let word = u64::from_le_bytes(word);
            // A digit becomes 0..=9; adding 0x76 carries all else into the top bit.
            let digits = word ^ ZEROS;
            let others_here = (digits | (digits & !TOPS).wrapping_add(TO_TOP)) & TOPS;
            // A line feed becomes 0; adding 0x7f carries all else into the top bit.
            let feeds = word ^ FEEDS;
            let feeds_here = !(feeds | (feeds & !TOPS).wrapping_add(!TOPS)) & TOPS;
            ((others << 8) | gather(others_here), (feeds_before << 8) | gather(feeds_here))
        })
    }

    #[inline(always)]
    fn short_classes(self, text: &[u8; 32]) -> (u32, u32) {
        let mut wide = [0; 64];
        wide[..32].copy_from_slice(text);
        let (others, feeds) = self.classes(&wide);
        // The lower halves.
        #[allow(clippy::cast_possible_truncation)]
        let halves = (others as u32, feeds as u32);
        halves
    }

    #[inline(always)]
    fn short_numbers(self, pair: &[u8; 16], third: &[u8; 16], counts: [usize; 3]) -> [u32; 3] {
        let tail = Tail { text: third, count: counts[2], point: Tail::NONE };
        let [first, second, _, third] = self.numbers(pair, [counts[0], counts[1]], tail);
        [first, second, third]
    }

    #[inline(always)]
    fn numbers(self, pair: &[u8; 16], counts: [usize; 2], tail: Tail<'_>) -> [u32; 4] {
        let pair = u128::from_le_bytes(*pair);
        let text = u128::from_le_bytes(*tail.text);
        let before = 1_u128.checked_shl(8 * u32::from(tail.point)).unwrap_or(0).wrapping_sub(1);
        let text = (text & before) | ((text >> 8) & !before);
        let digits = text ^ ((u128::from(ZEROS) << 64) | u128::from(ZEROS));
        // At most 16 bytes.
        #[allow(clippy::cast_possible_truncation)]
        let tail = digits.checked_shl(128 - 8 * tail.count as u32).unwrap_or(0);
        // The words, and numbers below 10^8.
        #[allow(clippy::cast_possible_truncation)]
        let (first, second) = (pair as u64, (pair >> ((8 * counts[0] + 8) & 127)) as u64);
        #[allow(clippy::cast_possible_truncation)]
        let numbers = [
            front_digits(first, counts[0]),
            front_digits(second, counts[1]),
            tail as u64,
            (tail >> 64) as u64,
        ]
        .map(|word| number_of(word) as u32);
        numbers
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! 32 bytes in a register.

    use core::arch::x86_64::__m256i;

    use pulp::x86::V3;
    use pulp::{NullaryFnOnce, cast};

    use super::{Lanes, Tail, Task};

    pub(super) struct Wide<K> {
        pub lanes: V3,
        pub task: K,
    }

    impl<K: Task> NullaryFnOnce for Wide<K> {
        type Output = K::Output;

        #[inline(always)]
        fn call(self) -> K::Output {
            self.task.run(self.lanes)
        }
    }

    /// From `count` on: byte j is taken from place j + count − 16, and 0 where that is before the
    /// first.
    static TAILS: [u8; 32] = {
        let mut table = [0x80; 32];
        let mut i = 16;
        while i < 32 {
            #[allow(clippy::cast_possible_truncation)]
            let place = i as u8 - 16;
            table[i] = place;
            i += 1;
        }
        table
    };

    /// For a pair of m + 1 and n + 1 digits, at 8 m + n: where the bytes of the two numbers are taken
    /// from, each at the end of its eight.
    static PAIRS: [[u8; 16]; 64] = {
        let mut table = [[0x80; 16]; 64];
        let mut i = 0;
        while i < 64 {
            let (first, second) = (i / 8 + 1, i % 8 + 1);
            let mut j = 0;
            while j < 8 {
                #[allow(clippy::cast_possible_truncation)]
                if j < first {
                    table[i][8 - first + j] = j as u8;
                }
                #[allow(clippy::cast_possible_truncation)]
                if j < second && first + 1 + j < 16 {
                    table[i][16 - second + j] = (first + 1 + j) as u8;
                }
                j += 1;
            }
            i += 1;
        }
        table
    };

    /// The numbers of eight digits each that the bytes of the lower and of the upper half are, in the
    /// order given, as the lanes 0, 1, 4 and 5.
    #[inline(always)]
    fn eights(lanes: V3, low: [u8; 16], high: [u8; 16], order: __m256i) -> [u32; 8] {
        let zero = lanes.avx._mm256_set1_epi8(b'0'.cast_signed());
        let digits = lanes.avx2._mm256_sub_epi8(cast([low, high]), zero);
        let digits = lanes.avx2._mm256_shuffle_epi8(digits, order);
        // Pairs, quadruples, all eight.
        let [tens, hundreds, myriads] =
            [cast([[10_i8, 1]; 16]), cast([[100_i16, 1]; 8]), cast([[10_000_i16, 1]; 8])];
        let pairs = lanes.avx2._mm256_maddubs_epi16(digits, tens);
        let fours = lanes.avx2._mm256_madd_epi16(pairs, hundreds);
        let fours = lanes.avx2._mm256_packus_epi32(fours, fours);
        cast(lanes.avx2._mm256_madd_epi16(fours, myriads))
    }

    /// Where the bytes of two numbers are taken from.
    #[inline(always)]
    fn pair_order(first: usize, second: usize) -> [u8; 16] {
        PAIRS[(8 * first + second).wrapping_sub(9) & 63]
    }

    /// Which bytes are digits, and which are line feeds.
    #[inline(always)]
    fn digits_and_feeds(lanes: V3, text: [u8; 32]) -> (u32, u32) {
        let zero = lanes.avx._mm256_set1_epi8(b'0'.cast_signed());
        let digits = lanes.avx2._mm256_sub_epi8(cast(text), zero);
        let least = lanes.avx2._mm256_min_epu8(digits, lanes.avx._mm256_set1_epi8(9));
        let are_digits = lanes.avx2._mm256_cmpeq_epi8(digits, least);
        let feed = lanes.avx._mm256_set1_epi8(b'\n'.cast_signed());
        let are_feeds = lanes.avx2._mm256_cmpeq_epi8(cast(text), feed);
        let digits = lanes.avx2._mm256_movemask_epi8(are_digits).cast_unsigned();
        (digits, lanes.avx2._mm256_movemask_epi8(are_feeds).cast_unsigned())
    }

    impl Lanes for V3 {
        #[inline(always)]
        fn classes(self, text: &[u8; 64]) -> (u64, u64) {
            let [low, high]: [[u8; 32]; 2] = cast(*text);
            let (low, low_feeds) = digits_and_feeds(self, low);
            let (high, high_feeds) = digits_and_feeds(self, high);
            let join = |low: u32, high: u32| u64::from(low) | (u64::from(high) << 32);
            (!join(low, high), join(low_feeds, high_feeds))
        }

        #[inline(always)]
        fn short_classes(self, text: &[u8; 32]) -> (u32, u32) {
            let (digits, feeds) = digits_and_feeds(self, *text);
            (!digits, feeds)
        }

        #[inline(always)]
        fn short_numbers(self, pair: &[u8; 16], third: &[u8; 16], counts: [usize; 3]) -> [u32; 3] {
            // At the end of its eight bytes, as a number of 8 + count digits would have its last ones.
            let mut order = [0; 16];
            order.copy_from_slice(&TAILS[(counts[2].wrapping_sub(1) & 7) + 9..][..16]);
            let order = cast([pair_order(counts[0], counts[1]), order]);
            let [first, second, _, _, third, _, _, _] = eights(self, *pair, *third, order);
            [first, second, third]
        }

        #[inline(always)]
        fn numbers(self, pair: &[u8; 16], counts: [usize; 2], tail: Tail<'_>) -> [u32; 4] {
            let mut order = [0; 16];
            order.copy_from_slice(&TAILS[tail.count.min(16)..][..16]);
            // From the point on, the byte behind: −1 is subtracted.
            let before = self.sse2._mm_set1_epi8(tail.point.cast_signed() - 1);
            let is_behind = self.sse2._mm_cmpgt_epi8(cast(order), before);
            let order = self.sse2._mm_sub_epi8(cast(order), is_behind);
            let order = cast([cast::<[u8; 16], _>(pair_order(counts[0], counts[1])), order]);
            let [row, col, _, _, high, low, _, _] = eights(self, *pair, *tail.text, order);
            [row, col, high, low]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Both<'a> {
        text: &'a [u8; 64],
        pair: &'a [u8; 16],
        counts: [usize; 2],
        tail: Tail<'a>,
    }

    impl Task for Both<'_> {
        type Output = ((u64, u64), [u32; 4], (u32, u32), [u32; 3]);

        fn run<L: Lanes>(self, lanes: L) -> Self::Output {
            let numbers = lanes.numbers(self.pair, self.counts, self.tail);
            let counts = [self.counts[0], self.counts[1], self.tail.count.clamp(1, 8)];
            let short_numbers = lanes.short_numbers(self.pair, self.tail.text, counts);
            let short = lanes.short_classes(self.text.first_chunk().unwrap());
            (lanes.classes(self.text), numbers, short, short_numbers)
        }
    }

    /// Every byte at every place, every number of digits: the same on words and on wide registers.
    #[test]
    fn lanes_agree() {
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(seed >> 33).unwrap() % below
        };
        let near = *b"0123456789/:.-+eE \n\r\t\x0b\x0e%x\x00\x7f\x80\x8a\xb0\xb9\xff";
        for _ in 0..20_000 {
            let text: [u8; 64] = std::array::from_fn(|_| match random(4) {
                0 => near[random(near.len())],
                1 => u8::try_from(random(256)).unwrap(),
                _ => near[random(10)],
            });
            let digits: [u8; 16] = std::array::from_fn(|_| near[random(10)]);
            let (first, count) = (1 + random(8), random(17));
            let counts = [first, 1 + random((15 - first).min(8))];
            let mut pair = digits.map(|digit| b'9' + b'0' - digit);
            pair[first] = b' ';
            let mut number = digits;
            let (count, point) = match random(17) {
                16 => (count, Tail::NONE),
                point => {
                    number.copy_within(point..15, point + 1);
                    number[point] = b'.';
                    (count.min(15), u8::try_from(point).unwrap())
                }
            };
            let tail = Tail { text: &number, count, point };
            let both = Both { text: &text, pair: &pair, counts, tail };
            let ((others, feeds), numbers, short_classes, short) = both.run(Words);
            let (wide_classes, wide_numbers, wide_short_classes, wide_short) = dispatch(both);
            assert_eq!((wide_classes, wide_numbers), ((others, feeds), numbers));
            assert_eq!(wide_short_classes, short_classes);
            let [short_others, short_feeds] = [short_classes.0, short_classes.1].map(u64::from);
            assert_eq!((short_others, short_feeds), (others & 0xffff_ffff, feeds & 0xffff_ffff));
            for (i, &byte) in text.iter().enumerate() {
                assert_eq!(others >> i & 1 == 1, !byte.is_ascii_digit(), "{byte}");
                assert_eq!(feeds >> i & 1 == 1, byte == b'\n', "{byte}");
            }
            let value = |digits: &[u8]| {
                digits.iter().fold(0_u64, |sum, digit| 10 * sum + u64::from(digit - b'0'))
            };
            assert_eq!(u64::from(numbers[0]), value(&pair[..first]));
            assert_eq!(u64::from(numbers[1]), value(&pair[first + 1..][..counts[1]]));
            let whole = u64::from(numbers[2]) * 100_000_000 + u64::from(numbers[3]);
            assert_eq!(whole, value(&digits[..count]));
            assert_eq!(short[..2], numbers[..2]);
            assert_eq!(wide_short[..2], numbers[..2]);
            let third = count.clamp(1, 8);
            if usize::from(point) >= third {
                assert_eq!(u64::from(short[2]), value(&digits[..third]));
                assert_eq!(u64::from(wide_short[2]), value(&digits[..third]));
            }
        }
    }
}
