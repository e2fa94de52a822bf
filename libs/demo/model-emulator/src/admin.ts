import type { IncomingMessage } from 'node:http';
import type { ScriptedCall } from './completion';
import { badRequest, ProviderError } from './errors';
import { addFault, FAULT_NAMES, noFaults, type FaultPlan } from './faults';
import { isObject } from './json-schema';
import { createRandom, hashText, pick, type Random } from './random';
import type { ChatRequest } from './request';
import { Statistics, type SeenRequest } from './stats';

/** The default number of requests that `GET /_emulator/requests` returns; the oldest are dropped. */
const MAX_SEEN_REQUESTS = 200;
/** Prompts whose attempts `fail-first` counts; the oldest are dropped. */
const MAX_FAIL_FIRST_PROMPTS = 10_000;
const DEFAULT_FAULT_SEED = 1;
/** Headers with an API key. */
const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'x-goog-api-key']);

export interface GlobalFaults {
  /** The share of calls that get a fault, 0 to 1. */
  readonly rate: number;
  /** Faults in the form of a directive: `503`, `cut-after:5`. */
  readonly kinds: readonly string[];
  /** The seed of the random sequence; default 1. */
  readonly seed?: number;
}

/** The state behind the admin endpoints: statistics, recent requests and global faults. */
export class Admin {
  readonly statistics = new Statistics();
  private seen: SeenRequest[] = [];
  private sequence = 0;
  private faults: GlobalFaults = { rate: 0, kinds: [] };
  private random: Random = createRandom(DEFAULT_FAULT_SEED);
  private readonly attempts = new Map<string, number>();
  private script: (readonly ScriptedCall[])[] = [];

  constructor(private readonly maxSeen = MAX_SEEN_REQUESTS) {}

  seenRequests(): readonly SeenRequest[] {
    return this.seen.slice(-this.maxSeen);
  }

  /** Starts the record of a request; the caller completes it. */
  record(request: IncomingMessage): SeenRequest {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      headers[name] = KEY_HEADERS.has(name) ? `…${String(value).slice(-4)}` : String(value);
    }
    const entry: SeenRequest = {
      sequence: ++this.sequence,
      received_at: new Date().toISOString(),
      headers,
      body: '',
      faults: [],
      usage: null,
      status: null,
      outcome: 'in_flight',
    };
    this.seen.push(entry);
    // Trimmed in bulk: copying the list for every request would cost more than the request.
    if (this.seen.length >= this.maxSeen * 2) this.seen = this.seen.slice(-this.maxSeen);
    return entry;
  }

  /** Sets the faults of calls that name none. Throws a 400 for unknown faults and arguments. */
  setFaults(faults: GlobalFaults): void {
    if (!(faults.rate >= 0 && faults.rate <= 1)) throw badRequest("'rate' must be between 0 and 1.", 'rate');
    if (faults.rate > 0 && faults.kinds.length === 0) throw badRequest("'kinds' must name a fault.", 'kinds');
    for (const kind of faults.kinds) addFault(noFaults(), kind);
    this.faults = faults;
    this.random = createRandom(faults.seed ?? DEFAULT_FAULT_SEED);
  }

  /** The faults of one call: its own, else a global one at the configured rate. Resolves `fail-first`. */
  decideFaults(request: ChatRequest): FaultPlan {
    const plan = request.directives.faults;
    if (plan.failFirst !== undefined && this.countAttempt(request) <= plan.failFirst.times) {
      addFault(plan, plan.failFirst.fault);
    }
    const { rate, kinds } = this.faults;
    if (rate > 0 && !plan.exempt && plan.names.length === 0 && this.random() < rate) {
      addFault(plan, pick(this.random, kinds));
    }
    return plan;
  }

  setScript(turns: readonly (readonly ScriptedCall[])[]): void {
    this.script = [...turns];
  }

  /** The calls of the next turn of the script, if the request has their tools. */
  nextCalls({ tools }: ChatRequest): readonly ScriptedCall[] | undefined {
    const [next] = this.script;
    const fits = next?.every((call) => tools.some(({ name }) => name === call.name));
    return fits ? this.script.shift() : undefined;
  }

  /** The attempt number of this prompt and model. */
  private countAttempt(request: ChatRequest): number {
    let hash = hashText(request.modelName);
    for (const part of request.prompt.parts) hash = hashText(part.text, hash);
    const key = `${hash}:${request.prompt.lastUserText.slice(0, 200)}`;
    const attempt = (this.attempts.get(key) ?? 0) + 1;
    this.attempts.delete(key);
    this.attempts.set(key, attempt);
    for (const oldest of this.attempts.keys()) {
      if (this.attempts.size <= MAX_FAIL_FIRST_PROMPTS) break;
      this.attempts.delete(oldest);
    }
    return attempt;
  }

  reset(): void {
    this.statistics.reset();
    this.seen = [];
    this.attempts.clear();
    this.script = [];
    this.setFaults({ rate: 0, kinds: [] });
  }

  /** Handles one `/_emulator` request; `path` is the part after the prefix. Throws `ProviderError` for unknown paths. */
  handle(method: string, path: string, body: string | undefined, resetAll: () => void): unknown {
    switch (`${method} ${path}`) {
      case 'GET /stats':
        return this.statistics.snapshot();
      case 'GET /requests':
        return { data: this.seenRequests() };
      case 'GET /faults':
        return { ...this.faults, known: FAULT_NAMES };
      case 'POST /faults':
        this.setFaults(readFaults(body));
        return this.faults;
      case 'POST /reset':
        resetAll();
        return this.statistics.snapshot();
      default:
        throw new ProviderError({
          status: 404,
          message: 'Known: GET stats, requests, faults; POST faults, reset.',
        });
    }
  }
}

function readFaults(body: string | undefined): GlobalFaults {
  let value: unknown;
  try {
    value = JSON.parse(body ?? '');
  } catch {
    throw badRequest('The body is not JSON.');
  }
  if (!isObject(value)) throw badRequest('The body must be an object: {rate, kinds, seed}.');
  const { rate, kinds, seed, ...rest } = value;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) throw badRequest(`Unknown field '${unknown}'.`, unknown);
  if (typeof rate !== 'number') throw badRequest("'rate' must be a number.", 'rate');
  const list: unknown[] = Array.isArray(kinds) ? kinds : [];
  if (!list.every((kind) => typeof kind === 'string')) throw badRequest("'kinds' must be strings.", 'kinds');
  return {
    rate,
    kinds: list.filter((kind): kind is string => typeof kind === 'string'),
    ...(typeof seed === 'number' ? { seed } : {}),
  };
}
