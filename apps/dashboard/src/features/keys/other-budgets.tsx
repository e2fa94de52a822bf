import { Button } from '../../ui/button';
import { FieldGroup, Input, Select } from '../../ui/field';
import {
  MAX_OTHER_BUDGETS,
  NEW_OTHER_BUDGET,
  type Counted,
  type OtherBudget,
  type OtherBudgetValue,
} from './other-budget-values';

interface OtherBudgetsFieldsProps {
  readonly values: readonly OtherBudgetValue[];
  readonly onChange: (values: readonly OtherBudgetValue[]) => void;
  readonly error: string | undefined;
  /** Whether end users can have budgets, as those of a key. */
  readonly hasEndUsers?: boolean;
}

/** A list of budgets: what counts, the period and the amount of each. */
export function OtherBudgetsFields({ values, onChange, error, hasEndUsers }: OtherBudgetsFieldsProps) {
  const hint = hasEndUsers
    ? 'Of the current UTC hour and those before it, of some models, or of each end user, whom requests name in "user".'
    : 'Of the current UTC hour and those before it, or of some models.';
  return (
    <FieldGroup
      legend="Budgets of rolling windows, models and end users"
      hint={`${hint} They count what was admitted since they were set.`}
      error={error}
    >
      {values.map((value, index) => (
        <OtherBudgetFields
          key={index}
          name={`budget ${index + 1}`}
          value={value}
          hasEndUsers={hasEndUsers ?? false}
          onChange={(changed) => onChange(values.map((each, at) => (at === index ? changed : each)))}
          onRemove={() => onChange(values.filter((_, at) => at !== index))}
        />
      ))}
      {values.length < MAX_OTHER_BUDGETS && (
        <div>
          <Button small icon="plus" onClick={() => onChange([...values, NEW_OTHER_BUDGET])}>
            Add budget
          </Button>
        </div>
      )}
    </FieldGroup>
  );
}

interface OtherBudgetFieldsProps {
  readonly name: string;
  readonly value: OtherBudgetValue;
  readonly hasEndUsers: boolean;
  readonly onChange: (value: OtherBudgetValue) => void;
  readonly onRemove: () => void;
}

function OtherBudgetFields({ name, value, hasEndUsers, onChange, onRemove }: OtherBudgetFieldsProps) {
  const { counted, model, period, hours, amount } = value;
  const set = (changes: Partial<OtherBudgetValue>) => onChange({ ...value, ...changes });
  return (
    <div className="flex flex-wrap items-center gap-2 pb-1">
      <Select
        className="!w-auto"
        aria-label={`What counts against ${name}`}
        value={counted}
        onChange={({ target }) => {
          const next = target.value as Counted;
          set({ counted: next, ...(next === 'all' && { period: 'window' }) });
        }}
      >
        <option value="all">All models</option>
        <option value="model">Some models</option>
        {hasEndUsers && <option value="end_user">Each end user</option>}
      </Select>
      {counted === 'model' && (
        <Input
          className="!w-48"
          aria-label={`Models of ${name}`}
          placeholder="acme/model or acme/*"
          value={model}
          onChange={({ target }) => set({ model: target.value })}
        />
      )}
      <Select
        className="!w-auto"
        aria-label={`Period of ${name}`}
        value={period}
        onChange={({ target }) => set({ period: target.value as OtherBudget['period'] })}
      >
        {counted !== 'all' && (
          <>
            <option value="day">a day</option>
            <option value="week">a week</option>
            <option value="month">a month</option>
            <option value="total">all time</option>
          </>
        )}
        <option value="window">a rolling window</option>
      </Select>
      {period === 'window' && (
        <span className="flex items-center gap-2 text-sm">
          <Input
            className="!w-20"
            inputMode="numeric"
            aria-label={`Hours of ${name}`}
            value={hours}
            onChange={({ target }) => set({ hours: target.value })}
          />
          hours,
        </span>
      )}
      <span className="flex items-center gap-2 text-sm">
        USD
        <Input
          className="!w-28"
          inputMode="decimal"
          aria-label={`Amount of ${name} (USD)`}
          value={amount}
          onChange={({ target }) => set({ amount: target.value })}
        />
        <Button small aria-label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </Button>
      </span>
    </div>
  );
}
