/** A message of a chat completion request. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  /** An image in a user's message, as a data: URI. */
  readonly image?: string;
}

export interface PlaygroundRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  /** Empty: the maximum of the model and the limits. */
  readonly maxTokens: string;
  /** A JSON array of tools; empty: none. */
  readonly tools: string;
  readonly stream: boolean;
}

export type RequestBody = Readonly<Record<string, unknown>>;

/** Whether this is a number of tokens, and not empty or a typing error. */
const isMaxTokens = (text: string) => /^[1-9]\d{0,8}$/.test(text.trim());

/** Why a request cannot be sent, by field. */
export function issuesOf({ maxTokens, tools }: Pick<PlaygroundRequest, 'maxTokens' | 'tools'>) {
  return {
    maxTokens:
      maxTokens.trim() === '' || isMaxTokens(maxTokens) ? undefined : 'Enter a whole number of at least 1.',
    tools: parseTools(tools) === undefined ? 'Enter a JSON array.' : undefined,
  };
}

/** The body of the request. Invalid values are omitted; the form shows an error, and the request is not sent. */
export function bodyOf(request: PlaygroundRequest): RequestBody {
  const tools = parseTools(request.tools);
  const system = request.system.trim();
  return {
    model: request.model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...request.messages.map(messageOf),
    ],
    ...(isMaxTokens(request.maxTokens) ? { max_tokens: Number(request.maxTokens) } : {}),
    ...(tools && tools.length > 0 ? { tools } : {}),
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

function messageOf({ role, text, image }: Message) {
  if (image === undefined) return { role, content: text };
  return {
    role,
    content: [
      { type: 'text', text },
      { type: 'image_url', image_url: { url: image } },
    ],
  };
}

/** Parses tools; undefined for anything but a JSON array, empty for empty input. */
export function parseTools(text: string): readonly unknown[] | undefined {
  if (text.trim() === '') return [];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

export const EXAMPLE_TOOLS = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'Get the current weather of a place.',
        parameters: {
          type: 'object',
          properties: { place: { type: 'string' } },
          required: ['place'],
        },
      },
    },
  ],
  null,
  2,
);
