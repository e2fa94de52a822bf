import { DailyBudgetExceeded } from '@gateway/contracts/billing-ledger';
import { Refused } from '@gateway/contracts/rate-limit';
import { exceededBudget, exceededLimit } from './messages';

/** A value that only a later version of the contract has. */
const UNKNOWN = Number(1_000);

it('refusals of a later version are refusals still, in words that the public API has', () => {
  expect(
    exceededLimit(Refused.fromPartial({ limitType: UNKNOWN, scope: UNKNOWN, limit: 5, retryAfterMs: 1_000 })),
  ).toEqual({ limitType: 'requests', scope: 'organization', limit: 5, retryAfterMs: 1_000 });
  expect(exceededBudget(DailyBudgetExceeded.fromPartial({ scope: UNKNOWN })).scope).toBe('organization');
});
