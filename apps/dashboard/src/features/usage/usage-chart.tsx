import {
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { UsageSeries } from '../../api/usage';
import { count } from '../../format/count';
import { exactUsd } from '../../format/money';
import { estimatedDuration } from '../../format/time';
import { visible } from '../../ui/values';
import { chartAxis } from './chart-axis';
import { chartOf, type ChartOptions, type ChartRow, type ChartSeries } from './chart-rows';
import { isLatency, type Measure } from './search';

export interface UsageChartProps extends ChartOptions {
  readonly series: UsageSeries;
}

const HEIGHT_PX = 224;
const MARGIN = { top: 8, right: 4, bottom: 0, left: 0 };
const TICK = { fontSize: 11, fill: 'var(--ink-faint)' };

/** The table below shows the same figures, for accessibility. */
export function UsageChart({ series, ...options }: UsageChartProps) {
  const { measure } = options;
  const { rows, parts, max } = chartOf(series, options);
  const { ticks, format } = chartAxis(measure, max);
  const isTime = isLatency(measure);
  // Few points are shown as dots, since a line needs two.
  const filled = rows.filter(({ values }) =>
    Object.values(values).some((value) => value !== undefined),
  ).length;
  const axes = [
    <CartesianGrid key="grid" vertical={false} stroke="var(--line)" />,
    <XAxis
      key="x"
      dataKey="label"
      tick={TICK}
      tickLine={false}
      axisLine={{ stroke: 'var(--line-strong)' }}
      minTickGap={36}
      interval="equidistantPreserveStart"
    />,
    <YAxis
      key="y"
      width={76}
      tick={TICK}
      tickLine={false}
      axisLine={false}
      ticks={ticks as number[]}
      domain={[0, ticks.at(-1) ?? 1]}
      interval={0}
      tickFormatter={format}
    />,
    <Tooltip
      key="tip"
      cursor={isTime ? { stroke: 'var(--line-strong)' } : { fill: 'var(--sunken)' }}
      isAnimationActive={false}
      content={({ active, payload }) =>
        active === true ? (
          <ChartTooltip row={payload[0]?.payload as ChartRow | undefined} parts={parts} measure={measure} />
        ) : null
      }
    />,
  ];
  return (
    <figure className="grid gap-2" aria-label={`${TITLES[measure]} over time`}>
      <div className="h-56">
        <ResponsiveContainer width="100%" height={HEIGHT_PX}>
          {isTime ? (
            <LineChart data={rows as ChartRow[]} margin={MARGIN} accessibilityLayer>
              {axes}
              {parts.map(({ id, color }) => (
                <Line
                  key={id}
                  dataKey={(row: ChartRow) => row.values[id]}
                  name={id}
                  stroke={color}
                  strokeWidth={1.75}
                  dot={filled < 4 && { r: 3, fill: color, strokeWidth: 0 }}
                  connectNulls
                  isAnimationActive={false}
                />
              ))}
            </LineChart>
          ) : (
            <BarChart data={rows as ChartRow[]} margin={MARGIN} barCategoryGap="18%" accessibilityLayer>
              {axes}
              {parts.map(({ id, color }) => (
                <Bar
                  key={id}
                  dataKey={(row: ChartRow) => row.values[id] ?? 0}
                  name={id}
                  stackId="all"
                  fill={color}
                  isAnimationActive={false}
                />
              ))}
            </BarChart>
          )}
        </ResponsiveContainer>
      </div>
      {parts.length > 0 && (
        <figcaption className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft">
          {parts.map((part) => (
            <span key={part.id} className="inline-flex items-center gap-1.5">
              <Swatch color={part.color} />
              <bdi>{visible(part.name)}</bdi>
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}

const TITLES: Readonly<Record<Measure, string>> = {
  spend: 'Spend',
  requests: 'Requests',
  tokens: 'Tokens',
  errors: 'Errors',
  refused: 'Refused requests',
  p50: 'p50 latency',
  p95: 'p95 latency',
  first_token: 'p50 time to first token',
};

interface ChartTooltipProps {
  readonly row: ChartRow | undefined;
  readonly parts: readonly ChartSeries[];
  readonly measure: Measure;
}

/** The exact figures of a point. */
function ChartTooltip({ row, parts, measure }: ChartTooltipProps) {
  if (!row) return null;
  const shown = parts.filter(({ id }) => row.values[id] !== undefined);
  return (
    <div className="grid gap-1 rounded-md border border-line bg-paper px-3 py-2 text-xs shadow-float">
      <p className="font-medium">{row.title}</p>
      {shown.map(({ id, name, color }) => (
        <p key={id} className="flex items-center gap-1.5">
          <Swatch color={color} />
          <span className="text-ink-soft">
            <bdi>{visible(name)}</bdi>
          </span>
          <span className="figures ml-auto pl-4">{exactText(measure, row, id)}</span>
        </p>
      ))}
      {shown.length === 0 && <p className="text-ink-soft">No requests</p>}
    </div>
  );
}

function exactText(measure: Measure, row: ChartRow, id: string): string {
  if (measure === 'spend') return exactUsd(row.exactUsd[id] ?? '0');
  const value = row.values[id] ?? 0;
  return isLatency(measure) ? estimatedDuration(value) : count(value);
}

function Swatch({ color }: { readonly color: string }) {
  return (
    <svg viewBox="0 0 8 8" className="size-2 shrink-0" aria-hidden="true">
      <rect width="8" height="8" rx="2" fill={color} />
    </svg>
  );
}
