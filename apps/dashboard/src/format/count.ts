const WHOLE = new Intl.NumberFormat('en-US');
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** "1,234,567" */
export const count = (value: number) => WHOLE.format(value);

/** "1.2M"; for axes only. */
export const shortCount = (value: number) => SHORT.format(value);

/** Formats a ratio as "3.2%", or "≈ 3.2%" when rounded. */
export function percent(share: number): string {
  const rounded = Math.round(share * 1_000) / 1_000;
  return `${Math.abs(rounded - share) < 1e-12 ? '' : '≈ '}${PERCENT.format(rounded).replace('-', '−')}`;
}

/** "1 key", "2 keys" */
export const counted = (value: number, singular: string, plural = `${singular}s`) =>
  `${count(value)} ${value === 1 ? singular : plural}`;

/** The share of failed requests; undefined without requests. */
export function errorRate({
  requests,
  errors,
}: {
  readonly requests: number;
  readonly errors: number;
}): string | undefined {
  return requests === 0 ? undefined : percent(errors / requests);
}
