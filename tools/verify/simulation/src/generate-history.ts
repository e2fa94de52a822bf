import { DAY_MS, type Prices, type Usage } from '@gateway/base';
import { seededRandom, type SeededRandom } from '@gateway/test-support';
import type { IdempotentEnding } from '@gateway/billing-ledger/testing';
import {
  CLAIM_RETENTION_MS,
  LEASE_MS,
  type Call,
  type Fault,
  type Generation,
  type History,
  type Operation,
  type Step,
} from './history';

const ORGANIZATIONS = ['org-a', 'org-b', 'org-c'];
const KEYS = ['key-1', 'key-2'];
const NOON = Date.UTC(2026, 10, 21, 12);
const BEFORE_MIDNIGHT = Date.UTC(2026, 10, 21, 23, 59, 50);
const MAX_LIFETIME_MS = 60_000;
const ENDINGS: readonly (IdempotentEnding | undefined)[] = [
  ...(['answered', 'answered', 'answered', 'failed', 'cancelled', 'unknown'] as const),
  undefined,
];

/** Prices of three versions of a catalogue, all different; the last does not divide evenly. */
const CATALOGUES: readonly Prices[] = [
  prices(1_000_000n, 2_000_000n, 3_000_000n, 4_000_000n, 5_000_000n),
  prices(5_000_000n, 1_000_000n, 2_000_000n, 7_000_000n, 3_000_000n),
  prices(1_500_001n, 250_000n, 2_999_999n, 333_333n, 700_000n),
];

function prices(input: bigint, cached: bigint, output: bigint, reasoning: bigint, image: bigint): Prices {
  return {
    inputNanoUsdPerMillion: input,
    cachedInputNanoUsdPerMillion: cached,
    outputNanoUsdPerMillion: output,
    reasoningNanoUsdPerMillion: reasoning,
    imageNanoUsdPerMillion: image,
  };
}

/** What a history is mostly about: some things happen only when many calls are of one kind. */
interface Theme {
  /** Of a generation being one under an Idempotency-Key, and of that being the first of them. */
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
  // Few, so that what was claimed is also settled.
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

/** The history of a seed: always the same. */
export function generateHistory(seed: number): History {
  const random = seededRandom(seed);
  const theme = random.chance(0.6) ? MONEY : KEYS_IN_FLIGHT;
  const startUnixMs = random.chance(0.4) ? BEFORE_MIDNIGHT : NOON;
  const generations = Array.from({ length: random.integer(3, theme.generations) }, (_, index) =>
    generation(random, theme, seed, index, startUnixMs),
  );
  const steps: Step[] = [creditFirst(random)];
  const asked = new Set<number>();
  const length = random.integer(6, theme.steps);
  while (steps.length < length) steps.push(step({ random, theme, generations, asked }));
  if (theme === KEYS_IN_FLIGHT && random.chance(0.5)) weaveIn(random, steps, takeover(random, generations));
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
  // Requests under an Idempotency-Key are of one caller.
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
    holdPrices,
    eventPrices: eventPrices(random, holdPrices),
    usage: usage(random),
    createdUnixMs: startUnixMs,
    // All different, so that it is known which the reaper takes first.
    lifetimeMs: random.integer(1, MAX_LIFETIME_MS / 100) * 100 + index,
    scope,
    body: random.chance(0.95) ? 1 : 2,
    ending: scope ? random.pick(ENDINGS) : undefined,
  };
}

/** Mostly those of the hold, as it is; in between the catalogue changed, or nobody told. */
function eventPrices(random: SeededRandom, holdPrices: Prices): Prices | undefined {
  if (random.chance(0.1)) return undefined;
  return random.chance(0.6) ? holdPrices : random.pick(CATALOGUES);
}

const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Mostly as the gateway makes them, with the time first; now and then of another form. */
function idOf(seed: number, index: number, unixMs: number): string {
  if (index === 2) return `sim-${seed}-${index}`;
  let time = '';
  for (let rest = unixMs, digit = 0; digit < 10; digit += 1, rest = Math.floor(rest / 32)) {
    time = `${ULID_DIGITS[rest % 32]}${time}`;
  }
  return `gen-${time}${String(seed).padStart(12, '0')}${String(index).padStart(4, '0')}`;
}

function usage(random: SeededRandom): Usage {
  // Few as a rule, so that a hold covers them.
  const most = random.chance(0.6) ? 4 : 12;
  const promptTokens = random.integer(0, most);
  const completionTokens = random.integer(0, most);
  return {
    promptTokens,
    cachedTokens: random.integer(0, promptTokens),
    imageTokens: random.chance(0.2) ? random.integer(0, 4) : 0,
    completionTokens,
    reasoningTokens: random.integer(0, completionTokens),
  };
}

function creditFirst(random: SeededRandom): Step {
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
 * A key whose request fell silent is taken over by its repetition, and both end
 * after all: by chance alone hardly any history gets there.
 */
function takeover(random: SeededRandom, generations: readonly Generation[]): Step[] {
  const keyed = random
    .shuffle([...generations.keys()])
    .filter((index) => generations[index]?.scope !== undefined);
  const [first = 0, ...others] = keyed;
  const isOfOneRequest = (index: number): boolean =>
    generations[index]?.scope === generations[first]?.scope &&
    generations[index]?.body === generations[first]?.body;
  const second = others.find(isOfOneRequest);
  if (second === undefined) return [];
  return [
    alone(random, { kind: 'hold', generations: [first, second] }),
    alone(random, { kind: 'claim', generation: first }),
    { kind: 'time', ms: LEASE_MS + random.integer(1, 500) },
    alone(random, { kind: 'claim', generation: second }),
    ...random
      .shuffle([first, second])
      .map((index) => alone(random, { kind: 'settle', generations: [index] })),
  ];
}

/** Their order stays; where they come among the others is left to chance. */
function weaveIn(random: SeededRandom, steps: Step[], woven: readonly Step[]): void {
  const places = woven.map(() => random.integer(1, steps.length)).sort((left, right) => left - right);
  woven.forEach((each, index) => steps.splice((places[index] ?? 0) + index, 0, each));
}

/** A history on its way. */
interface Draft {
  readonly random: SeededRandom;
  readonly theme: Theme;
  readonly generations: readonly Generation[];
  /** Those that were to be held. */
  readonly asked: Set<number>;
}

function step(draft: Draft): Step {
  const { random, theme } = draft;
  if (random.chance(theme.time)) return { kind: 'time', ms: time(random, theme) };
  if (random.chance(0.04)) return alone(random, { kind: 'trim' });
  if (random.chance(0.08)) return alone(random, { kind: 'reap', limit: random.integer(1, 3) });
  const count = random.chance(0.5) ? 1 : random.integer(2, 3);
  const calls: Call[] = [];
  while (calls.length < count) {
    const operation = randomOperation(draft);
    // Of two reapers at once one does nothing, and which is not told.
    if (operation.kind === 'reap' && calls.some((call) => call.operation.kind === 'reap')) continue;
    calls.push({ ledger: random.pick([1, 2]), operation });
  }
  // One at a time: what is left of a cut connection is waited for before the next step.
  return { kind: 'calls', calls: random.chance(0.4) ? withFault(random, calls) : calls };
}

function alone(random: SeededRandom, operation: Operation): Step {
  return { kind: 'calls', calls: [{ ledger: random.pick([1, 2]), operation }] };
}

function withFault(random: SeededRandom, calls: readonly Call[]): Call[] {
  const broken = random.integer(0, calls.length - 1);
  return calls.map((call, index) =>
    index === broken ? { ...call, fault: faultOf(random, call.operation) } : call,
  );
}

function faultOf(random: SeededRandom, operation: Operation): Fault {
  const kind = random.pick(['lost_answer', 'cut', 'dies_before', 'dies_after'] as const);
  return { kind, statement: operation.kind === 'settle' ? random.integer(1, 6) : 1 };
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

function randomOperation({ random, theme, generations, asked }: Draft): Operation {
  const some = (atMost: number): number[] =>
    random.shuffle([...generations.keys()]).slice(0, random.integer(1, Math.min(atMost, generations.length)));
  /** Mostly of those that were held, or tried to be: settlements of what nobody knows are rare. */
  const someAsked = (atMost: number): number[] => {
    const known = random.chance(0.8) ? random.shuffle([...asked]) : [];
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
      for (const index of held) asked.add(index);
      return { kind, generations: held, ...(random.chance(0.04) ? { thief: true } : {}) };
    }
    case 'settle': {
      const batch = someAsked(4);
      return { kind, generations: random.chance(0.15) ? [...batch, random.pick(batch)] : batch };
    }
    case 'void':
      return { kind, generations: someAsked(2) };
    case 'reap':
      return { kind, limit: 100 };
    case 'claim':
      return { kind, generation: random.pick(keyed) };
    case 'renew':
    case 'release':
      return { kind, generations: random.shuffle(keyed).slice(0, 2) };
    case 'trim':
      return { kind };
  }
}
