import { badRequest } from './errors';
import { addFault, MAX_DELAY_MS, noFaults, type FaultPlan } from './faults';

/** What a caller can ask of one call, beside the OpenAI request itself. */
export interface Directives {
  readonly faults: FaultPlan;
  /** Exactly this many tokens of content. */
  tokens?: number;
  /** Tokens per second; 0: as fast as possible. */
  rate?: number;
  /** Milliseconds before the first byte. */
  delayMs?: number;
  /** The answer, word for word. */
  say?: string;
  /** Reasoning tokens. */
  reasoning?: number;
  /** How many tools to call at once; 0: answer with text. */
  calls?: number;
}

/** `[[name]]` or `[[name:argument]]`; text such as `[[1, 2]]` or `[[ -f file ]]` is left alone. */
const IN_TEXT = /\[\[([a-z][a-z-]*)(?::([^\]]*))?\]\]/g;
const MAX_TOKENS = 1_000_000;
const MAX_RATE = 1_000_000;
const MAX_CALLS = 128;

function wholeNumber(name: string, value: string, limit: number): number {
  if (!/^\d+$/.test(value) || Number(value) > limit) {
    throw badRequest(
      `Emulator directive '${name}' takes a whole number up to ${limit}, not '${value}'.`,
      null,
      'emulator_bad_directive',
    );
  }
  return Number(value);
}

function apply(directives: Directives, name: string, value: string): void {
  switch (name) {
    case 'fault':
      addFault(directives.faults, value);
      return;
    case 'tokens':
      directives.tokens = wholeNumber(name, value, MAX_TOKENS);
      return;
    case 'rate':
      directives.rate = wholeNumber(name, value, MAX_RATE);
      return;
    case 'delay':
      directives.delayMs = wholeNumber(name, value, MAX_DELAY_MS);
      return;
    case 'say':
      directives.say = value;
      return;
    case 'reasoning':
      directives.reasoning = wholeNumber(name, value, MAX_TOKENS);
      return;
    case 'calls':
      directives.calls = wholeNumber(name, value, MAX_CALLS);
      return;
    default:
      throw badRequest(
        `Unknown emulator directive '${name}'. Known: fault, tokens, rate, delay, say, reasoning, calls.`,
        null,
        'emulator_unknown_directive',
      );
  }
}

/** Splits `emu-small+fault:503+rate:20` into the model's id and its directives. */
export function splitModelName(written: string): { id: string; directives: readonly string[] } {
  const [id = '', ...directives] = written.split('+');
  return { id, directives };
}

/**
 * Collects the directives of one call from its three places: the model name, the
 * `x-emulator-fault` header (fault names only, separated by commas) and the last user message.
 * The later place wins where both speak of the same thing.
 */
export function readDirectives(sources: {
  readonly modelSuffixes: readonly string[];
  readonly faultHeader: string | undefined;
  readonly lastUserText: string;
}): Directives {
  const directives: Directives = { faults: noFaults() };
  for (const suffix of sources.modelSuffixes) {
    const colon = suffix.indexOf(':');
    apply(directives, colon < 0 ? suffix : suffix.slice(0, colon), colon < 0 ? '' : suffix.slice(colon + 1));
  }
  if (sources.faultHeader !== undefined) {
    for (const fault of sources.faultHeader.split(',')) addFault(directives.faults, fault);
  }
  if (sources.lastUserText.includes('[[')) {
    for (const [, name = '', value = ''] of sources.lastUserText.matchAll(IN_TEXT)) {
      apply(directives, name, value);
    }
  }
  return directives;
}

/** The text a person meant: the message without its directives. */
export function withoutDirectives(text: string): string {
  return text.includes('[[') ? text.replace(IN_TEXT, ' ').trim() : text;
}
