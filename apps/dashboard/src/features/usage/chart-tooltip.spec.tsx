/** @jest-environment @happy-dom/jest-environment */
import { cleanup, render } from '@testing-library/react';
import type { ChartRow } from './chart-rows';
import { ChartTooltip } from './chart-tooltip';

const ROW: ChartRow = {
  label: '20 Nov',
  title: 'Fri, 20 Nov 2026, UTC',
  values: { a: 0.1, b: 0.2 },
  exactUsd: { a: '0.1', b: '0.200000001' },
  total: { value: 0.3, exactUsd: '0.300000001' },
  partial: false,
};
const PARTS = ['a', 'b'].map((id) => ({ id, name: id, color: 'red' }));

const textOf = (row: ChartRow) =>
  render(<ChartTooltip row={row} parts={PARTS} measure="spend" />).container.textContent;

afterEach(cleanup);

it('shows the exact total of a day', () => expect(textOf(ROW)).toContain('Total$0.300000001'));

it('marks a day that has not ended', () => {
  expect(textOf({ ...ROW, partial: true })).toContain('Fri, 20 Nov 2026, UTC, until now');
  expect(textOf(ROW)).not.toContain('until now');
});
