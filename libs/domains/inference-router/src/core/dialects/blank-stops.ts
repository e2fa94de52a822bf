import type { ChoiceDelta, DecodedEvent, EventDecoder, ReadResponse } from './dialect';

/** The stop sequences of a request that vendors refuse: white space and nothing. */
export function isBlankStop(stop: unknown): stop is string {
  return typeof stop === 'string' && stop.trim() === '';
}

export function stopsOf(stop: unknown): readonly unknown[] {
  if (stop === undefined || stop === null) return [];
  return Array.isArray(stop) ? (stop as unknown[]) : [stop];
}

/** Ends the text of a completion before the first of the stop sequences, which were not sent to the vendor. */
class StopCutter {
  private held = '';
  private isCut = false;
  /** The sequence at which the text was cut. */
  private stop = '';

  constructor(private readonly stops: readonly string[]) {}

  cut(choice: ChoiceDelta): ChoiceDelta {
    const isLast = choice.finishReason !== undefined;
    if (this.isCut) return { ...silenced(choice), ...(isLast ? this.ending() : {}) };
    const text = this.held + (choice.content ?? '');
    const found = this.stops
      .filter((stop) => text.includes(stop))
      .sort((one, other) => text.indexOf(one) - text.indexOf(other))[0];
    if (found !== undefined) {
      this.isCut = true;
      this.stop = found;
      const content = text.slice(0, text.indexOf(found));
      return { ...silenced(choice), content, ...(isLast ? this.ending() : {}) };
    }
    // A call ends the text: the rest of a stop sequence cannot follow.
    const keeps = isLast || choice.toolCalls.length > 0 ? 0 : this.startOfStop(text);
    this.held = text.slice(text.length - keeps);
    const sent = text.slice(0, text.length - keeps);
    return { ...choice, content: sent === '' ? (choice.content === null ? null : '') : sent };
  }

  private ending(): Pick<ChoiceDelta, 'finishReason' | 'stopSequence'> {
    return { finishReason: 'stop', stopSequence: this.stop };
  }

  /** The length of the end of the text that may be the start of a stop sequence. */
  private startOfStop(text: string): number {
    const longest = Math.min(text.length, Math.max(...this.stops.map(({ length }) => length)) - 1);
    for (let length = longest; length > 0; length -= 1)
      if (this.stops.some((stop) => stop.startsWith(text.slice(-length)))) return length;
    return 0;
  }
}

function silenced(choice: ChoiceDelta): ChoiceDelta {
  return { ...choice, content: null, refusal: null, toolCalls: [], logprobs: null };
}

export function cuttingDecoder(decoder: EventDecoder, stops: readonly string[]): EventDecoder {
  const cutter = new StopCutter(stops);
  return {
    decode: (data): DecodedEvent => cutChoices(decoder.decode(data), cutter),
    // Text that is copied without decoding is not cut.
    templateOf: () => undefined,
  };
}

export function cutResponse(response: ReadResponse, stops: readonly string[]): ReadResponse {
  return cutChoices(response, new StopCutter(stops));
}

function cutChoices<Read extends { readonly choices: readonly ChoiceDelta[] }>(
  read: Read,
  cutter: StopCutter,
): Read {
  return { ...read, choices: read.choices.map((choice) => cutter.cut(choice)) };
}
