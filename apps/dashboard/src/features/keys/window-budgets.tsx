import { useQuery } from '@tanstack/react-query';
import { windowSpendQuery } from '../../api/budget-spend';
import { Button } from '../../ui/button';
import { FieldGroup, Input } from '../../ui/field';
import { Fact } from '../../ui/page';
import { Money } from '../../ui/values';
import { BudgetUse } from './budget-use';
import { MAX_WINDOWS, type WindowBudget, type WindowValue } from './window-values';

interface WindowBudgetsFieldsProps {
  readonly values: readonly WindowValue[];
  readonly onChange: (values: readonly WindowValue[]) => void;
  readonly error: string | undefined;
}

/** A list of windows: hours and amount of each. */
export function WindowBudgetsFields({ values, onChange, error }: WindowBudgetsFieldsProps) {
  const change = (index: number, changes: Partial<WindowValue>) =>
    onChange(values.map((value, at) => (at === index ? { ...value, ...changes } : value)));
  return (
    <FieldGroup
      legend="Budgets of rolling windows"
      hint="The current UTC hour and those before it. A window counts what was admitted since it was set."
      error={error}
    >
      {values.map(({ hours, amount }, index) => (
        <div key={index} className="flex flex-wrap items-center gap-2">
          <Input
            className="!w-20"
            inputMode="numeric"
            aria-label={`Hours of window ${index + 1}`}
            value={hours}
            onChange={({ target }) => change(index, { hours: target.value })}
          />
          <span className="text-sm">hours, USD</span>
          <Input
            className="!w-32"
            inputMode="decimal"
            aria-label={`Budget of window ${index + 1} (USD)`}
            value={amount}
            onChange={({ target }) => change(index, { amount: target.value })}
          />
          <Button
            small
            aria-label={`Remove window ${index + 1}`}
            onClick={() => onChange(values.filter((_, at) => at !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      {values.length < MAX_WINDOWS && (
        <div>
          <Button small icon="plus" onClick={() => onChange([...values, { hours: '24', amount: '' }])}>
            Add window
          </Button>
        </div>
      )}
    </FieldGroup>
  );
}

interface WindowBudgetFactsProps {
  readonly organizationId: string;
  /** Undefined for the budgets of the organization, null for those of a project, whose use is not read. */
  readonly keyId?: string | null;
  /** Such as "This key". */
  readonly owner: string;
  readonly budgets: readonly WindowBudget[];
}

/** Each window of an owner with what counts against it. */
export function WindowBudgetFacts({ organizationId, keyId, owner, budgets }: WindowBudgetFactsProps) {
  const hours = keyId === null ? [] : budgets.map((budget) => budget.hours);
  const { data: spends = [] } = useQuery(windowSpendQuery(organizationId, keyId ?? undefined, hours));
  return budgets.map((budget) => {
    const label = `${budget.hours}-hour budget`;
    const spend = spends.find((each) => each.hours === budget.hours);
    return (
      <Fact key={budget.hours} name={label}>
        {owner}: <Money usd={budget.amount_usd} digits="all" />
        {spend && (
          <BudgetUse
            label={`${label}: ${owner}`}
            budget={budget.amount_usd}
            spent={spend.spent_usd}
            held={spend.held_usd}
          />
        )}
      </Fact>
    );
  });
}
