import { badRequest } from './errors';
import { addFault, MAX_DELAY_MS, noFaults, type FaultPlan } from './faults';

/** Instructions for one call that are not part of the OpenAI request. */
export interface Directives {
  readonly faults: FaultPlan;
  /** Exactly this many tokens of content. */
  tokens?: number;
  /** Tokens per second; 0: as fast as possible. */
  rate?: number;
  /** Milliseconds before the first byte. */
  delayMs?: number;
  /** The exact text of the response. */
  say?: string;
  /** Reasoning tokens. */
  reasoning?: number;
  /** The number of parallel tool calls; 0: respond with text. */
  calls?: number;
}

/** `[[name]]` or `[[name:argument]]`; text such as `[[1, 2]]` or `[[ -f file ]]` does not match. */
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
 * Collects the directives of one call from its three sources: the model name, the
 * `x-emulator-fault` header (fault names only, separated by commas) and the last user message.
 * For the same directive, the later source wins.
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

/** The message without its directives. */
export function withoutDirectives(text: string): string {
  return text.includes('[[') ? text.replace(IN_TEXT, ' ').trim() : text;
}
