import type { RunningGateway } from './gateway';
import type { Tally } from './load';

/** Whether the organization was charged exactly what its answers said they cost. */
export interface MoneyCheck {
  readonly exact: boolean;
  readonly answers: number;
  readonly text: string;
}

/** Compares the sum of `usage.cost` over every answer with the balance once nothing is held any more. */
export async function checkMoney(
  gateway: Pick<RunningGateway, 'settled'>,
  tally: Tally,
): Promise<MoneyCheck> {
  const { usedNanoUsd, heldNanoUsd } = await gateway.settled();
  const expected = BigInt(tally.costNanoUsd);
  const problems = [
    ...(tally.priced === tally.answers ? [] : [`${tally.answers - tally.priced} answers name no cost`]),
    ...(tally.costNanoUsd > 0 ? [] : ['no answer cost anything']),
    ...(usedNanoUsd === expected ? [] : [`charged ${usedNanoUsd} nano-dollars, the answers say ${expected}`]),
    ...(heldNanoUsd === 0n ? [] : [`${heldNanoUsd} nano-dollars are still held`]),
  ];
  const answers = tally.answers.toLocaleString('en');
  return {
    exact: problems.length === 0,
    answers: tally.answers,
    text:
      problems.length === 0
        ? `exact. ${answers} answers cost ${expected} nano-dollars, which is what was charged; nothing is held.`
        : `WRONG after ${answers} answers: ${problems.join('; ')}.`,
  };
}
