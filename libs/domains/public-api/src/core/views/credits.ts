import { nanoUsd, usdNumber, type NanoUsd } from '@gateway/base';

/** Totals of an organization's account. */
export interface Credits {
  /** Sum of all credit added. */
  readonly totalCredits: NanoUsd;
  /** Sum of all charges. */
  readonly totalUsage: NanoUsd;
  /** Sum of open holds. */
  readonly reserved: NanoUsd;
}

/** The response of GET /v1/credits, in US dollars. `available` is the amount that a 402 reports. */
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
