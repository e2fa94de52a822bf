import { minuteWindow, msLeftInMinute } from './minute-window';
import type { UnixMs } from './time';

const at = (text: string) => Date.parse(text) as UnixMs;

describe('the minute window', () => {
  it('changes at the full UTC minute', () => {
    const window = minuteWindow(at('2026-11-20T09:00:00.000Z'));
    expect(minuteWindow(at('2026-11-20T09:00:59.999Z'))).toBe(window);
    expect(minuteWindow(at('2026-11-20T09:01:00.000Z'))).toBe(window + 1);
  });

  it('always has at least one millisecond left', () => {
    expect(msLeftInMinute(at('2026-11-20T09:00:00.000Z'))).toBe(60_000);
    expect(msLeftInMinute(at('2026-11-20T09:00:59.999Z'))).toBe(1);
  });
});
