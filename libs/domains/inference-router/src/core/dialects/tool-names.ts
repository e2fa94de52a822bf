import { asObject, type JsonObject } from '../completion/json';
import { calledNameOf, nameIn, toolCallsOf } from './tool-calls';
import { fits, type TextRule } from './vendor-rules';

/** Before the hash: with it, a name has at most 57 characters. */
const MAX_READABLE_LENGTH = 48;
const HASHED = /_[0-9a-f]{8}$/;

/**
 * The names of the tools of one request, as its vendor accepts them. A name that does not fit is cleaned and gets a hash,
 * so that it stays the same in every request.
 */
export class ToolNames {
  private readonly sent = new Map<string, string>();
  private readonly received = new Map<string, string>();

  constructor(body: JsonObject, rule: TextRule) {
    const names = new Set(namesIn(body));
    for (const name of names) {
      if (fits(name, rule)) continue;
      const readable = readableOf(name);
      let renamed = readable + hashOf(name);
      for (let salt = 1; names.has(renamed) || this.received.has(renamed); salt += 1)
        renamed = readable + hashOf(`${name}\u0000${salt}`);
      this.sent.set(name, renamed);
      this.received.set(renamed, name);
    }
  }

  get isEmpty(): boolean {
    return this.sent.size === 0;
  }

  /** The client's name of a tool that the model calls. */
  publicName(name: string): string {
    return this.received.get(name) ?? name;
  }

  /** Renames tools in the definitions, the choice and the history. */
  renamed(body: JsonObject): JsonObject {
    if (this.isEmpty) return body;
    const { messages, tools, tool_choice: choice } = body;
    return {
      ...body,
      messages: (messages as readonly JsonObject[]).map((message) => this.renamedCalls(message)),
      ...(Array.isArray(tools) ? { tools: tools.map((tool: unknown) => this.renamedFunction(tool)) } : {}),
      ...(asObject(choice) ? { tool_choice: this.renamedChoice(choice) } : {}),
    };
  }

  private renamedCalls(message: JsonObject): JsonObject {
    const calls = toolCallsOf(message);
    if (calls.length === 0) return message;
    return { ...message, tool_calls: calls.map((call) => this.renamedFunction(call)) };
  }

  private renamedChoice(choice: unknown): unknown {
    const allowed = asObject(asObject(choice)?.['allowed_tools']);
    if (!allowed) return this.renamedFunction(choice);
    const tools = listIn(allowed).map((tool) => this.renamedFunction(tool));
    return { ...asObject(choice), allowed_tools: { ...allowed, tools } };
  }

  /** @param holder a tool, a call or a choice. */
  private renamedFunction(holder: unknown): unknown {
    const called = asObject(asObject(holder)?.['function']);
    const renamed = this.sent.get(nameIn(called) ?? '');
    return renamed === undefined ? holder : { ...asObject(holder), function: { ...called, name: renamed } };
  }
}

/** Whether a name may be one of ours. */
export function isHashedName(name: string): boolean {
  return HASHED.test(name);
}

function* namesIn(body: JsonObject): Generator<string> {
  const choice = asObject(body['tool_choice']);
  const choices = [choice, ...listIn(asObject(choice?.['allowed_tools']))];
  for (const tool of [...listIn(body), ...choices]) {
    const name = nameIn(asObject(tool)?.['function']);
    if (name !== undefined) yield name;
  }
  for (const message of body['messages'] as readonly JsonObject[])
    for (const call of toolCallsOf(message)) yield calledNameOf(call) ?? '';
}

function listIn(holder: JsonObject | undefined): readonly unknown[] {
  const tools = holder?.['tools'];
  return Array.isArray(tools) ? (tools as unknown[]) : [];
}

/** Begins as Gemini requires. */
function readableOf(name: string): string {
  const cleaned = name.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?![a-zA-Z_])/, '_');
  return `${cleaned.slice(0, MAX_READABLE_LENGTH)}_`;
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
