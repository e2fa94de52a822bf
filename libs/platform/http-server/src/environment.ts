import { isAddressRange } from '@gateway/addresses';
import { listSetting } from '@gateway/runtime';

/** Settings of each app with a public HTTP server. */
export const httpServerEnvironment = {
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted. */
  GATEWAY_TRUSTED_PROXIES: listSetting.default([]).refine((ranges) => ranges.every(isAddressRange), {
    error: ({ input }) => `must be addresses or CIDR ranges; invalid: ${invalidRanges(input as string[])}`,
  }),
};

function invalidRanges(ranges: readonly string[]): string {
  return ranges
    .filter((range) => !isAddressRange(range))
    .map((range) => JSON.stringify(range))
    .join(', ');
}
