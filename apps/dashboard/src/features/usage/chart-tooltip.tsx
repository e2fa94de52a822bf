import { count } from '../../format/count';
import { exactUsd } from '../../format/money';
import { estimatedDuration } from '../../format/time';
import { visible } from '../../ui/values';
import type { ChartRow, ChartSeries } from './chart-rows';
import { isLatency, type Measure } from './search';

interface ChartTooltipProps {
  readonly row: ChartRow | undefined;
  readonly parts: readonly ChartSeries[];
  readonly measure: Measure;
}

/** The exact figures of a point. */
export function ChartTooltip({ row, parts, measure }: ChartTooltipProps) {
  if (!row) return null;
  const shown = parts.filter(({ id }) => row.values[id] !== undefined);
  return (
    <div className="grid gap-1 rounded-md border border-line bg-paper px-3 py-2 text-xs shadow-float">
      <p className="font-medium">
        {row.title}
        {row.partial && ', until now'}
      </p>
      {shown.map(({ id, name, color }) => (
        <p key={id} className="flex items-center gap-1.5">
          <Swatch color={color} />
          <span className="text-ink-soft">
            <bdi>{visible(name)}</bdi>
          </span>
          <span className="figures ml-auto pl-4">
            {exactText(measure, row.values[id] ?? 0, row.exactUsd[id] ?? '0')}
          </span>
        </p>
      ))}
      {shown.length === 0 && <p className="text-ink-soft">No requests</p>}
      {row.total && shown.length > 1 && (
        <p className="flex border-t border-line pt-1 font-medium">
          Total
          <span className="figures ml-auto pl-4">
            {exactText(measure, row.total.value, row.total.exactUsd)}
          </span>
        </p>
      )}
    </div>
  );
}

function exactText(measure: Measure, value: number, usd: string): string {
  if (measure === 'spend') return exactUsd(usd);
  return isLatency(measure) ? estimatedDuration(value) : count(value);
}

export function Swatch({ color }: { readonly color: string }) {
  return (
    <svg viewBox="0 0 8 8" className="size-2 shrink-0" aria-hidden="true">
      <rect width="8" height="8" rx="2" fill={color} />
    </svg>
  );
}
