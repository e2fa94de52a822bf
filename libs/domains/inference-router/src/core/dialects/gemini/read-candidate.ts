import { asObject, nonEmptyText, type JsonObject } from '../../completion/json';
import type { ChoiceDelta, ReasoningDetail, ToolCallDelta } from '../dialect';
import { malformed } from '../failures';
import { PartialArguments } from './partial-arguments';
import { renderTextSignature } from './text-signature';

type Content = Omit<ChoiceDelta, 'index' | 'logprobs' | 'finishReason'>;

/** The parts of one event, as they are collected. */
interface Collected {
  content: string | null;
  reasoning: string | null;
  readonly details: ReasoningDetail[];
  readonly toolCalls: ToolCallDelta[];
}

/** Reads the parts of one candidate, event by event. */
export class CandidateReader {
  private contentLength = 0;
  private details = 0;
  private toolCalls = 0;
  /** The arguments of a streamed function call that is not complete. */
  private open: PartialArguments | undefined;

  get hasToolCalls(): boolean {
    return this.toolCalls > 0;
  }

  /**
   * @param isLast the candidate has a finish reason: a function call that is still open ends.
   * @throws UpstreamFailure for a part that is unreadable. Parts that only add media or code are skipped.
   */
  read(parts: unknown, isLast: boolean): Content {
    const collected: Collected = { content: null, reasoning: null, details: [], toolCalls: [] };
    for (const value of Array.isArray(parts) ? (parts as unknown[]) : []) {
      const part = asObject(value);
      if (!part) throw malformed('a part that is not an object');
      this.readPart(part, collected);
    }
    if (isLast) this.closeCall(collected);
    const { content, reasoning, details, toolCalls } = collected;
    return {
      content,
      refusal: null,
      reasoning,
      ...(details.length === 0 ? {} : { reasoningDetails: details }),
      toolCalls,
    };
  }

  private readPart(part: JsonObject, collected: Collected): void {
    const signature = nonEmptyText(part['thoughtSignature']);
    if (part['functionCall'] !== undefined) {
      this.readCall(asObject(part['functionCall']), signature, collected);
      return;
    }
    const text = part['text'];
    if (text !== undefined && typeof text !== 'string') throw malformed('text of another type');
    if (text === undefined && signature === undefined) return;
    if (part['thought'] === true) this.readThought(text ?? '', signature, collected);
    else this.readText(text ?? '', signature, collected);
  }

  private readThought(text: string, signature: string | undefined, collected: Collected): void {
    collected.reasoning = (collected.reasoning ?? '') + text;
    if (signature === undefined) return;
    collected.details.push({ type: 'reasoning.text', index: this.details++, text, signature });
  }

  private readText(text: string, signature: string | undefined, collected: Collected): void {
    const start = this.contentLength;
    collected.content = (collected.content ?? '') + text;
    this.contentLength += text.length;
    if (signature === undefined) return;
    const data = renderTextSignature({ start, length: text.length, signature });
    collected.details.push({ type: 'reasoning.encrypted', index: this.details++, data });
  }

  private readCall(call: JsonObject | undefined, signature: string | undefined, collected: Collected): void {
    if (!call) throw malformed('a function call that is not an object');
    const name = nonEmptyText(call['name']);
    const continues = call['willContinue'] === true;
    if (name !== undefined) {
      this.closeCall(collected);
      const isPartial = continues || call['partialArgs'] !== undefined;
      if (isPartial) this.open = new PartialArguments();
      collected.toolCalls.push({
        index: this.toolCalls++,
        id: nonEmptyText(call['id']),
        name,
        arguments: isPartial ? '' : JSON.stringify(asObject(call['args']) ?? {}),
        ...(signature === undefined ? {} : { extraContent: { google: { thought_signature: signature } } }),
      });
    } else if (!this.open) {
      throw malformed('a function call without a name');
    }
    const added = call['partialArgs'];
    for (const argument of Array.isArray(added) ? (added as unknown[]) : []) this.open?.add(argument);
    if (!continues) this.closeCall(collected);
  }

  private closeCall(collected: Collected): void {
    if (!this.open) return;
    const index = this.toolCalls - 1;
    collected.toolCalls.push({ index, id: undefined, name: undefined, arguments: this.open.toJson() });
    this.open = undefined;
  }
}
