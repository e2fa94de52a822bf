import { nanoUsd, usdNumber, type NanoUsd } from '@gateway/base';

/** Totals of an organization's account. */
export interface Credits {
  /** Sum of all credit added. */
  readonly totalCreditsNanoUsd: NanoUsd;
  /** Sum of all charges. */
  readonly totalUsageNanoUsd: NanoUsd;
  /** Sum of open holds. */
  readonly heldNanoUsd: NanoUsd;
}

/** The response of GET /v1/credits, in US dollars. `available` is the amount that a 402 reports. */
export function creditsView({ totalCreditsNanoUsd, totalUsageNanoUsd, heldNanoUsd }: Credits): object {
  const balance = totalCreditsNanoUsd - totalUsageNanoUsd;
  return {
    data: {
      total_credits: usdNumber(totalCreditsNanoUsd),
      total_usage: usdNumber(totalUsageNanoUsd),
      balance: usdNumber(nanoUsd(balance)),
      reserved: usdNumber(heldNanoUsd),
      available: usdNumber(nanoUsd(balance - heldNanoUsd)),
      currency: 'USD',
    },
  };
}
