import { Tip } from '../../ui/tooltip';
import { Money } from '../../ui/values';

interface SpendOfBudgetProps {
  /** Undefined while it is unavailable. */
  readonly spend: string | undefined;
  readonly budget: string | null;
}

/** The spend and the budget that limits it. An unavailable figure is not shown as zero. */
export function SpendOfBudget({ spend, budget }: SpendOfBudgetProps) {
  return (
    <>
      {spend === undefined ? <Unavailable /> : <Money usd={spend} />}
      {budget !== null && (
        <p className="text-xs text-ink-faint">
          of <Money usd={budget} digits="all" />
        </p>
      )}
    </>
  );
}

/** Shown for an unavailable figure, which is not zero. */
export function Unavailable() {
  return (
    <Tip text="Temporarily unavailable">
      <span tabIndex={0} className="text-ink-faint">
        —
      </span>
    </Tip>
  );
}
