import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { endUserSpendQuery, otherSpendQuery, type BudgetSpend } from '../../api/budget-spend';
import { Fact } from '../../ui/page';
import { Money, Text, visible } from '../../ui/values';
import { BudgetUse } from './budget-use';
import { BUDGETS } from './budgets';
import { otherBudgetName, type OtherBudget } from './other-budget-values';

interface OtherBudgetFactsProps {
  readonly organizationId: string;
  /** Without a key or project, the budgets are those of the organization. */
  readonly keyId?: string;
  readonly projectId?: string;
  /** Such as "This key". */
  readonly owner: string;
  readonly budgets: readonly OtherBudget[];
}

/** Each of these budgets of an owner with what counts against it, and until when. */
export function OtherBudgetFacts({ organizationId, owner, budgets, ...of }: OtherBudgetFactsProps) {
  const shared = budgets.filter((budget) => !budget.per_end_user);
  const windows = shared.filter(({ period }) => period === 'window');
  const hours = [...new Set(windows.map((budget) => budget.hours))];
  const models = [...new Set(shared.flatMap(({ model }) => model ?? []))];
  const { data } = useQuery(otherSpendQuery(organizationId, of, { hours, models }));
  return budgets.map((budget) => {
    const label = otherBudgetName(budget);
    const spend = data && !budget.per_end_user ? spendOf(budget, data) : undefined;
    return (
      <Fact key={label} name={label}>
        {owner}: <Money usd={budget.amount_usd} digits="all" />
        {spend && (
          <BudgetUse
            label={`${label}: ${owner}`}
            budget={budget.amount_usd}
            spent={spend.spent}
            held={spend.held}
          />
        )}
        {budget.per_end_user && of.keyId !== undefined && (
          <EndUsers organizationId={organizationId} keyId={of.keyId} budget={budget} label={label} />
        )}
        <p className="text-xs text-ink-faint">{countedTime(budget)}</p>
      </Fact>
    );
  });
}

interface EndUsersProps {
  readonly organizationId: string;
  readonly keyId: string;
  readonly budget: OtherBudget;
  readonly label: string;
}

/** The end users that are closest to their budget. */
function EndUsers({ organizationId, keyId, budget, label }: EndUsersProps) {
  const { data: endUsers } = useQuery(endUserSpendQuery(organizationId, keyId, budget));
  if (!endUsers) return null;
  if (endUsers.length === 0)
    return <p className="mt-1 text-xs text-ink-soft">No end user has spent any of it.</p>;
  return (
    <>
      <p className="mt-1 text-xs text-ink-soft">The end users that are closest to it:</p>
      <ul className="mt-1 grid gap-3">
        {endUsers.map(({ end_user: endUser, spent_usd: spent, held_usd: held }) => (
          <li key={endUser}>
            {endUser === null ? (
              'Requests without an end user'
            ) : (
              <Link
                to="/o/$organizationId/generations"
                params={{ organizationId }}
                search={{ key: keyId, user: endUser }}
                className="text-accent hover:underline"
              >
                <Text>{endUser}</Text>
              </Link>
            )}
            <BudgetUse
              label={`${label}: ${visible(endUser ?? 'requests without an end user')}`}
              budget={budget.amount_usd}
              spent={spent}
              held={held}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

const CALENDAR = { day: BUDGETS[0], week: BUDGETS[1], month: BUDGETS[2], total: BUDGETS[3] } as const;

function countedTime({ period, hours }: OtherBudget): string {
  if (period !== 'window') return CALENDAR[period].reset;
  return hours === 1
    ? 'Counts the current UTC hour.'
    : `Counts the current UTC hour and the ${hours - 1} before it.`;
}

interface WindowSpend {
  readonly hours: number;
  readonly spent_usd: string;
  readonly held_usd: string;
}

interface OtherSpends {
  readonly windows: readonly WindowSpend[];
  readonly models: readonly (BudgetSpend & {
    readonly model: string;
    readonly windows: readonly WindowSpend[];
  })[];
}

function spendOf(
  { period, hours, model }: OtherBudget,
  { windows, models }: OtherSpends,
): { spent: string; held: string } | undefined {
  const ofModel = models.find((each) => each.model === model);
  if (period === 'window') {
    const counted = model === undefined ? windows : (ofModel?.windows ?? []);
    const window = counted.find((each) => each.hours === hours);
    return window && { spent: window.spent_usd, held: window.held_usd };
  }
  return ofModel && { spent: ofModel[CALENDAR[period].spend], held: ofModel.held_usd };
}
