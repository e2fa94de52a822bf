/** The change from a previous amount as "+12.5%", "−3%" or "±0%"; undefined without a previous amount. */
export function trend(current: bigint, previous: bigint): string | undefined {
  if (previous <= 0n) return undefined;
  const difference = current - previous;
  const size = difference < 0n ? -difference : difference;
  const tenths = (size * 1_000n + previous / 2n) / previous;
  if (tenths === 0n) return '±0%';
  const text = `${(tenths / 10n).toString().replace(/\B(?=(\d{3})+$)/g, ',')}${tenths % 10n === 0n ? '' : `.${tenths % 10n}`}`;
  return `${difference < 0n ? '−' : '+'}${text}%`;
}

const LONG_DAYS = 365n;

/** How long credit lasts at the average of a period: "≈ 12 days"; undefined without spend. */
export function creditLeft(available: bigint, spent: bigint, days: bigint): string | undefined {
  if (spent <= 0n) return undefined;
  if (available <= 0n) return '0 days';
  const left = (available * days) / spent;
  if (left === 0n) return 'Less than a day';
  if (left > LONG_DAYS) return 'More than a year';
  return left === 1n ? '≈ 1 day' : `≈ ${left} days`;
}
