import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState, type ReactNode, type Ref } from 'react';

/** Attributes of a row in a long table. Only its rows near the window are in the document. */
interface RowAttributes {
  readonly ref?: Ref<HTMLTableRowElement>;
  readonly 'data-index'?: number;
  readonly 'aria-rowindex'?: number;
}

interface TableRowsProps {
  readonly count: number;
  readonly columnCount: number;
  readonly row: (index: number, attributes: RowAttributes) => ReactNode;
}

/** Longer tables keep only the rows near the window in the document. */
const MAX_ROWS_IN_DOCUMENT = 200;
const ESTIMATED_ROW_PX = 60;
const OVERSCAN_ROWS = 25;
/** The header is row 1. */
const FIRST_ROW_INDEX = 2;

export function TableRows(props: TableRowsProps) {
  if (props.count > MAX_ROWS_IN_DOCUMENT) return <NearbyRows {...props} />;
  return <>{Array.from({ length: props.count }, (_, index) => props.row(index, {}))}</>;
}

function NearbyRows({ count, columnCount, row }: TableRowsProps) {
  const top = useRef<HTMLTableRowElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count,
    estimateSize: () => ESTIMATED_ROW_PX,
    overscan: OVERSCAN_ROWS,
    scrollMargin,
    useFlushSync: false,
  });
  // Content above the table may move it later, which the rows outside the window hide.
  useLayoutEffect(() => {
    const place = top.current?.getBoundingClientRect().top ?? 0;
    setScrollMargin(Math.round(place + window.scrollY));
  }, [count]);
  const items = virtualizer.getVirtualItems();
  const before = (items[0]?.start ?? scrollMargin) - scrollMargin;
  const after = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin);
  return (
    <>
      <Spacer ref={top} heightPx={before} columnCount={columnCount} />
      {items.map(({ index }) =>
        row(index, {
          ref: virtualizer.measureElement,
          'data-index': index,
          'aria-rowindex': index + FIRST_ROW_INDEX,
        }),
      )}
      <Spacer heightPx={after} columnCount={columnCount} />
    </>
  );
}

interface SpacerProps {
  readonly ref?: Ref<HTMLTableRowElement>;
  readonly heightPx: number;
  readonly columnCount: number;
}

function Spacer({ ref, heightPx, columnCount }: SpacerProps) {
  return (
    <tr ref={ref} aria-hidden="true">
      <td colSpan={columnCount} className="p-0" style={{ height: Math.max(0, heightPx) }} />
    </tr>
  );
}
