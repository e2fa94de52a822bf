/** What the playground asks, in the terms of the public API. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  /** Of a user's message: a data: URI. */
  readonly image?: string;
}

export interface PlaygroundRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  /** Empty: as much as the model and the limits allow. */
  readonly maxTokens: string;
  /** JSON of a list of tools; empty: none. */
  readonly tools: string;
  readonly stream: boolean;
}

export type RequestBody = Readonly<Record<string, unknown>>;

/** The body of the chat completion; tools that are no JSON are left out, and the form says so. */
export function bodyOf(request: PlaygroundRequest): RequestBody {
  const tools = toolsIn(request.tools);
  const system = request.system.trim();
  return {
    model: request.model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...request.messages.map(messageOf),
    ],
    ...(request.maxTokens.trim() === '' ? {} : { max_tokens: Number(request.maxTokens) }),
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

/** The list, an empty one of nothing, or undefined of what is no list in JSON. */
export function toolsIn(text: string): readonly unknown[] | undefined {
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
        description: 'The weather of a place now.',
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
