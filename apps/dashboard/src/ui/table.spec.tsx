/** @jest-environment @happy-dom/jest-environment */
import { cleanup, render as renderPlain, screen, within } from '@testing-library/react';
import type { ReactElement } from 'react';
import userEvent from '@testing-library/user-event';
import { Table, type Column } from './table';
import { TipProvider } from './tooltip';
import { Money } from './values';

interface Row {
  readonly name: string;
  readonly usd: string;
}
const ROWS: readonly Row[] = [
  { name: 'small', usd: '0.0015' },
  { name: 'smaller', usd: '0.000000001' },
  { name: 'whole', usd: '12' },
];
const COLUMNS: readonly Column<Row>[] = [
  { id: 'at', header: 'When', meta: { hide: 'phone' }, cell: () => 'now' },
  {
    id: 'name',
    header: 'Name',
    accessorFn: ({ name }) => name,
    cell: ({ row: { original } }) => original.name,
  },
  {
    id: 'usd',
    header: 'Cost',
    meta: { figures: true, usd: ({ usd }) => usd },
    cell: ({ row: { original } }) => <Money usd={original.usd} />,
  },
];

const render = (element: ReactElement) => renderPlain(element, { wrapper: TipProvider });
const table = () => <Table caption="Costs" rows={ROWS} columns={COLUMNS} rowId={({ name }) => name} />;
const cellOf = (name: string, column: number) =>
  within(screen.getByText(name).closest('tr') as HTMLElement).getAllByRole('cell')[column] as HTMLElement;

describe('a table', () => {
  afterEach(cleanup);

  it('aligns the amounts of a column at the decimal point without extra text', () => {
    render(table());
    /** The amount and the invisible digits after it. */
    const spacingOf = (name: string) => {
      const amount = cellOf(name, 2).querySelector('data');
      return [cellOf(name, 2).textContent, amount?.dataset['padding'] ?? ''];
    };
    expect([spacingOf('small'), spacingOf('smaller'), spacingOf('whole')]).toEqual([
      ['$0.0015', '00000'],
      ['$0.000000001', ''],
      ['$12.00', '0000000'],
    ]);
  });

  it('offers no sorting while more rows can be loaded', () => {
    const { rerender } = render(table());
    screen.getByRole('button', { name: 'Name' });
    rerender(<Table caption="Costs" rows={ROWS} columns={COLUMNS} rowId={({ name }) => name} partial />);
    expect(screen.queryByRole('button', { name: 'Name' })).toBeNull();
  });

  it('rounds to significant digits with the exact amount in the markup, and shows all digits on request', () => {
    const row = { name: 'rounded', usd: '0.000449312' };
    const amount = () => cellOf('rounded', 2).querySelector('data');
    const { rerender } = render(
      <Table caption="Costs" rows={[row]} columns={COLUMNS} rowId={({ name }) => name} />,
    );
    expect([amount()?.textContent, amount()?.value, amount()?.tabIndex]).toEqual(['$0.000449', row.usd, 0]);
    const exact = COLUMNS.map((column) => ({ ...column, meta: { ...column.meta, digits: 'all' as const } }));
    rerender(<Table caption="Costs" rows={[row]} columns={exact} rowId={({ name }) => name} />);
    expect([amount()?.textContent, amount()?.tabIndex]).toEqual(['$0.000449312', -1]);
  });

  it('aligns its first visible column with the page at every width', () => {
    render(table());
    expect(cellOf('small', 0).className).toContain('@min-[60rem]:pl-0');
    expect(cellOf('small', 0).className).not.toContain('@max-2xl:pl-0');
    expect(cellOf('small', 1).className).toContain('@max-2xl:pl-0');
    expect(cellOf('small', 2).className).toContain('@min-[60rem]:pr-0');
  });

  it('sorts by a click on a column header, and announces it', async () => {
    render(table());
    const names = () =>
      screen
        .getAllByRole('row')
        .slice(1)
        .map((row) => within(row).getAllByRole('cell')[1]?.textContent);
    await userEvent.click(screen.getByRole('button', { name: /Name/ }));
    await userEvent.click(screen.getByRole('button', { name: /Name/ }));
    expect(names()).toEqual(['whole', 'smaller', 'small']);
    expect(screen.getByRole('columnheader', { name: /Name/ }).getAttribute('aria-sort')).toBe('descending');
  });
});
