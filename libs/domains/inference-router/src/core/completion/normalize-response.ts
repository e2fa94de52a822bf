import type {
  ChoiceDelta,
  DecodedEvent,
  EventDecoder,
  ReadResponse,
  ReportedUsage,
  ToolCallDelta,
} from '../dialects/dialect';
import type { FinishReason } from './finish-reason';

/** Arguments of a call without any: clients parse them as JSON. */
const NO_ARGUMENTS = '{}';

/** A completion with one of these may end within a call, whose arguments then stay as they are. */
const CUT: readonly FinishReason[] = ['length', 'content_filter'];

/** What the decoders of all dialects leave to one place. */
export interface NormalizeOptions {
  /** Whether the request contains an id of a call, which the response must not repeat. */
  readonly isIdInRequest: (id: string) => boolean;
  /** Whether the response names the stop sequence that ended it. */
  readonly keepsStopSequence?: boolean | undefined;
}

/**
 * Decodes the events of a stream so that every client can use its tool calls: ids are unique in the conversation, arguments
 * are JSON text, and the finish reason says that there are calls. A later report of usage never lowers a count to zero.
 */
export function normalizedDecoder(decoder: EventDecoder, options: NormalizeOptions): EventDecoder {
  const response = new NormalizedResponse(options);
  return {
    decode: (data) => response.event(withStopSequences(decoder.decode(data), options)),
    templateOf: (data) => decoder.templateOf(data),
  };
}

/** The same for a response that is not streamed. */
export function normalizedResponse(response: ReadResponse, options: NormalizeOptions): ReadResponse {
  const ids = new CallIds(options);
  const read = withStopSequences(response, options);
  return {
    ...read,
    choices: read.choices.map((read) => {
      const choice = withReadableDetail(read, read.reasoning ?? '');
      if (choice.toolCalls.length === 0) return choice;
      const isCut = isCutBy(choice.finishReason);
      return {
        ...choice,
        toolCalls: choice.toolCalls.map((call) => ({
          ...call,
          id: ids.unique(call.id),
          arguments: call.arguments.trim() === '' && !isCut ? NO_ARGUMENTS : call.arguments,
        })),
        finishReason: finishWithCalls(choice.finishReason),
      };
    }),
  };
}

function withStopSequences<Read extends { readonly choices: readonly ChoiceDelta[] }>(
  read: Read,
  { keepsStopSequence }: NormalizeOptions,
): Read {
  if (keepsStopSequence || read.choices.every(({ stopSequence }) => stopSequence === undefined)) return read;
  return { ...read, choices: read.choices.map(({ stopSequence: _, ...choice }) => choice) };
}

class NormalizedResponse {
  private readonly ids: CallIds;
  private readonly byChoice = new Map<number, Calls>();
  private readonly reasoning = new ReadableReasoning();
  private usage: ReportedUsage | undefined;

  constructor(options: NormalizeOptions) {
    this.ids = new CallIds(options);
  }

  event(event: DecodedEvent): DecodedEvent {
    if (event.usage) this.usage = mergedUsage(this.usage, event.usage);
    const usage = event.usage ? { usage: this.usage } : {};
    if (event.done) return { ...event, ...usage, choices: [...this.choices(event.choices), ...this.ended()] };
    const isPlain = ({ toolCalls, reasoning }: ChoiceDelta) => toolCalls.length === 0 && !reasoning;
    if (this.byChoice.size === 0 && this.reasoning.isComplete && event.choices.every(isPlain))
      return event.usage ? { ...event, ...usage } : event;
    return { ...event, ...usage, choices: this.choices(event.choices) };
  }

  private choices(choices: readonly ChoiceDelta[]): readonly ChoiceDelta[] {
    return choices.map((read) => {
      const choice = this.reasoning.of(read);
      const calls = this.callsOf(choice);
      if (!calls) return choice;
      const toolCalls = choice.toolCalls.map((call) => calls.add(call));
      if (choice.finishReason === undefined) return { ...choice, toolCalls };
      const rest = calls.finish(isCutBy(choice.finishReason));
      return {
        ...choice,
        toolCalls: [...toolCalls, ...rest],
        finishReason: finishWithCalls(choice.finishReason),
      };
    });
  }

  /** The rest of completions that end without a finish reason. */
  private ended(): readonly ChoiceDelta[] {
    return [...this.byChoice].flatMap(([index, calls]): ChoiceDelta[] => {
      const toolCalls = calls.finish(false);
      if (toolCalls.length === 0) return [];
      const nothing = { content: null, refusal: null, reasoning: null, logprobs: null };
      return [{ index, ...nothing, toolCalls, finishReason: undefined }];
    });
  }

  /** Undefined for a choice without calls. */
  private callsOf({ index, toolCalls }: ChoiceDelta): Calls | undefined {
    const known = this.byChoice.get(index);
    if (known || toolCalls.length === 0) return known;
    const calls = new Calls(this.ids);
    this.byChoice.set(index, calls);
    return calls;
  }
}

/**
 * Some clients read reasoning only in `reasoning_details`. A text that its provider does not list there is added as a whole,
 * when the reasoning ends.
 */
class ReadableReasoning {
  private readonly unlisted = new Map<number, string>();

  /** Whether no text waits for the end of its reasoning. */
  get isComplete(): boolean {
    return this.unlisted.size === 0;
  }

  of(choice: ChoiceDelta): ChoiceDelta {
    const { index, reasoning, content, toolCalls, finishReason } = choice;
    const text = (this.unlisted.get(index) ?? '') + (reasoning ?? '');
    const hasEnded = Boolean(content) || toolCalls.length > 0 || finishReason !== undefined;
    if (text === '' || hasEnded || isListed(choice)) this.unlisted.delete(index);
    else this.unlisted.set(index, text);
    return hasEnded ? withReadableDetail(choice, text) : choice;
  }
}

function withReadableDetail(choice: ChoiceDelta, text: string): ChoiceDelta {
  if (text === '' || isListed(choice)) return choice;
  return {
    ...choice,
    reasoningDetails: [...(choice.reasoningDetails ?? []), { type: 'reasoning.text', text }],
  };
}

function isListed({ reasoningDetails = [] }: ChoiceDelta): boolean {
  return reasoningDetails.some(({ type }) => type !== 'reasoning.encrypted');
}

/** The calls of one choice of a stream. */
class Calls {
  private readonly byIndex = new Map<number, { arguments: 'none' | 'held' | 'sent' }>();
  private isFinished = false;

  constructor(private readonly ids: CallIds) {}

  add(call: ToolCallDelta): ToolCallDelta {
    const known = this.byIndex.get(call.index);
    const state = known ?? { arguments: 'none' as const };
    if (!known) this.byIndex.set(call.index, state);
    const id = known ? undefined : this.ids.unique(call.id);
    if (state.arguments === 'sent') return { ...call, id };
    const text = call.arguments.trim();
    if (text === '') return { ...call, id, arguments: '' };
    // Some servers send an empty object before the real arguments.
    state.arguments = text === NO_ARGUMENTS ? 'held' : 'sent';
    return { ...call, id, arguments: state.arguments === 'held' ? '' : call.arguments };
  }

  /** The arguments of the calls that have none yet. */
  finish(isCut: boolean): readonly ToolCallDelta[] {
    if (this.isFinished) return [];
    this.isFinished = true;
    const isMissing = ({ arguments: state }: { arguments: string }) =>
      state === 'held' || (state === 'none' && !isCut);
    return [...this.byIndex]
      .filter(([, state]) => isMissing(state))
      .map(([index]) => ({ index, id: undefined, name: undefined, arguments: NO_ARGUMENTS }));
  }
}

/** Some providers count the ids of calls from 0 again in every response. */
class CallIds {
  private readonly seen = new Set<string>();

  constructor(private readonly options: NormalizeOptions) {}

  /** @returns undefined for an id that is not unique: the gateway creates one. */
  unique(id: string | undefined): string | undefined {
    if (id === undefined || this.seen.has(id) || this.options.isIdInRequest(id)) return undefined;
    this.seen.add(id);
    return id;
  }
}

function isCutBy(reason: FinishReason | undefined): boolean {
  return reason !== undefined && CUT.includes(reason);
}

/** Several servers report "stop" after calls. */
function finishWithCalls(reason: FinishReason | undefined): FinishReason {
  return reason === undefined || reason === 'stop' ? 'tool_calls' : reason;
}

function mergedUsage(earlier: ReportedUsage | undefined, later: ReportedUsage): ReportedUsage {
  if (!earlier) return later;
  const names = Object.keys(later) as (keyof ReportedUsage)[];
  const kept = names.filter((name) => !later[name] && earlier[name]);
  if (kept.length === 0) return later;
  return { ...later, ...Object.fromEntries(kept.map((name) => [name, earlier[name]])) };
}
