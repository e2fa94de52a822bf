import { isAddressRange } from '@gateway/addresses';
import { listSetting } from '@gateway/runtime';

/** Settings of each app that browsers or clients reach. */
export const httpServerEnvironment = {
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  GATEWAY_TRUSTED_PROXIES: listSetting.default([]).refine((ranges) => ranges.every(isAddressRange), {
    error: ({ input }) => `must be addresses or CIDR ranges, which ${notRanges(input as string[])} is not`,
  }),
};

function notRanges(ranges: readonly string[]): string {
  return ranges
    .filter((range) => !isAddressRange(range))
    .map((range) => JSON.stringify(range))
    .join(', ');
}
