import { renderTable } from './report';

it('shows each step on one line, however many lines its failure has', () => {
  const table = renderTable([
    { name: 'helm install', durationMs: 61_400, outcome: 'passed', note: '20 pods ready' },
    { name: 'books', durationMs: 1_000, outcome: 'failed', note: 'one | two\n  three' },
  ]);
  expect(table.split('\n')).toEqual([
    '| step | time | result | what was seen |',
    '| --- | --- | --- | --- |',
    '| helm install | 61 s | passed | 20 pods ready |',
    '| books | 1 s | failed | one \\| two; three |',
  ]);
});
