import { chartAxis } from './chart-axis';
import type { Measure } from './search';

const labels = (measure: Measure, max: number) => {
  const { ticks, format } = chartAxis(measure, max);
  return ticks.map(format);
};

it.each([
  ['spend', 4.65, ['$0', '$1', '$2', '$3', '$4', '$5']],
  ['spend', 0.00173, ['$0.0000', '$0.0005', '$0.0010', '$0.0015', '$0.0020']],
  ['spend', 5.01, ['$0', '$2', '$4', '$6']],
  ['spend', 11, ['$0.0', '$2.5', '$5.0', '$7.5', '$10.0', '$12.5']],
  ['spend', 23_000, ['$0', '$5K', '$10K', '$15K', '$20K', '$25K']],
  ['requests', 3, ['0', '1', '2', '3']],
  ['requests', 0, ['0', '1']],
  ['errors', 12, ['0', '5', '10', '15']],
  ['tokens', 48_000, ['0', '10K', '20K', '30K', '40K', '50K']],
  ['p95', 41, ['0ms', '10ms', '20ms', '30ms', '40ms', '50ms']],
] as const)('fits the axis of %s to a maximum of %s', (measure, max, ticks) =>
  expect(labels(measure, max)).toEqual(ticks),
);

it('always ends above the largest value', () => {
  for (let max = 1e-9; max < 1e9; max *= 1.37) {
    expect(chartAxis('spend', max).ticks.at(-1)).toBeGreaterThanOrEqual(max);
  }
});
