/** As many as `npm run mutate` needs to detect every mutant: each further one costs time and finds nothing there. */
const DEFAULT_RUNS = 500;

/**
 * The number of random inputs per property test: FUZZ_RUNS, or 500. `npm run fuzz` sets it
 * much higher.
 */
export function fuzzRuns(): { readonly numRuns: number } {
  const given = process.env['FUZZ_RUNS'];
  if (given === undefined) return { numRuns: DEFAULT_RUNS };
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new Error(`FUZZ_RUNS must be a positive integer: ${given}`);
  return { numRuns: Number(given) };
}
