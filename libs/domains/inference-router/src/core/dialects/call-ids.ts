import type { JsonObject } from '../completion/json';
import { toolCallsOf } from './tool-calls';
import { fits, type VendorRules } from './vendor-rules';

/**
 * Renames ids of tool calls that the vendor refuses, and ids that occur twice where they must not. A new id follows from the
 * position of its call, so that it stays the same while the conversation grows. A result gets the id of its call.
 */
export function withFitCallIds(
  messages: readonly JsonObject[],
  rules: Pick<VendorRules, 'callIds' | 'repeatsCallIds'>,
): readonly JsonObject[] {
  const ids = new CallIds(messages, rules);
  return messages.map((message) => ids.renamed(message));
}

class CallIds {
  /** New ids differ from all of these. */
  private readonly clientIds = new Set<string>();
  /** By the client's id, that of the latest call. */
  private readonly latest = new Map<string, string>();
  /** By the client's id, those of the calls of the last turn that have no result yet. */
  private open = new Map<string, string[]>();
  private readonly used = new Set<string>();
  private calls = 0;

  constructor(
    messages: readonly JsonObject[],
    private readonly rules: Pick<VendorRules, 'callIds' | 'repeatsCallIds'>,
  ) {
    for (const message of messages) {
      for (const call of toolCallsOf(message)) this.clientIds.add(String(call['id']));
      if (message['role'] === 'tool') this.clientIds.add(String(message['tool_call_id']));
    }
  }

  renamed(message: JsonObject): JsonObject {
    if (message['role'] === 'tool') {
      const id = String(message['tool_call_id']);
      const renamed = this.idOfResult(id);
      return renamed === id ? message : { ...message, tool_call_id: renamed };
    }
    const calls = toolCallsOf(message);
    if (calls.length === 0) return message;
    this.open = new Map();
    if (this.rules.repeatsCallIds) this.used.clear();
    return { ...message, tool_calls: calls.map((call) => this.renamedCall(call)) };
  }

  private renamedCall(call: JsonObject): JsonObject {
    const id = String(call['id']);
    const renamed = this.isFit(id) && !this.used.has(id) ? id : this.newId();
    this.calls += 1;
    this.used.add(renamed);
    this.latest.set(id, renamed);
    this.open.set(id, [...(this.open.get(id) ?? []), renamed]);
    return renamed === id ? call : { ...call, id: renamed };
  }

  /** Calls of one turn with the same id get their results in order. */
  private idOfResult(id: string): string {
    const known = this.open.get(id)?.shift() ?? this.latest.get(id);
    if (known !== undefined || this.isFit(id)) return known ?? id;
    const renamed = this.newId();
    this.used.add(renamed);
    this.latest.set(id, renamed);
    return renamed;
  }

  private isFit(id: string): boolean {
    return fits(id, this.rules.callIds);
  }

  /** Nine letters and digits, which every vendor accepts. */
  private newId(): string {
    for (let position = this.calls; ; position += 1) {
      const id = `call${String(position).padStart(5, '0')}`;
      if (!this.clientIds.has(id) && !this.used.has(id)) return id;
    }
  }
}
