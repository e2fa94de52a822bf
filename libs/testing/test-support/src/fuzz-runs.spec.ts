import { fuzzRuns } from './fuzz-runs';

const before = process.env['FUZZ_RUNS'];

afterEach(() => {
  if (before === undefined) delete process.env['FUZZ_RUNS'];
  else process.env['FUZZ_RUNS'] = before;
});

it('property tests run 500 times unless FUZZ_RUNS sets another number', () => {
  delete process.env['FUZZ_RUNS'];
  expect(fuzzRuns()).toEqual({ numRuns: 500 });
  process.env['FUZZ_RUNS'] = '100000';
  expect(fuzzRuns()).toEqual({ numRuns: 100_000 });
});

it.each(['', '0', '-5', '1e5', 'many'])('FUZZ_RUNS=%j is rejected', (text) => {
  process.env['FUZZ_RUNS'] = text;
  expect(() => fuzzRuns()).toThrow('FUZZ_RUNS');
});
