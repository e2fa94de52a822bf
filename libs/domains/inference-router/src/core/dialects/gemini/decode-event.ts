import { asObject, parseJson, type JsonObject } from '../../completion/json';
import type { ChoiceDelta, DecodedEvent, EventDecoder } from '../dialect';
import { errorOfFinish, readErrorObject } from './classify-error';
import { malformed } from '../failures';
import { finishReasonOf } from './finish-reason';
import { CandidateReader } from './read-candidate';
import { readLogprobs } from './read-logprobs';
import { hasCounts, mergeUsage, readUsage } from './read-usage';

/** Every event is a `GenerateContentResponse`. The stream ends with its connection, without `[DONE]`. */
export function createDecoder(n: number): EventDecoder {
  const decoder = new ResponseDecoder(n);
  return {
    decode(data) {
      const event = parseJson(data);
      if (typeof event !== 'object' || event === null) throw malformed('an event that is not JSON');
      return decoder.decode(event);
    },
    // Nearly every event has its own token counts.
    templateOf: () => undefined,
  };
}

/** Decodes the responses of one stream, or a single response. */
export class ResponseDecoder {
  private readonly readers = new Map<number, CandidateReader>();
  /** Every count that was reported so far. */
  private reportedUsage: JsonObject = {};

  constructor(private readonly n: number) {}

  /**
   * A block of the prompt finishes every completion with `content_filter`, like a block of the output.
   *
   * @throws UpstreamFailure
   */
  decode(event: object): DecodedEvent {
    const error = readErrorObject(event);
    if (error) return { choices: [], error };
    const response = asObject(event);
    if (!response) throw malformed('an event that is not an object');
    const reported = this.readUsage(asObject(response['usageMetadata']));
    const candidates = response['candidates'];
    if (!Array.isArray(candidates) || candidates.length === 0) {
      return { ...reported, choices: this.blockedChoices(response['promptFeedback']) };
    }
    const choices: ChoiceDelta[] = [];
    for (const [position, value] of (candidates as unknown[]).entries()) {
      const candidate = asObject(value);
      if (!candidate) throw malformed('a candidate that is not an object');
      const index = indexOf(candidate, position);
      if (index >= this.n) continue;
      const read = this.readCandidate(candidate, index);
      if ('failedWith' in read) {
        return {
          ...reported,
          choices: [],
          error: errorOfFinish(read.failedWith, candidate['finishMessage']),
        };
      }
      choices.push(read);
    }
    return { ...reported, choices };
  }

  private readUsage(block: JsonObject | undefined): Pick<DecodedEvent, 'usage'> {
    if (!block || !hasCounts(block)) return {};
    this.reportedUsage = mergeUsage(this.reportedUsage, block);
    const usage = readUsage(this.reportedUsage);
    return usage === undefined ? {} : { usage };
  }

  private readCandidate(candidate: JsonObject, index: number): ChoiceDelta | { readonly failedWith: string } {
    const reader = this.readerOf(index);
    const isLast = finishReasonOf(candidate['finishReason'], false) !== undefined;
    const content = reader.read(asObject(candidate['content'])?.['parts'], isLast);
    const finishReason = finishReasonOf(candidate['finishReason'], reader.hasToolCalls);
    if (typeof finishReason === 'object') return finishReason;
    return { index, ...content, logprobs: readLogprobs(candidate['logprobsResult']), finishReason };
  }

  private readerOf(index: number): CandidateReader {
    const known = this.readers.get(index);
    if (known) return known;
    const reader = new CandidateReader();
    this.readers.set(index, reader);
    return reader;
  }

  private blockedChoices(promptFeedback: unknown): ChoiceDelta[] {
    const reason = asObject(promptFeedback)?.['blockReason'];
    if (typeof reason !== 'string' || reason === 'BLOCKED_REASON_UNSPECIFIED') return [];
    return Array.from({ length: this.n }, (_, index) => ({
      index,
      content: null,
      refusal: null,
      reasoning: null,
      toolCalls: [],
      logprobs: null,
      finishReason: 'content_filter',
    }));
  }
}

/** Protobuf's JSON omits the index 0. */
function indexOf(candidate: JsonObject, position: number): number {
  const index = candidate['index'] ?? position;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) {
    throw malformed('a candidate with a wrong index');
  }
  return index;
}
