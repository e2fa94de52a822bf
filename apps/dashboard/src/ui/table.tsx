import {
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  useReactTable,
  type ColumnDef,
  type RowData,
  type SortingState,
} from '@tanstack/react-table';
import { useMemo, useState } from 'react';
import { decimalPlaces, formatUsd, type MoneyDigits } from '../format/money';
import { cx } from './cx';
import { Icon } from './icons';
import { TableRows } from './table-rows';
import { MoneyColumnContext, type MoneyColumn } from './values';

declare module '@tanstack/react-table' {
  // The library's interface has these parameters.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  interface ColumnMeta<TData extends RowData, TValue> {
    /** Right-aligned, with tabular figures. */
    readonly figures?: boolean;
    /** The amount of a row in US dollars, to align the column at the decimal point. */
    readonly usd?: (row: TData) => string | undefined;
    /** How the amounts are shown: `significant` by default, `all` in columns that add up. */
    readonly digits?: MoneyDigits;
    /** By the width of the table: `phone` and `tablet` hide at that width and below; `desktop` shows only on phones. */
    readonly hide?: 'phone' | 'tablet' | 'desktop';
    readonly className?: string;
  }
}

export type Column<Row> = ColumnDef<Row, unknown>;

const HEADER_ROWS = 1;
const FOOTER_ROWS = 1;

interface TableProps<Row> {
  /** The accessible name. */
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
  readonly rowClass?: (row: Row) => string | undefined;
  /** Whether newer rows are loading. */
  readonly stale?: boolean;
  /** More rows can be loaded, so the browser cannot sort. */
  readonly partial?: boolean;
  /** The server sorts: the order, by the id of a column. */
  readonly sorted?: { readonly by: SortingState; readonly onChange: (by: SortingState) => void };
  /** Aligns cells vertically, for rows with controls. */
  readonly middle?: boolean;
}

/** Columns with an accessor are sortable, if all rows are here or the server sorts. Footers are one row. */
export function Table<Row>({
  caption,
  rows,
  columns,
  rowId,
  rowClass,
  stale,
  partial = false,
  sorted: byServer,
  middle,
}: TableProps<Row>) {
  const [sorting, setSorting] = useState<SortingState>([]);
  const table = useReactTable<Row>({
    data: rows as Row[],
    columns: columns as Column<Row>[],
    getRowId: rowId,
    state: { sorting: byServer?.by ?? (partial ? [] : sorting) },
    enableSorting: !partial,
    onSortingChange: (update) => {
      const next = typeof update === 'function' ? update(byServer?.by ?? sorting) : update;
      (byServer?.onChange ?? setSorting)(next);
    },
    manualSorting: byServer !== undefined,
    enableSortingRemoval: byServer === undefined,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  const edges = useMemo(() => edgesOf(columns), [columns]);
  const moneyColumns = useMemo(() => moneyColumnsOf(rows, columns), [rows, columns]);
  const { rows: shownRows } = table.getRowModel();
  const hasFooter = columns.some(({ footer }) => footer !== undefined);
  return (
    // Scrolls horizontally, also by keyboard. Relative, so that text for screen readers does not widen
    // the page.
    <div
      className="@container relative -mx-4 overflow-x-auto px-4 sm:mx-0 sm:px-0"
      role="region"
      aria-label={caption}
      tabIndex={0}
    >
      <table
        aria-rowcount={shownRows.length + HEADER_ROWS + (hasFooter ? FOOTER_ROWS : 0)}
        className={cx('w-full border-collapse text-sm transition-opacity', stale && 'opacity-60')}
      >
        <caption className="sr-only">{caption}</caption>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} className="border-b border-line-strong/60">
              {group.headers.map((header) => {
                const { meta } = header.column.columnDef;
                const sorted = header.column.getIsSorted();
                const name = flexRender(header.column.columnDef.header, header.getContext());
                return (
                  <th
                    key={header.id}
                    scope="col"
                    aria-sort={sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : undefined}
                    className={cx(
                      'h-9 px-3 text-left text-xs font-medium text-ink-soft',
                      edges.get(header.column.id),
                      cellClass(meta),
                    )}
                  >
                    {header.column.getCanSort() ? (
                      <button
                        type="button"
                        onClick={header.column.getToggleSortingHandler()}
                        className={cx(
                          'group inline-flex items-center gap-1 align-top hover:text-ink',
                          meta?.figures && 'flex-row-reverse',
                        )}
                      >
                        {name}
                        <Icon
                          name={sorted ? 'down' : 'updown'}
                          className={cx(
                            '!size-3',
                            sorted === 'asc' && 'rotate-180',
                            !sorted && 'opacity-0 group-hover:opacity-60 group-focus-visible:opacity-60',
                          )}
                        />
                      </button>
                    ) : (
                      name
                    )}
                  </th>
                );
              })}
            </tr>
          ))}
        </thead>
        <tbody>
          <TableRows
            count={shownRows.length}
            columnCount={columns.length}
            row={(index, attributes) => {
              const row = shownRows[index];
              if (!row) return null;
              return (
                <tr
                  key={row.id}
                  {...attributes}
                  className={cx('border-b border-line hover:bg-panel', rowClass?.(row.original))}
                >
                  {row.getVisibleCells().map((cell) => (
                    <td
                      key={cell.id}
                      className={cx(
                        'px-3 py-2.5',
                        middle ? 'align-middle' : 'align-top',
                        edges.get(cell.column.id),
                        cellClass(cell.column.columnDef.meta),
                      )}
                    >
                      <MoneyColumnContext.Provider value={moneyColumns.get(cell.column.id) ?? NO_MONEY}>
                        {flexRender(cell.column.columnDef.cell, cell.getContext())}
                      </MoneyColumnContext.Provider>
                    </td>
                  ))}
                </tr>
              );
            }}
          />
        </tbody>
        {hasFooter && (
          <tfoot>
            {table.getFooterGroups().map((group) => (
              <tr key={group.id} className="border-b border-line font-medium">
                {group.headers.map(({ id, column, getContext }) => (
                  <td
                    key={id}
                    className={cx('px-3 py-2.5', edges.get(column.id), cellClass(column.columnDef.meta))}
                  >
                    <MoneyColumnContext.Provider value={moneyColumns.get(column.id) ?? NO_MONEY}>
                      {flexRender(column.columnDef.footer, getContext())}
                    </MoneyColumnContext.Provider>
                  </td>
                ))}
              </tr>
            ))}
          </tfoot>
        )}
      </table>
    </div>
  );
}

/** Removes the outer padding of the first and the last visible column at each width. */
function edgesOf<Row>(columns: readonly Column<Row>[]): ReadonlyMap<string, string> {
  const shown = (hidden: readonly (string | undefined)[], phoneOnly: boolean) =>
    columns
      .filter(({ meta }) => !hidden.includes(meta?.hide) && (phoneOnly || !isPhoneOnly(meta)))
      .map(({ id }) => id ?? '');
  const [onPhone, onTablet, onDesktop] = [
    shown(['phone', 'tablet'], true),
    shown(['tablet'], false),
    shown([], false),
  ];
  return new Map(
    columns.map(({ id = '' }) => [
      id,
      cx(
        id === onPhone[0] && '@max-2xl:pl-0',
        id === onPhone.at(-1) && '@max-2xl:pr-0',
        id === onTablet[0] && '@2xl:@max-[60rem]:pl-0',
        id === onTablet.at(-1) && '@2xl:@max-[60rem]:pr-0',
        id === onDesktop[0] && '@min-[60rem]:pl-0',
        id === onDesktop.at(-1) && '@min-[60rem]:pr-0',
      ),
    ]),
  );
}

const isPhoneOnly = (meta: Meta | undefined) => meta?.hide === 'desktop';

const NO_MONEY: MoneyColumn = { digits: 'significant', places: 0 };

/** How each column of amounts is shown, with the most decimal places of its rows. */
function moneyColumnsOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): ReadonlyMap<string, MoneyColumn> {
  return new Map(
    columns.map(({ id = '', meta }) => {
      const digits = meta?.digits ?? 'significant';
      const places = rows.map((row) => {
        const usd = meta?.usd?.(row);
        return usd === undefined ? 0 : decimalPlaces(formatUsd(usd, digits));
      });
      return [id, { digits, places: Math.max(0, ...places) }];
    }),
  );
}

type Meta = {
  readonly figures?: boolean;
  readonly hide?: 'phone' | 'tablet' | 'desktop';
  readonly className?: string;
};

function cellClass(meta: Meta | undefined): string {
  return cx(
    meta?.figures && 'figures !text-right whitespace-nowrap',
    meta?.hide === 'phone' && '@max-2xl:hidden',
    meta?.hide === 'tablet' && '@max-[60rem]:hidden',
    meta?.hide === 'desktop' && '@2xl:hidden',
    meta?.className,
  );
}
