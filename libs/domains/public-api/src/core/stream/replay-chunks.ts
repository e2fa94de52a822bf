/** The properties of a stored chat.completion that are replayed. */
interface StoredCompletion {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint?: string;
  readonly choices: readonly StoredChoice[];
  readonly usage?: unknown;
}

interface StoredChoice {
  readonly index: number;
  readonly message: Readonly<Record<string, unknown>> & { readonly tool_calls?: readonly object[] };
  readonly logprobs?: unknown;
  readonly finish_reason: string;
}

/**
 * Converts a stored chat.completion to the events of a stream: the same id and
 * content in three chunks per choice, for the role, the content and the end.
 *
 * @param completionJson a chat.completion object, as returned by this gateway.
 * @returns complete server-sent events, without the final [DONE].
 */
export function replayChunks(completionJson: Uint8Array, includeUsage: boolean): string {
  const stored = JSON.parse(Buffer.from(completionJson).toString('utf8')) as StoredCompletion;
  const head = {
    id: stored.id,
    object: 'chat.completion.chunk',
    created: stored.created,
    model: stored.model,
    // Omitted by JSON.stringify when undefined.
    system_fingerprint: stored.system_fingerprint,
  };
  // With include_usage, every chunk except the last has "usage": null.
  const usageOfChunk = includeUsage ? { usage: null } : {};
  const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;

  const events = stored.choices.flatMap(({ index, message, logprobs, finish_reason }) => {
    const { role = 'assistant', tool_calls, refusal, ...content } = message;
    const deltas = [
      { delta: { role, content: '' }, logprobs: null, finish_reason: null },
      {
        delta: {
          ...content,
          ...(refusal === null || refusal === undefined ? {} : { refusal }),
          ...(tool_calls ? { tool_calls: tool_calls.map((call, at) => ({ index: at, ...call })) } : {}),
        },
        logprobs: logprobs ?? null,
        finish_reason: null,
      },
      { delta: {}, logprobs: null, finish_reason },
    ];
    return deltas.map((choice) => event({ ...head, choices: [{ index, ...choice }], ...usageOfChunk }));
  });
  if (includeUsage) events.push(event({ ...head, choices: [], usage: stored.usage ?? null }));
  return events.join('');
}
