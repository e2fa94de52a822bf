import { shortenWindows } from './prometheus';

it('shortens windows and waits, and nothing else', () => {
  const rule = `- alert: A
  expr: rate(a_total[5m]) > 14.4 and time() - b > 900 and gateway:a:ratio_rate3d > 1 and c[3d]
  for: 15m`;
  expect(shortenWindows(rule, 60)).toBe(`- alert: A
  expr: rate(a_total[5s]) > 14.4 and time() - b > 900 and gateway:a:ratio_rate3d > 1 and c[4320s]
  for: 15s`);
});

it('leaves enough of a window for a rate', () => {
  expect(shortenWindows('rate(a[1m])', 60)).toBe('rate(a[3s])');
});
