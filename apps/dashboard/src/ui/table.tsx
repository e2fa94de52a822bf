import {
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  useReactTable,
  type ColumnDef,
  type RowData,
  type SortingState,
} from '@tanstack/react-table';
import { useState } from 'react';
import { cx } from './cx';
import { Icon } from './icons';

declare module '@tanstack/react-table' {
  // The library's interface has these parameters.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  interface ColumnMeta<TData extends RowData, TValue> {
    /** Figures stand at the right, under each other. */
    readonly figures?: boolean;
    /** Left out where the window is narrower: of phones, or of tablets. */
    readonly hide?: 'phone' | 'tablet';
    readonly className?: string;
  }
}

export type Column<Row> = ColumnDef<Row, unknown>;

interface TableProps<Row> {
  /** What the rows are: the table's name. */
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
  readonly rowClass?: (row: Row) => string | undefined;
  /** Whether what is shown is about to be replaced. */
  readonly stale?: boolean;
  readonly initialSorting?: SortingState;
}

/** Rows in hairlines. Columns that have an accessor are sorted by a click on their heads. */
export function Table<Row>({
  caption,
  rows,
  columns,
  rowId,
  rowClass,
  stale,
  initialSorting = [],
}: TableProps<Row>) {
  const [sorting, setSorting] = useState<SortingState>(initialSorting);
  const table = useReactTable<Row>({
    data: rows as Row[],
    columns: columns as Column<Row>[],
    getRowId: rowId,
    state: { sorting },
    onSortingChange: setSorting,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return (
    // Scrolled sideways where it is too wide, also by keyboard. Relative, so that what only screen readers
    // see in it does not make the page wider.
    <div
      className="relative -mx-4 overflow-x-auto px-4 sm:mx-0 sm:px-0"
      role="region"
      aria-label={caption}
      tabIndex={0}
    >
      <table className={cx('w-full border-collapse text-sm', stale && 'opacity-60')}>
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
                      'h-9 px-3 text-left text-xs font-medium text-ink-soft first:pl-0 last:pr-0',
                      cellClass(meta),
                    )}
                  >
                    {header.column.getCanSort() ? (
                      <button
                        type="button"
                        onClick={header.column.getToggleSortingHandler()}
                        className={cx(
                          'group inline-flex items-center gap-1 hover:text-ink',
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
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} className={cx('border-b border-line hover:bg-panel', rowClass?.(row.original))}>
              {row.getVisibleCells().map((cell) => (
                <td
                  key={cell.id}
                  className={cx(
                    'px-3 py-2.5 align-top first:pl-0 last:pr-0',
                    cellClass(cell.column.columnDef.meta),
                  )}
                >
                  {flexRender(cell.column.columnDef.cell, cell.getContext())}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Meta = { readonly figures?: boolean; readonly hide?: 'phone' | 'tablet'; readonly className?: string };

function cellClass(meta: Meta | undefined): string {
  return cx(
    meta?.figures && 'figures !text-right whitespace-nowrap',
    meta?.hide === 'phone' && 'max-sm:hidden',
    meta?.hide === 'tablet' && 'max-lg:hidden',
    meta?.className,
  );
}
