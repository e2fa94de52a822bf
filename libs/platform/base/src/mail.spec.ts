import { mailText, mailTime, mailUsd } from './mail';
import { nanoUsd } from './money';
import type { UnixMs } from './time';

it.each([
  [0n, '$0.00'],
  [1n, 'less than $0.01'],
  [10_000_000n, '$0.01'],
  [19_999_999n, '$0.01'],
  [1_234_567_899_999_999n, '$1,234,567.89'],
  [-5_250_000_000n, '−$5.25'],
])('shows %s nano-dollars in cents as %s', (amount, text) => {
  expect(mailUsd(nanoUsd(amount))).toBe(text);
});

it('shows a time in UTC', () => {
  expect(mailTime(Date.UTC(2026, 10, 22, 9, 5, 7) as UnixMs)).toBe('Sun, 22 Nov 2026 09:05:07 UTC');
});

it.each([
  ['Europe/Berlin', 'Sun, 22 Nov 2026 10:05:07 Europe/Berlin (09:05:07 UTC)'],
  ['America/Los_Angeles', 'Sun, 22 Nov 2026 01:05:07 America/Los_Angeles (09:05:07 UTC)'],
  ['Pacific/Auckland', 'Sun, 22 Nov 2026 22:05:07 Pacific/Auckland (09:05:07 UTC)'],
  ['Pacific/Honolulu', 'Sat, 21 Nov 2026 23:05:07 Pacific/Honolulu (Sun, 22 Nov 2026 09:05:07 UTC)'],
  ['UTC', 'Sun, 22 Nov 2026 09:05:07 UTC'],
  ['Europe/Atlantis', 'Sun, 22 Nov 2026 09:05:07 UTC'],
])('shows a time in %s and in UTC', (timeZone, text) => {
  expect(mailTime(Date.UTC(2026, 10, 22, 9, 5, 7) as UnixMs, timeZone)).toBe(text);
});

it('writes paragraphs, facts, the link and notes as text', () => {
  const content = {
    subject: 'Hello',
    paragraphs: ['One.', 'Two.'],
    facts: [
      ['A', '1'],
      ['B', '2'],
    ] as const,
    link: { label: 'Open', url: 'https://example.com/#t' },
    notes: ['Bye.'],
  };
  expect(mailText(content)).toBe('One.\n\nTwo.\n\nA: 1\nB: 2\n\nOpen:\nhttps://example.com/#t\n\nBye.\n');
});
