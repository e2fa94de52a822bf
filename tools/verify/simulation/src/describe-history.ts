import { encodePrices } from '@gateway/base';
import {
  generationsOf,
  type Call,
  type Fault,
  type Generation,
  type History,
  type Operation,
  type ProjectBudgets,
  type Step,
} from './history';

/** A history as readable text, with its generations. */
export function describeHistory({ seed, startUnixMs, generations, steps }: History): string {
  const used = new Set(
    steps.flatMap((step) =>
      (step.kind === 'calls' ? step.calls : []).flatMap(({ operation }) => generationsOf(operation)),
    ),
  );
  return [
    `history ${seed}, from ${new Date(startUnixMs).toISOString()}`,
    ...[...used]
      .sort((one, other) => one - other)
      .map((index) => `  g${index}: ${describeGeneration(generations[index] as Generation)}`),
    ...steps.map((step, index) => `  ${index + 1}. ${describeStep(step)}`),
  ].join('\n');
}

function describeGeneration(one: Generation): string {
  const { promptTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens, imageTokens } = one.usage;
  const { completionTokens, reasoningTokens } = one.usage;
  return [
    `${one.organization}, ${one.key}, holds ${one.amount} for ${one.lifetimeMs} ms`,
    ...(one.organizationBudget === undefined ? [] : [`organization's budget ${one.organizationBudget}`]),
    ...(one.keyBudget === undefined ? [] : [`key's budget ${one.keyBudget}`]),
    ...Object.entries(one.longBudgets).flatMap(([name, budget]) =>
      budget === undefined ? [] : [`${name} budget ${budget}`],
    ),
    ...Object.entries(one.weekBudgets).flatMap(([owner, budget]) =>
      budget === undefined ? [] : [`${owner}'s weekly budget ${budget}`],
    ),
    ...(one.window === undefined
      ? []
      : [`${one.window.owner}'s budget ${one.window.amount} of ${one.window.hours} h`]),
    ...(one.counted === undefined
      ? []
      : [`${one.counted.owner}'s ${one.counted.period} budget ${one.counted.amount} of ${one.counted.of}`]),
    ...(one.run === undefined ? [] : [`in ${one.run.id} with the budget ${one.run.budget ?? '(none)'}`]),
    ...(one.project === undefined ? [] : [describeProject(one.project)]),
    ...(one.scope === undefined
      ? []
      : [`under ${one.scope} with body ${one.body}, ending ${one.ending ?? 'not reported'}`]),
    `used ${promptTokens} in (${cachedTokens} cached, ${cacheWriteTokens} written, ${cacheWrite1hTokens} written for 1 h, ${imageTokens} image), ${completionTokens} out (${reasoningTokens} reasoning)`,
    `held at ${encodePrices(one.holdPrices)}, finished at ${one.eventPrices ? encodePrices(one.eventPrices) : 'no prices'}`,
  ].join('; ');
}

function describeProject({ id, ...budgets }: ProjectBudgets): string {
  const named = Object.entries(budgets).flatMap(([period, budget]) =>
    budget === undefined ? [] : [`${period} budget ${budget}`],
  );
  return [`in ${id}`, ...named].join(', ');
}

function describeStep(step: Step): string {
  if (step.kind === 'time') return `${step.ms} ms pass`;
  const calls = step.calls.map(describeCall);
  return calls.length === 1 ? (calls[0] ?? '') : `concurrently: ${calls.join(' | ')}`;
}

function describeCall({ ledger, operation, fault }: Call): string {
  return `ledger ${ledger} ${describeOperation(operation)}${fault ? `, ${describeFault(fault)}` : ''}`;
}

function describeOperation(operation: Operation): string {
  const named = generationsOf(operation)
    .map((index) => `g${index}`)
    .join(' ');
  switch (operation.kind) {
    case 'credit':
      return `adds ${operation.amount} to ${operation.organization} as ${operation.id}`;
    case 'hold':
      return `holds for ${named}${operation.otherOrganization ? ', requested by another organization' : ''}`;
    case 'extend':
      return `extends the hold of ${named} to ${operation.by} more than its first amount`;
    case 'void':
      return `voids ${named}`;
    case 'settle':
      return `settles ${named}`;
    case 'reap':
      return `voids up to ${operation.limit} overdue holds`;
    case 'claim':
      return `claims the key of ${named}`;
    case 'renew':
      return `renews the claim of ${named}`;
    case 'release':
      return `releases the claim of ${named}`;
    case 'delete_expired':
      return 'deletes expired claims';
  }
}

const FAULTS: Readonly<Record<Fault['kind'], (statement: number) => string>> = {
  lost_response: (statement) => `loses the response of statement ${statement}`,
  cut: (statement) => `loses its connection during statement ${statement}`,
  terminated_before: (statement) => `terminates before statement ${statement}`,
  terminated_after: (statement) => `terminates after statement ${statement}`,
};

function describeFault({ kind, statement }: Fault): string {
  return FAULTS[kind](statement);
}
