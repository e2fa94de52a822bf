/** @jest-environment @happy-dom/jest-environment */
import { filtersOf } from './generations-page';
import { readGenerationSearch } from './search';

it('maps an inclusive range of UTC days to times', () =>
  expect(filtersOf({ from: '2026-11-01', to: '2026-11-02' })).toEqual({
    since: '2026-11-01T00:00:00.000Z',
    until: '2026-11-03T00:00:00.000Z',
  }));

it('ignores search parameters that the API would reject', () =>
  expect(
    filtersOf(readGenerationSearch({ from: 'yesterday', status: 'odd', min_cost: '1e3', max_cost: 5, x: 1 })),
  ).toEqual({ max_cost_usd: '5' }));

it('filters by a tag once it has a name and a value', () => {
  expect(filtersOf(readGenerationSearch({ tag: 'team:blue:2' }))).toEqual({ tag: 'team:blue:2' });
  expect(filtersOf(readGenerationSearch({ tag: 'team' }))).toEqual({});
});
