const DEFAULT_RUNS = 2_000;

/**
 * How many random inputs each property test tries: FUZZ_RUNS, else 2,000. The
 * nightly `npm run fuzz` sets it far higher than what a commit can wait for.
 */
export function fuzzRuns(): { readonly numRuns: number } {
  const given = process.env['FUZZ_RUNS'];
  if (given === undefined) return { numRuns: DEFAULT_RUNS };
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new Error(`FUZZ_RUNS is no number of runs: ${given}`);
  return { numRuns: Number(given) };
}
