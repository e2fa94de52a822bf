import { parseSpendLimits } from './parse-spend-limits';

const COST = 'x-max-cost-usd';
const RUN = 'x-run-id';
const BUDGET = 'x-run-budget-usd';

it('reads no limits from a request without the headers', () => {
  expect(parseSpendLimits({ authorization: ['Bearer sk-gw-x'] })).toEqual({});
});

it.each([
  ['0.25', 250_000_000n],
  ['3', 3_000_000_000n],
  ['0.000000001', 1n],
  ['9999999.999999999', 9_999_999_999_999_999n],
])('reads the maximum cost %s exactly', (text, amount) => {
  expect(parseSpendLimits({ [COST]: [text] })).toEqual({ maxCostNanoUsd: amount });
});

it('reads a run with and without its budget', () => {
  expect(parseSpendLimits({ [RUN]: ['agent/42'] })).toEqual({ run: { id: 'agent/42' } });
  expect(parseSpendLimits({ [RUN]: ['r'.repeat(128)], [BUDGET]: ['2.5'] })).toEqual({
    run: { id: 'r'.repeat(128), budgetNanoUsd: 2_500_000_000n },
  });
});

const BAD_AMOUNTS = [
  '',
  '0',
  '0.000000000',
  '-1',
  '+1',
  '1e3',
  'NaN',
  'Infinity',
  '0x10',
  '.5',
  '1.',
  '1,5',
  '1 ',
  '$1',
  '1.0000000001',
  '10000000',
  'one',
  '٣',
];

it.each([COST, BUDGET].flatMap((header) => BAD_AMOUNTS.map((text) => [header, text] as const)))(
  'refuses %s: %j as invalid, and names the header',
  (header, text) => {
    expect(parseSpendLimits({ [RUN]: ['run-1'], [header]: [text] })).toMatchObject({
      code: 'invalid_request',
      param: header,
    });
  },
);

it.each(['', 'r'.repeat(129), 'two words', 'tab\t', 'naïve', '\u007f'])('refuses the run id %j', (id) => {
  expect(parseSpendLimits({ [RUN]: [id], [BUDGET]: ['1'] })).toMatchObject({
    code: 'invalid_request',
    param: RUN,
  });
});

it.each([
  [COST, { [COST]: ['1', '1'] }],
  [RUN, { [RUN]: ['run-1', 'run-1'] }],
  [BUDGET, { [RUN]: ['run-1'], [BUDGET]: ['1', '2'] }],
])('refuses a repeated %s', (param, headers) => {
  expect(parseSpendLimits(headers)).toMatchObject({ code: 'invalid_request', param });
});

it('refuses a budget without a run', () => {
  expect(parseSpendLimits({ [BUDGET]: ['1'] })).toMatchObject({ code: 'invalid_request', param: RUN });
});
