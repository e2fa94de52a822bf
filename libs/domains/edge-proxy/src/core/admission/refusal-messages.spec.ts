import { BudgetExceeded } from '@gateway/contracts/billing-ledger';
import { Refused } from '@gateway/contracts/rate-limit';
import { exceededBudget, exceededLimit } from './refusal-messages';

/** An enum value of a later version of the contract. */
const UNKNOWN = Number(1_000);

it('maps unknown enum values of a later version to values of the public API', () => {
  expect(
    exceededLimit(Refused.fromPartial({ limitType: UNKNOWN, scope: UNKNOWN, limit: 5, retryAfterMs: 1_000 })),
  ).toEqual({ limitType: 'requests', scope: 'organization', limit: 5, retryAfterMs: 1_000 });
  expect(exceededBudget(BudgetExceeded.fromPartial({ scope: UNKNOWN, period: UNKNOWN }))).toMatchObject({
    scope: 'organization',
    period: 'total',
  });
});
