import { nanoUsd, usdNumber, type NanoUsd } from '@gateway/base';

/** Sums of an organization's account. */
export interface Credits {
  /** Everything that was ever added. */
  readonly totalCredits: NanoUsd;
  /** Everything that was ever charged. */
  readonly totalUsage: NanoUsd;
  /** What running requests hold. */
  readonly reserved: NanoUsd;
}

/** The answer of GET /v1/credits, in US dollars; `available` is what a 402 reports. */
export function creditsView({ totalCredits, totalUsage, reserved }: Credits): object {
  const balance = totalCredits - totalUsage;
  return {
    data: {
      total_credits: usdNumber(totalCredits),
      total_usage: usdNumber(totalUsage),
      balance: usdNumber(nanoUsd(balance)),
      reserved: usdNumber(reserved),
      available: usdNumber(nanoUsd(balance - reserved)),
      currency: 'USD',
    },
  };
}
