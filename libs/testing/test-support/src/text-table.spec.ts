import { alignedTable, markdownTable } from './text-table';

it('renders a Markdown table with one line per row, text left-aligned and figures right-aligned', () => {
  const rows = [
    ['name', 'note', 'count'],
    ['a | b', 'one\n  two', '3'],
    ['c', 'short row'],
  ];
  expect(markdownTable(rows, 2).split('\n')).toEqual([
    '| name | note | count |',
    '| --- | --- | ---: |',
    '| a \\| b | one; two | 3 |',
    '| c | short row |  |',
  ]);
});

it('aligns columns with spaces', () => {
  const rows = [
    ['name', 'count'],
    ['a', '1'],
    ['longer', '20'],
  ];
  expect(alignedTable(rows, 1).split('\n')).toEqual(['name    count', 'a           1', 'longer     20']);
});
