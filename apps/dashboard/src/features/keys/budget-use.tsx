import type { BudgetSpend } from '../../api/budget-spend';
import { percent } from '../../format/count';
import { nanoUsdOf, usdOfNano } from '../../format/money';
import { Badge } from '../../ui/notice';
import { Meter } from '../../ui/meter';
import { Money } from '../../ui/values';
import { BUDGETS } from './budgets';

interface BudgetUseProps {
  /** What the bar measures, such as "Daily budget of the organization". */
  readonly label: string;
  readonly budget: string;
  readonly spent: string;
  /** Reserved by running requests. */
  readonly held: string;
}

/** How much of a budget is spent and held, and by how much a budget that was lowered is exceeded. */
export function BudgetUse({ label, budget, spent, held }: BudgetUseProps) {
  const left = nanoUsdOf(budget) - nanoUsdOf(spent) - nanoUsdOf(held);
  const share = Number(nanoUsdOf(spent)) / Number(nanoUsdOf(budget));
  return (
    <div className="mt-1 grid max-w-md gap-1">
      <Meter label={label} value={Number(spent)} max={Number(budget)} />
      <p className="text-xs text-ink-soft">
        <Money usd={spent} /> spent ({percent(Math.round(share * 1_000) / 1_000)})
        {held !== '0' && (
          <>
            , <Money usd={held} /> held by running requests
          </>
        )}
        {left > 0n ? (
          <>
            , <Money usd={usdOfNano(left)} /> left
          </>
        ) : left < 0n ? (
          <>
            , <Money usd={usdOfNano(-left)} /> over
          </>
        ) : (
          ', nothing left'
        )}
        .
      </p>
    </div>
  );
}

/** An owner of budgets, whose limits all apply to a request. */
export interface BudgetOwner {
  /** Such as "This key". */
  readonly name: string;
  readonly budgets: Readonly<Record<(typeof BUDGETS)[number]['field'], string | null>>;
  /** Undefined while it is unknown. */
  readonly spend: BudgetSpend | undefined;
}

interface AppliedBudget {
  readonly owner: BudgetOwner;
  readonly budget: string;
  /** In nano-dollars; undefined while the spend is unknown. */
  readonly left: bigint | undefined;
}

/** The budgets of each period that apply, and which of them is used up first. */
export function AppliedBudgets({ owners }: { readonly owners: readonly BudgetOwner[] }) {
  return BUDGETS.map(({ field, spend, label, reset }) => {
    const applied = owners.flatMap((owner): AppliedBudget[] => {
      const budget = owner.budgets[field];
      if (budget === null) return [];
      const left =
        owner.spend && nanoUsdOf(budget) - nanoUsdOf(owner.spend[spend]) - nanoUsdOf(owner.spend.held_usd);
      return [{ owner, budget, left }];
    });
    const first = firstUsedUp(applied);
    return (
      <div key={field} className="grid items-baseline gap-x-4 gap-y-1 py-2 sm:grid-cols-[13rem_1fr]">
        <dt className="text-ink-soft">{label}</dt>
        <dd className="grid min-w-0 gap-3">
          {applied.length === 0 && 'No limit'}
          {applied.map(({ owner, budget }) => (
            <div key={owner.name}>
              {owner.name}: <Money usd={budget} digits="all" />{' '}
              {first === owner && applied.length > 1 && <Badge>Reached first</Badge>}
              {owner.spend && (
                <BudgetUse
                  label={`${label}: ${owner.name}`}
                  budget={budget}
                  spent={owner.spend[spend]}
                  held={owner.spend.held_usd}
                />
              )}
            </div>
          ))}
          {applied.length > 0 && <p className="text-xs text-ink-faint">{reset}</p>}
        </dd>
      </div>
    );
  });
}

function firstUsedUp(applied: readonly AppliedBudget[]): BudgetOwner | undefined {
  let first: AppliedBudget | undefined;
  for (const one of applied) {
    if (one.left === undefined) return undefined;
    if (first?.left === undefined || one.left < first.left) first = one;
  }
  return first?.owner;
}
