import type { HoldOutcome, HoldRequest } from '../core/credit/hold';
import { nanoUsd } from '@gateway/base';

/**
 * What hold_credit promises, as plainly as it can be said: one hold after the
 * other, on maps. Slow, in memory, and the measure of the SQL.
 */
export function createHoldModel() {
  const available = new Map<string, bigint>();
  const used = new Map<string, bigint>();
  const holds = new Map<string, HoldRequest & { open: boolean }>();

  function add(map: Map<string, bigint>, name: string, amount: bigint): void {
    map.set(name, (map.get(name) ?? 0n) + amount);
  }

  function spendNames(hold: HoldRequest): [key: string, organization: string] {
    const organization = `${hold.organizationId} ${hold.day}`;
    return [`${organization} ${hold.keyId}`, organization];
  }

  function take(hold: HoldRequest): HoldOutcome {
    const known = holds.get(hold.holdId);
    if (known && known.organizationId !== hold.organizationId) return { kind: 'foreign' };
    if (known) return { kind: known.open ? 'held' : 'closed' };
    const left = available.get(hold.organizationId) ?? 0n;
    if (left < hold.amountNanoUsd) {
      return { kind: 'insufficient_credits', availableNanoUsd: nanoUsd(left) };
    }
    const [ofKey, ofOrganization] = spendNames(hold);
    const exceeded =
      budgetFault('key', ofKey, hold.keyDailyBudgetNanoUsd, hold) ??
      budgetFault('organization', ofOrganization, hold.organizationDailyBudgetNanoUsd, hold);
    if (exceeded) return exceeded;
    add(available, hold.organizationId, -hold.amountNanoUsd);
    add(used, ofKey, hold.amountNanoUsd);
    add(used, ofOrganization, hold.amountNanoUsd);
    holds.set(hold.holdId, { ...hold, open: true });
    return { kind: 'held' };
  }

  function budgetFault(
    scope: 'key' | 'organization',
    name: string,
    limit: HoldRequest['keyDailyBudgetNanoUsd'],
    { amountNanoUsd }: HoldRequest,
  ): HoldOutcome | undefined {
    const usedNanoUsd = nanoUsd(used.get(name) ?? 0n);
    if (limit === undefined || usedNanoUsd + amountNanoUsd <= limit) return undefined;
    return { kind: 'daily_budget_exceeded', scope, limitNanoUsd: limit, usedNanoUsd };
  }

  /** Ends a hold at a cost; a void costs nothing. */
  function end(holdId: string, cost: bigint): void {
    const hold = holds.get(holdId);
    if (!hold?.open) return;
    hold.open = false;
    const reachable = (available.get(hold.organizationId) ?? 0n) + hold.amountNanoUsd;
    const charged = cost < reachable ? cost : reachable;
    available.set(hold.organizationId, reachable - charged);
    for (const name of spendNames(hold)) add(used, name, charged - hold.amountNanoUsd);
  }

  return {
    take,
    end,
    addCredit: (organizationId: string, amount: bigint) => add(available, organizationId, amount),
    available: (organizationId: string) => available.get(organizationId) ?? 0n,
    holdIds: () => [...holds.keys()],
    openHoldIds: () => [...holds.values()].filter(({ open }) => open).map(({ holdId }) => holdId),
    holdOf: (holdId: string) => holds.get(holdId),
  };
}
