import { shortCount } from '../../format/count';
import { duration } from '../../format/time';
import { isLatency, type Measure } from './search';

export interface ChartAxis {
  readonly ticks: readonly number[];
  readonly format: (value: number) => string;
}

const MAX_INTERVALS = 5;
const STEPS = [1, 2, 2.5, 5, 10] as const;
/** Digits that remove floating-point noise. */
const PRECISION = 12;

/** An axis from zero to the first round tick above the largest value. */
export function chartAxis(measure: Measure, max: number): ChartAxis {
  const step = stepFor(max, measure !== 'spend');
  const intervals = Math.max(1, Math.ceil(Number((max / step).toPrecision(PRECISION))));
  const ticks = Array.from({ length: intervals + 1 }, (_, index) =>
    Number((index * step).toPrecision(PRECISION)),
  );
  return { ticks, format: formatOf(measure, step) };
}

/** The smallest of 1, 2, 2.5 and 5 times a power of ten that needs few intervals. */
function stepFor(max: number, whole: boolean): number {
  if (max <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(max / MAX_INTERVALS));
  const step = STEPS.map((factor) => Number((factor * power).toPrecision(PRECISION))).find(
    (size) => size * MAX_INTERVALS >= max && (!whole || Number.isInteger(size)),
  );
  // Counts and milliseconds below one have no ticks of their own.
  return step ?? 1;
}

const COMPACT_FROM_USD = 1_000;

function formatOf(measure: Measure, step: number): (value: number) => string {
  if (isLatency(measure)) return duration;
  if (measure !== 'spend') return shortCount;
  // All ticks have the same number of decimal places.
  const places = step >= COMPACT_FROM_USD ? 0 : decimalPlacesOf(step);
  const format = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    ...(step >= COMPACT_FROM_USD
      ? { notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 1 }
      : { minimumFractionDigits: places, maximumFractionDigits: places }),
  });
  return (value) => format.format(value);
}

const decimalPlacesOf = (step: number) =>
  (step.toFixed(PRECISION).replace(/0+$/, '').split('.')[1] ?? '').length;
