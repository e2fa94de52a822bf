import type { RunningGateway } from './gateway';
import type { Tally } from './load';

/** Whether the organization was charged exactly the sum of the costs in its responses. */
export interface ChargesCheck {
  readonly exact: boolean;
  readonly responses: number;
  readonly text: string;
}

/** Compares the sum of `usage.cost` over all responses with the organization's charges when no holds are left. */
export async function checkCharges(
  gateway: Pick<RunningGateway, 'finalBalance'>,
  tally: Tally,
): Promise<ChargesCheck> {
  const { usedNanoUsd, heldNanoUsd } = await gateway.finalBalance();
  const expected = BigInt(tally.costNanoUsd);
  const problems = [
    ...(tally.priced === tally.responses
      ? []
      : [`${tally.responses - tally.priced} responses without a cost`]),
    ...(tally.costNanoUsd > 0 ? [] : ['no response had a cost']),
    ...(usedNanoUsd === expected
      ? []
      : [`charged ${usedNanoUsd} nano-dollars, but responses cost ${expected}`]),
    ...(heldNanoUsd === 0n ? [] : [`${heldNanoUsd} nano-dollars are still held`]),
  ];
  const responses = tally.responses.toLocaleString('en');
  return {
    exact: problems.length === 0,
    responses: tally.responses,
    text:
      problems.length === 0
        ? `exact. ${responses} responses cost ${expected} nano-dollars and were charged exactly; no holds are left.`
        : `WRONG after ${responses} responses: ${problems.join('; ')}.`,
  };
}
