import { badRequest, FAULT_STATUSES } from './errors';

/** A fault before the first byte of the response. */
export type EarlyFault =
  | { readonly kind: 'hang' | 'cut' | 'html' | 'redirect' | 'empty' | 'context-length' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds: number | undefined };

/** A fault after `after` content chunks (after half of the body when not streaming). */
interface MidwayFault {
  readonly kind: 'stall' | 'cut' | 'malformed' | 'error-event' | 'end-early';
  readonly after: number;
}

export type UsageFault =
  | { readonly kind: 'none' }
  | { readonly kind: 'fixed'; readonly prompt: number; readonly completion: number };

/** All faults of one call. Faults of different groups can be combined. */
export interface FaultPlan {
  /** The requested fault names, for the statistics. */
  readonly names: string[];
  /** Milliseconds before the first byte. */
  delayMs: number;
  early?: EarlyFault;
  midway?: MidwayFault;
  usage?: UsageFault;
  /** Omit the final `[DONE]`. */
  noDone: boolean;
  crlf: boolean;
  comments: boolean;
  multiLine: boolean;
  byteByByte: boolean;
  /** Bytes of one extra-large content chunk; 0: none. */
  hugeBytes: number;
  /** End with finish_reason `content_filter`. */
  contentFilter: boolean;
  /** The first `times` calls with the same prompt get `fault`; later ones succeed. */
  failFirst?: { readonly times: number; readonly fault: string };
  /** Set by `none`: the global faults do not apply to this call. */
  exempt: boolean;
}

export function noFaults(): FaultPlan {
  return {
    names: [],
    delayMs: 0,
    noDone: false,
    crlf: false,
    comments: false,
    multiLine: false,
    byteByByte: false,
    hugeBytes: 0,
    contentFilter: false,
    exempt: false,
  };
}

const DEFAULT_SLOW_MS = 5_000;
const DEFAULT_AFTER_CHUNKS = 3;
const DEFAULT_HUGE_BYTES = 1_048_576;
/** The longest delay, so that a typo cannot occupy a connection for days. */
export const MAX_DELAY_MS = 3_600_000;
const MAX_HUGE_BYTES = 67_108_864;
const MAX_COUNT = 2_000_000_000;

/** Parses the arguments after a fault's name, one by one; extra ones are an error. */
class Arguments {
  private next = 0;

  constructor(
    private readonly fault: string,
    private readonly values: readonly string[],
  ) {}

  count(fallback: number | undefined, limit = MAX_COUNT): number {
    const value = this.values[this.next++];
    if (value === undefined || value === '') {
      if (fallback === undefined) throw this.wrong('needs a number');
      return fallback;
    }
    const parsed = Number(value);
    if (!/^\d+$/.test(value) || parsed > limit) throw this.wrong(`takes whole numbers up to ${limit}`);
    return parsed;
  }

  optionalCount(): number | undefined {
    return this.values.length > this.next ? this.count(undefined) : undefined;
  }

  rest(fallback: string): string {
    const text = this.values.slice(this.next).join(':');
    this.next = this.values.length;
    return text === '' ? fallback : text;
  }

  end(): void {
    if (this.values.length > this.next) throw this.wrong('has too many arguments');
  }

  wrong(problem: string): Error {
    return badRequest(`Emulator fault '${this.fault}' ${problem}.`, null, 'emulator_bad_directive');
  }
}

type Apply = (plan: FaultPlan, args: Arguments) => void;

const early =
  (kind: 'hang' | 'cut' | 'html' | 'redirect' | 'empty' | 'context-length'): Apply =>
  (plan) => {
    plan.early = { kind };
  };

const midway =
  (kind: MidwayFault['kind']): Apply =>
  (plan, args) => {
    plan.midway = { kind, after: args.count(DEFAULT_AFTER_CHUNKS) };
  };

const FAULTS = new Map<string, Apply>([
  ['none', (plan) => void (plan.exempt = true)],
  ['slow-first-byte', (plan, args) => void (plan.delayMs = args.count(DEFAULT_SLOW_MS, MAX_DELAY_MS))],
  ['hang', early('hang')],
  ['cut-before', early('cut')],
  ['html', early('html')],
  ['redirect', early('redirect')],
  ['empty', early('empty')],
  ['context-length', early('context-length')],
  ...FAULT_STATUSES.map((status): [string, Apply] => [
    String(status),
    (plan, args) => void (plan.early = { kind: 'status', status, retryAfterSeconds: args.optionalCount() }),
  ]),
  ['stall', midway('stall')],
  ['cut-after', midway('cut')],
  ['malformed-chunk', midway('malformed')],
  ['error-event', midway('error-event')],
  ['end-early', midway('end-early')],
  ['no-usage', (plan) => void (plan.usage = { kind: 'none' })],
  [
    'wrong-usage',
    (plan, args) => {
      const prompt = args.count(0);
      plan.usage = { kind: 'fixed', prompt, completion: args.count(0) };
    },
  ],
  ['no-done', (plan) => void (plan.noDone = true)],
  ['crlf', (plan) => void (plan.crlf = true)],
  ['comments', (plan) => void (plan.comments = true)],
  ['multi-line', (plan) => void (plan.multiLine = true)],
  ['byte-by-byte', (plan) => void (plan.byteByByte = true)],
  ['huge-chunk', (plan, args) => void (plan.hugeBytes = args.count(DEFAULT_HUGE_BYTES, MAX_HUGE_BYTES))],
  ['content-filter', (plan) => void (plan.contentFilter = true)],
  [
    'fail-first',
    (plan, args) => {
      const times = args.count(undefined);
      const fault = args.rest('503');
      // Parsed here, so that a typo in the inner fault is rejected at the first call.
      if (fault.startsWith('fail-first')) throw args.wrong('cannot be nested');
      addFault(noFaults(), fault);
      plan.failFirst = { times, fault };
    },
  ],
]);

export const FAULT_NAMES: readonly string[] = [...FAULTS.keys()];

/**
 * Adds one fault, written as `name` or `name:argument:…`, to the plan.
 * Throws a 400 for an unknown name or argument: a test must not pass because of a typo.
 */
export function addFault(plan: FaultPlan, written: string): void {
  const [name = '', ...values] = written.trim().split(':');
  const apply = FAULTS.get(name);
  if (apply === undefined) {
    throw badRequest(
      `Unknown emulator fault '${name}'. Known: ${FAULT_NAMES.join(', ')}.`,
      null,
      'emulator_unknown_directive',
    );
  }
  const args = new Arguments(written, values);
  apply(plan, args);
  args.end();
  if (name !== 'none') plan.names.push(name);
}
