import { DAY_MS, type Prices, type TokenPrices, type Usage } from '@gateway/base';
import { seededRandom, type SeededRandom } from '@gateway/test-support';
import type { IdempotentEnding } from '@gateway/billing-ledger/testing';
import {
  CLAIM_RETENTION_MS,
  LEASE_MS,
  type Call,
  type Generation,
  type History,
  type Operation,
  type Step,
} from './history';
import {
  hasWeeks,
  countedBudget,
  hasCounted,
  hasWindows,
  longBudgetsAndRun,
  project,
  weekBudgets,
  windowBudget,
  WINDOWS_FROM_SEED,
  withSharedOwners,
} from './generate-budgets';
import { extendHolds } from './generate-extensions';
import { singleCall, withFault } from './generate-faults';

const ORGANIZATIONS = ['org-a', 'org-b', 'org-c'];
const KEYS = ['key-1', 'key-2'];
/** The number of its own random number; those of a generation have its index. */
const PASSING_TIME = 999;
const NOON = Date.UTC(2026, 10, 21, 12);
/** The last seconds of a day and a month. */
const BEFORE_MIDNIGHT = Date.UTC(2026, 10, 30, 23, 59, 50);
/** The last seconds of a week. */
const BEFORE_MONDAY = Date.UTC(2026, 10, 29, 23, 59, 50);
const MAX_LIFETIME_MS = 60_000;
const ENDINGS: readonly (IdempotentEnding | undefined)[] = [
  ...(['completed', 'completed', 'completed', 'failed', 'cancelled', 'unknown'] as const),
  undefined,
];

/** Distinct prices of three versions of a catalogue; the last ones need rounding, and long prompts cost more. */
const CATALOGUES: readonly Prices[] = [
  {
    ...prices(1_000_000n, 2_000_000n, 6_000_000n, 8_000_000n, 3_000_000n, 4_000_000n, 5_000_000n),
    tiers: [],
  },
  {
    ...prices(5_000_000n, 1_000_000n, 4_000_000n, 6_000_000n, 2_000_000n, 7_000_000n, 3_000_000n),
    tiers: [],
  },
  {
    ...prices(1_500_001n, 250_000n, 1_800_000n, 2_600_001n, 2_999_999n, 333_333n, 700_000n),
    tiers: [
      {
        abovePromptTokens: 3,
        ...prices(2_500_001n, 450_000n, 2_800_000n, 3_600_001n, 3_999_999n, 533_333n, 900_000n),
      },
    ],
  },
];

function prices(
  input: bigint,
  cached: bigint,
  written: bigint,
  written1h: bigint,
  output: bigint,
  reasoning: bigint,
  image: bigint,
): TokenPrices {
  return {
    inputNanoUsdPerMillion: input,
    cachedInputNanoUsdPerMillion: cached,
    cacheWriteNanoUsdPerMillion: written,
    cacheWrite1hNanoUsdPerMillion: written1h,
    outputNanoUsdPerMillion: output,
    reasoningNanoUsdPerMillion: reasoning,
    imageNanoUsdPerMillion: image,
  };
}

/** The focus of a history: some situations need many calls of one kind. */
interface Theme {
  /** Probability that a generation has an Idempotency-Key, and that it is the first key. */
  readonly keyed: number;
  readonly firstScope: number;
  readonly time: number;
  readonly generations: number;
  readonly steps: number;
  readonly operations: readonly Operation['kind'][];
}

const MONEY: Theme = {
  keyed: 0.2,
  firstScope: 0.5,
  time: 0.12,
  generations: 9,
  steps: 14,
  operations: [
    'credit',
    'hold',
    'hold',
    'hold',
    'settle',
    'settle',
    'settle',
    'void',
    'reap',
    'claim',
    'release',
  ],
};

const KEYS_IN_FLIGHT: Theme = {
  keyed: 0.9,
  firstScope: 0.85,
  time: 0.25,
  // Few, so that claimed generations are also settled.
  generations: 4,
  steps: 18,
  operations: [
    'hold',
    'hold',
    'settle',
    'settle',
    'settle',
    'claim',
    'claim',
    'claim',
    'claim',
    'renew',
    'release',
  ],
};

/** The history of a seed; deterministic. */
export function generateHistory(seed: number): History {
  const random = seededRandom(seed);
  const theme = random.chance(0.6) ? MONEY : KEYS_IN_FLIGHT;
  const startsBeforeMidnight = random.chance(0.4);
  const countsByHour = hasWindows(seed) || hasCounted(seed);
  const startUnixMs = countsByHour
    ? BEFORE_MIDNIGHT
    : !startsBeforeMidnight
      ? NOON
      : hasWeeks(seed)
        ? BEFORE_MONDAY
        : BEFORE_MIDNIGHT;
  const generations = Array.from({ length: random.integer(3, theme.generations) }, (_, index) =>
    withSharedOwners(seed, generation(random, theme, seed, index, startUnixMs)),
  );
  const steps: Step[] = [initialCredits(random)];
  const requested = new Set<number>();
  const length = random.integer(6, theme.steps);
  while (steps.length < length) steps.push(step({ random, theme, generations, requested }));
  if (theme === KEYS_IN_FLIGHT && random.chance(0.5))
    interleave(random, steps, takeover(random, generations));
  extendHolds(seed, steps);
  if (countsByHour) passMidnight(seed, generations, steps);
  return { seed, startUnixMs, generations, steps };
}

function generation(
  random: SeededRandom,
  theme: Theme,
  seed: number,
  index: number,
  startUnixMs: number,
): Generation {
  const budget = () => (random.chance(0.25) ? random.integer(0, 120) : undefined);
  // Requests with an Idempotency-Key belong to one organization.
  const isKeyed = random.chance(theme.keyed);
  const scope = isKeyed ? (random.chance(theme.firstScope) ? 'scope-1' : 'scope-2') : undefined;
  const holdPrices = random.pick(CATALOGUES);
  return {
    id: idOf(seed, index, startUnixMs),
    organization: scope ? 'org-a' : random.pick(ORGANIZATIONS),
    key: random.pick(KEYS),
    amount: random.chance(0.1) ? 0 : random.integer(1, 60),
    organizationBudget: budget(),
    keyBudget: budget(),
    ...longBudgetsAndRun(seed, index),
    project: project(seed, index),
    weekBudgets: weekBudgets(seed, index),
    window: windowBudget(seed, index),
    counted: countedBudget(seed, index),
    holdPrices,
    eventPrices: eventPrices(random, holdPrices),
    usage: usage(random),
    createdUnixMs: startUnixMs,
    // Distinct, so that the order of the reaper is deterministic.
    lifetimeMs: random.integer(1, MAX_LIFETIME_MS / 100) * 100 + index,
    scope,
    body: random.chance(0.95) ? 1 : 2,
    ending: scope ? random.pick(ENDINGS) : undefined,
  };
}

/** Two generations that count by the hour, with midnight between them. Random steps rarely produce this. */
function passMidnight(seed: number, generations: readonly Generation[], steps: Step[]): void {
  const random = seededRandom(WINDOWS_FROM_SEED + seed * 1_000 + PASSING_TIME);
  const [first, second] = random.shuffle(
    [...generations.keys()].filter((index) => generations[index]?.window ?? generations[index]?.counted),
  );
  if (first === undefined || second === undefined) return;
  const woven: Step[] = [
    singleCall(random, { kind: 'hold', generations: [first] }),
    singleCall(random, { kind: 'settle', generations: [first] }),
    { kind: 'time', ms: 15_000 },
    singleCall(random, { kind: 'hold', generations: [second] }),
  ];
  if (random.chance(0.5)) steps.splice(1, 0, ...woven);
  else interleave(random, steps, woven);
}

/** Usually the prices of the hold; sometimes those of a changed catalogue, or none. */
function eventPrices(random: SeededRandom, holdPrices: Prices): Prices | undefined {
  if (random.chance(0.1)) return undefined;
  return random.chance(0.6) ? holdPrices : random.pick(CATALOGUES);
}

const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Usually in the gateway's format, which starts with the time; sometimes in another. */
function idOf(seed: number, index: number, unixMs: number): string {
  if (index === 2) return `sim-${seed}-${index}`;
  let time = '';
  for (let rest = unixMs, digit = 0; digit < 10; digit += 1, rest = Math.floor(rest / 32)) {
    time = `${ULID_DIGITS[rest % 32]}${time}`;
  }
  return `gen-${time}${String(seed).padStart(12, '0')}${String(index).padStart(4, '0')}`;
}

function usage(random: SeededRandom): Usage {
  // Usually few, so that a hold covers them.
  const most = random.chance(0.6) ? 4 : 12;
  const promptTokens = random.integer(0, most);
  const completionTokens = random.integer(0, most);
  const cachedTokens = random.integer(0, promptTokens);
  const cacheWriteTokens = random.chance(0.3) ? random.integer(0, promptTokens - cachedTokens) : 0;
  const cacheWrite1hTokens = random.chance(0.3)
    ? random.integer(0, promptTokens - cachedTokens - cacheWriteTokens)
    : 0;
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens,
    imageTokens: random.chance(0.2) ? random.integer(0, 4) : 0,
    completionTokens,
    reasoningTokens: random.integer(0, completionTokens),
  };
}

function initialCredits(random: SeededRandom): Step {
  const calls = ORGANIZATIONS.slice(0, 2).map((organization, index): Call => {
    const amount = random.integer(20, 300);
    return {
      ledger: index === 0 ? 1 : 2,
      operation: { kind: 'credit', id: `crd-first-${index}`, organization, amount },
    };
  });
  return { kind: 'calls', calls };
}

/**
 * A key whose request stopped renewing is taken over by a retry, and both settle.
 * Random steps rarely produce this.
 */
function takeover(random: SeededRandom, generations: readonly Generation[]): Step[] {
  const keyed = random
    .shuffle([...generations.keys()])
    .filter((index) => generations[index]?.scope !== undefined);
  const [first = 0, ...others] = keyed;
  const isSameRequest = (index: number): boolean =>
    generations[index]?.scope === generations[first]?.scope &&
    generations[index]?.body === generations[first]?.body;
  const second = others.find(isSameRequest);
  if (second === undefined) return [];
  return [
    singleCall(random, { kind: 'hold', generations: [first, second] }),
    singleCall(random, { kind: 'claim', generation: first }),
    { kind: 'time', ms: LEASE_MS + random.integer(1, 500) },
    singleCall(random, { kind: 'claim', generation: second }),
    ...random
      .shuffle([first, second])
      .map((index) => singleCall(random, { kind: 'settle', generations: [index] })),
  ];
}

/** Inserts steps at random places, in their order. */
function interleave(random: SeededRandom, steps: Step[], woven: readonly Step[]): void {
  const places = woven.map(() => random.integer(1, steps.length)).sort((left, right) => left - right);
  woven.forEach((each, index) => steps.splice((places[index] ?? 0) + index, 0, each));
}

/** State of the generation of a history. */
interface Draft {
  readonly random: SeededRandom;
  readonly theme: Theme;
  readonly generations: readonly Generation[];
  /** Generations with a hold operation. */
  readonly requested: Set<number>;
}

function step(draft: Draft): Step {
  const { random, theme } = draft;
  if (random.chance(theme.time)) return { kind: 'time', ms: time(random, theme) };
  if (random.chance(0.04)) return singleCall(random, { kind: 'delete_expired' });
  if (random.chance(0.08)) return singleCall(random, { kind: 'reap', limit: random.integer(1, 3) });
  const count = random.chance(0.5) ? 1 : random.integer(2, 3);
  const calls: Call[] = [];
  while (calls.length < count) {
    const operation = randomOperation(draft);
    // One of two concurrent reapers does nothing, and the model cannot know which.
    if (operation.kind === 'reap' && calls.some((call) => call.operation.kind === 'reap')) continue;
    calls.push({ ledger: random.pick([1, 2]), operation });
  }
  // One fault per step, because the next step waits for the backends of cut connections.
  return { kind: 'calls', calls: random.chance(0.4) ? withFault(random, calls) : calls };
}

function time(random: SeededRandom, theme: Theme): number {
  if (theme === KEYS_IN_FLIGHT && random.chance(0.7)) return random.integer(LEASE_MS / 2, LEASE_MS);
  return random.pick([
    random.integer(1, LEASE_MS + 500),
    LEASE_MS,
    random.integer(1, MAX_LIFETIME_MS + 1_000),
    random.integer(1, MAX_LIFETIME_MS + 1_000),
    DAY_MS,
    CLAIM_RETENTION_MS + LEASE_MS,
  ]);
}

const ABOUT_KEYS: ReadonlySet<Operation['kind']> = new Set(['claim', 'renew', 'release']);

function randomOperation({ random, theme, generations, requested }: Draft): Operation {
  const some = (atMost: number): number[] =>
    random.shuffle([...generations.keys()]).slice(0, random.integer(1, Math.min(atMost, generations.length)));
  /** Mostly generations with a hold operation, so that settlements without a hold are rare. */
  const someRequested = (atMost: number): number[] => {
    const known = random.chance(0.8) ? random.shuffle([...requested]) : [];
    return known.length > 0 ? known.slice(0, random.integer(1, atMost)) : some(1);
  };
  const keyed = [...generations.keys()].filter((index) => generations[index]?.scope !== undefined);
  const possible = theme.operations.filter((kind) => keyed.length > 0 || !ABOUT_KEYS.has(kind));
  const kind = random.pick(possible);
  switch (kind) {
    case 'credit': {
      const id = `crd-${random.integer(1, 3)}`;
      return { kind, id, organization: random.pick(ORGANIZATIONS), amount: random.integer(1, 100) };
    }
    case 'hold': {
      const held = some(4);
      for (const index of held) requested.add(index);
      return { kind, generations: held, ...(random.chance(0.04) ? { otherOrganization: true } : {}) };
    }
    case 'settle': {
      const batch = someRequested(4);
      return { kind, generations: random.chance(0.15) ? [...batch, random.pick(batch)] : batch };
    }
    case 'extend':
      return { kind, generations: someRequested(2), by: random.integer(1, 40) };
    case 'void':
      return { kind, generations: someRequested(2) };
    case 'reap':
      return { kind, limit: 100 };
    case 'claim':
      return { kind, generation: random.pick(keyed) };
    case 'renew':
    case 'release':
      return { kind, generations: random.shuffle(keyed).slice(0, 2) };
    case 'delete_expired':
      return { kind };
  }
}
