//! What the compiler must refuse: a gauge on a map that is not homogeneous, and a sum of iterates
//! that a gauge has rescaled.

#[test]
fn impossible_combinations_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
