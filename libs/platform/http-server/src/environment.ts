import { isAddressRange } from '@gateway/addresses';
import { listSetting } from '@gateway/runtime';

/** Settings of each app with a public HTTP server. */
export const httpServerEnvironment = {
  GATEWAY_TRUSTED_PROXIES: listSetting
    .default([])
    .refine((ranges) => ranges.every(isAddressRange), {
      error: ({ input }) => `must be addresses or CIDR ranges; invalid: ${invalidRanges(input as string[])}`,
    })
    .describe(
      'Addresses or CIDR ranges of your proxies, separated by commas. `X-Forwarded-For` is trusted from these only. Without it IP allowlists and abuse limits see the address of the proxy.',
    ),
};

function invalidRanges(ranges: readonly string[]): string {
  return ranges
    .filter((range) => !isAddressRange(range))
    .map((range) => JSON.stringify(range))
    .join(', ');
}
