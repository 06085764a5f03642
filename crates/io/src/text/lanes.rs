//! [`Lanes`]: many bytes of text at a time, on any processor.

// Inlining is what carries the instruction set from `dispatch` into the loops: without it they would
// be compiled for the oldest processor.
#![allow(clippy::inline_always)]

/// `0` in each byte.
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// 10^8: what eight digits are below.
const EIGHT: u64 = 100_000_000;

/// What a parser asks of the processor.
pub(crate) trait Lanes: Copy {
    /// Bit i of the first is set when byte i is not a digit, of the second when it is a line feed.
    fn classes(self, text: &[u8; 64]) -> (u64, u64);

    /// The same of fewer bytes.
    fn short_classes(self, text: &[u8; 32]) -> (u32, u32);

    /// Two numbers in `pair`, the first in the upper half of the result, and the number in `tail`.
    ///
    /// They end at `ends`, with one byte between them. Where they have not from 1 to 8 digits each, or
    /// are not within `pair`, both are 0.
    fn numbers(self, pair: &[u8; 16], ends: [usize; 2], tail: Tail<'_>) -> (u64, u64);
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
    fn numbers(self, pair: &[u8; 16], ends: [usize; 2], tail: Tail<'_>) -> (u64, u64) {
        let pair = u128::from_le_bytes(*pair);
        let text = u128::from_le_bytes(*tail.text);
        let before = 1_u128.checked_shl(8 * u32::from(tail.point)).unwrap_or(0).wrapping_sub(1);
        let text = (text & before) | ((text >> 8) & !before);
        let digits = text ^ ((u128::from(ZEROS) << 64) | u128::from(ZEROS));
        // At most 16 bytes.
        #[allow(clippy::cast_possible_truncation)]
        let tail = digits.checked_shl(128 - 8 * tail.count as u32).unwrap_or(0);
        let counts = [ends[0], ends[1].wrapping_sub(ends[0] + 1)];
        let are_short = counts.iter().all(|count| (1..=8).contains(count)) && ends[1] <= 16;
        // The words.
        #[allow(clippy::cast_possible_truncation)]
        let (first, second) = (pair as u64, (pair >> ((8 * counts[0] + 8) & 127)) as u64);
        let [first, second] = [(first, counts[0]), (second, counts[1])]
            .map(|(word, count)| number_of(front_digits(word, count.min(8))));
        let place = if are_short { (first << 32) | second } else { 0 };
        #[allow(clippy::cast_possible_truncation)]
        let [high, low] = [tail as u64, (tail >> 64) as u64].map(number_of);
        (place, high * EIGHT + low)
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! 32 bytes in a register.

    use pulp::x86::V3;
    use pulp::{NullaryFnOnce, cast};

    use super::{EIGHT, Lanes, Tail, Task};

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

    /// For numbers that end at m and n, at 64 m + n: where the bytes of the second and of the first are
    /// taken from, each at the end of its eight; nowhere, where there are no two such numbers.
    static PAIRS: [[u8; 16]; 576] = {
        let mut table = [[0x80; 16]; 576];
        let mut first = 1;
        while first <= 8 {
            let mut second = 1;
            while second <= 8 && first + 1 + second <= 16 {
                let order = &mut table[64 * first + first + 1 + second];
                let mut j = 0;
                while j < 8 {
                    #[allow(clippy::cast_possible_truncation)]
                    if j < second {
                        order[8 - second + j] = (first + 1 + j) as u8;
                    }
                    #[allow(clippy::cast_possible_truncation)]
                    if j < first {
                        order[16 - first + j] = j as u8;
                    }
                    j += 1;
                }
                second += 1;
            }
            first += 1;
        }
        table
    };

    /// For a number of n digits, m of them before the point, at 32 m + n: where its bytes are taken
    /// from, at the end of sixteen.
    static TAILS: [[u8; 16]; 1024] = {
        let mut table = [[0x80; 16]; 1024];
        let mut point = 0;
        while point <= 16 {
            let mut count = 0;
            while count <= 16 {
                let mut j = 0;
                while j < count {
                    let place = if j < point { j } else { j + 1 };
                    #[allow(clippy::cast_possible_truncation)]
                    if place < 16 {
                        table[32 * point + count][16 - count + j] = place as u8;
                    }
                    j += 1;
                }
                count += 1;
            }
            point += 1;
        }
        table
    };

    /// Which bytes are not digits, and which are line feeds.
    #[inline(always)]
    fn others_and_feeds(lanes: V3, text: [u8; 32]) -> (u32, u32) {
        // The digits become the ten largest of the numbers with a sign.
        let to_top = lanes.avx._mm256_set1_epi8(i8::MAX - b'9'.cast_signed());
        let digits = lanes.avx2._mm256_add_epi8(cast(text), to_top);
        let least = lanes.avx._mm256_set1_epi8(i8::MAX - 9);
        let are_others = lanes.avx2._mm256_cmpgt_epi8(least, digits);
        let feed = lanes.avx._mm256_set1_epi8(b'\n'.cast_signed());
        let are_feeds = lanes.avx2._mm256_cmpeq_epi8(cast(text), feed);
        let others = lanes.avx2._mm256_movemask_epi8(are_others).cast_unsigned();
        (others, lanes.avx2._mm256_movemask_epi8(are_feeds).cast_unsigned())
    }

    impl Lanes for V3 {
        #[inline(always)]
        fn classes(self, text: &[u8; 64]) -> (u64, u64) {
            let [low, high]: [[u8; 32]; 2] = cast(*text);
            let (low, low_feeds) = others_and_feeds(self, low);
            let (high, high_feeds) = others_and_feeds(self, high);
            let join = |low: u32, high: u32| u64::from(low) | (u64::from(high) << 32);
            (join(low, high), join(low_feeds, high_feeds))
        }

        #[inline(always)]
        fn short_classes(self, text: &[u8; 32]) -> (u32, u32) {
            others_and_feeds(self, *text)
        }

        #[inline(always)]
        fn numbers(self, pair: &[u8; 16], ends: [usize; 2], tail: Tail<'_>) -> (u64, u64) {
            let Some(pairs) = PAIRS.get(64 * ends[0] + ends[1]) else { return (0, 0) };
            let tails = TAILS[(32 * usize::from(tail.point) + tail.count) & 1023];
            let zero = self.avx._mm256_set1_epi8(b'0'.cast_signed());
            let digits = self.avx2._mm256_sub_epi8(cast([*pair, *tail.text]), zero);
            let digits = self.avx2._mm256_shuffle_epi8(digits, cast([*pairs, tails]));
            // Pairs, quadruples, all eight.
            let [tens, hundreds, myriads] =
                [cast([[10_i8, 1]; 16]), cast([[100_i16, 1]; 8]), cast([[10_000_i16, 1]; 8])];
            let pairs = self.avx2._mm256_maddubs_epi16(digits, tens);
            let fours = self.avx2._mm256_madd_epi16(pairs, hundreds);
            let fours = self.avx2._mm256_packus_epi32(fours, fours);
            let [place, _, halves, _]: [u64; 4] = cast(self.avx2._mm256_madd_epi16(fours, myriads));
            (place, (halves & 0xffff_ffff) * EIGHT + (halves >> 32))
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
        ends: [usize; 2],
        tail: Tail<'a>,
    }

    impl Task for Both<'_> {
        type Output = ((u64, u64), (u64, u64), (u32, u32));

        fn run<L: Lanes>(self, lanes: L) -> Self::Output {
            let numbers = lanes.numbers(self.pair, self.ends, self.tail);
            let short = lanes.short_classes(self.text.first_chunk().unwrap());
            (lanes.classes(self.text), numbers, short)
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
            let second = 1 + random((15 - first).min(8));
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
            let both = Both { text: &text, pair: &pair, ends: [first, first + 1 + second], tail };
            let (classes, numbers, short) = both.run(Words);
            assert_eq!(dispatch(both), (classes, numbers, short));
            let (others, feeds) = classes;
            let [short_others, short_feeds] = [short.0, short.1].map(u64::from);
            assert_eq!((short_others, short_feeds), (others & 0xffff_ffff, feeds & 0xffff_ffff));
            for (i, &byte) in text.iter().enumerate() {
                assert_eq!(others >> i & 1 == 1, !byte.is_ascii_digit(), "{byte}");
                assert_eq!(feeds >> i & 1 == 1, byte == b'\n', "{byte}");
            }
            let value = |digits: &[u8]| {
                digits.iter().fold(0_u64, |sum, digit| 10 * sum + u64::from(digit - b'0'))
            };
            let place = value(&pair[..first]) << 32 | value(&pair[first + 1..][..second]);
            assert_eq!(numbers, (place, value(&digits[..count])));
            // Ends that are not those of two numbers of up to eight digits.
            let ends = [random(66), random(66)];
            let is_short = (1..=8).contains(&ends[0])
                && (ends[0] + 2..=ends[0] + 9).contains(&ends[1])
                && ends[1] <= 16;
            let both = Both { ends, ..both };
            if !is_short {
                assert_eq!((both.run(Words).1.0, dispatch(both).1.0), (0, 0), "{ends:?}");
            }
        }
    }
}
