import {
  Bar,
  BarChart,
  CartesianGrid,
  Cell,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { UsageSeries } from '../../api/usage';
import { visible } from '../../ui/values';
import { chartAxis } from './chart-axis';
import { chartOf, type ChartOptions, type ChartRow } from './chart-rows';
import { ChartTooltip, Swatch } from './chart-tooltip';
import { isLatency, type Measure } from './search';

export interface UsageChartProps extends ChartOptions {
  readonly series: UsageSeries;
}

const HEIGHT_PX = 224;
const MARGIN = { top: 8, right: 4, bottom: 0, left: 0 };
/** The bar of an hour or day that has not ended is lighter. */
const PARTIAL_OPACITY = 0.5;
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
                >
                  {rows.map(({ title, partial }) => (
                    <Cell key={title} fillOpacity={partial ? PARTIAL_OPACITY : 1} />
                  ))}
                </Bar>
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
          {!isTime && rows.some(({ partial }) => partial) && (
            <p>Lighter bar: the current {series.granularity} (UTC) until now</p>
          )}
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
