import { renderTable } from './report';

it('shows each step on one line, even if its failure has several lines', () => {
  const table = renderTable([
    { name: 'helm install', durationMs: 61_400, outcome: 'passed', note: '20 pods ready' },
    { name: 'ledger audit', durationMs: 1_000, outcome: 'failed', note: 'one | two\n  three' },
  ]);
  expect(table.split('\n')).toEqual([
    '| step | time | result | details |',
    '| --- | --- | --- | --- |',
    '| helm install | 61 s | passed | 20 pods ready |',
    '| ledger audit | 1 s | failed | one \\| two; three |',
  ]);
});
