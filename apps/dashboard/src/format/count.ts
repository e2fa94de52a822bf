const WHOLE = new Intl.NumberFormat('en-US');
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** "1,234,567" */
export const count = (value: number) => WHOLE.format(value);

/** "1.2M"; for axes only. */
export const shortCount = (value: number) => SHORT.format(value);

/** "3.2%" of a share between 0 and 1. */
export const percent = (share: number) => PERCENT.format(share);

/** "1 key", "2 keys" */
export const counted = (value: number, singular: string, plural = `${singular}s`) =>
  `${count(value)} ${value === 1 ? singular : plural}`;
