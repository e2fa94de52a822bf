import { readFileSync } from 'node:fs';
import path from 'node:path';
import { dashboardErrors } from '@gateway/dashboard-contract';

it('is the one that docs/dashboard-api.md shows', () => {
  const page = readFileSync(path.resolve(__dirname, '../../../../../docs/dashboard-api.md'), 'utf8');
  const shown = [...page.matchAll(/^\| `(\w+)`\s+\| (\d{3})\s+\| (.*?)\s+\|$/gm)].map(
    ([, ...cells]) => cells,
  );
  const there = Object.entries(dashboardErrors).map(([code, row]) => [
    code,
    String(row.httpStatus),
    row.when,
  ]);
  expect(shown.sort()).toEqual(there.sort());
});
