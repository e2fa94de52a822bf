import { noHeader } from '../../../testing/assemble';
import { extractUsage, findProvider } from '@pydantic/genai-prices';
import { asObject, parseJson, type JsonObject } from '../../completion/json';
import { SseParser } from '../../framing/sse-parser';
import { recordingsOf, type Recording } from '../../../testing/recordings/recordings';
import type { ChoiceDelta, DecodedEvent } from '../dialect';
import { gemini } from './index';

const recordings = recordingsOf('gemini');
const successful = recordings.filter(({ status }) => status === 200);
const streams = successful.filter(({ isStream }) => isStream);
const responses = successful.filter(({ isStream }) => !isStream);

/** Runs the test for each recording. */
function forEach(of: readonly Recording[], name: string, run: (recording: Recording) => void) {
  it(name, () => {
    expect(of).not.toEqual([]);
    for (const recording of of) {
      try {
        run(recording);
      } catch (error) {
        throw new Error(`${recording.name}: ${String(error)}`, { cause: error });
      }
    }
  });
}

function eventsOf(fragments: readonly Uint8Array[]): string[] {
  const parser = new SseParser();
  return [...fragments.flatMap((fragment) => parser.push(fragment)), ...parser.end()];
}

function decodeAll(events: readonly string[]): DecodedEvent[] {
  const decoder = gemini.createDecoder(1);
  return events.map((event) => decoder.decode(event));
}

/** The completion of a recording, its usage, and the response with the last usage. */
function completionOf({ isStream, body, bytes }: Recording) {
  const raw = isStream
    ? eventsOf([bytes]).map((event) => asObject(parseJson(event)) as JsonObject)
    : [asObject(parseJson(body)) as JsonObject];
  const decoded = isStream ? decodeAll(eventsOf([bytes])) : [gemini.readResponse(raw[0] as JsonObject, 1)];
  const deltas = decoded.flatMap(({ choices }) => choices);
  return {
    raw,
    deltas,
    text: joined(deltas.map(({ content }) => content)),
    reasoning: joined(deltas.map(({ reasoning }) => reasoning)),
    calls: callsOf(deltas),
    finish: deltas.at(-1)?.finishReason,
    usage: decoded
      .map(({ usage }) => usage)
      .filter((usage) => usage !== undefined)
      .at(-1),
    errors: decoded.map(({ error }) => error).filter((error) => error !== undefined),
  };
}

function joined(texts: readonly (string | null)[]): string {
  return texts.map((text) => text ?? '').join('');
}

function callsOf(deltas: readonly ChoiceDelta[]) {
  const calls: { name: string | undefined; arguments: string; signature: unknown }[] = [];
  for (const call of deltas.flatMap(({ toolCalls }) => toolCalls)) {
    const known = calls[call.index as number];
    if (known) known.arguments += call.arguments;
    else calls.push({ name: call.name, arguments: call.arguments, signature: call.extraContent?.['google'] });
  }
  return calls;
}

/** The parts of all candidates, as recorded. */
function partsOf(raw: readonly JsonObject[]): JsonObject[] {
  return raw.flatMap(({ candidates }) =>
    ((candidates ?? []) as { content?: { parts?: JsonObject[] } }[]).flatMap(
      ({ content }) => content?.parts ?? [],
    ),
  );
}

describe('recorded responses of Gemini', () => {
  forEach(streams, 'have the same deltas when they are cut at any byte', ({ body, bytes }) => {
    const whole = eventsOf([bytes]);
    const blocks = body.split('\r\n\r\n').filter((block) => block !== '');
    expect(whole).toHaveLength(blocks.length);
    for (const [index, block] of blocks.entries()) {
      const event = Buffer.from(`${block}\r\n\r\n`);
      for (let cut = 1; cut < event.length; cut += 1) {
        const events = eventsOf([event.subarray(0, cut), event.subarray(cut)]);
        if (events.length !== 1 || events[0] !== whole[index]) {
          throw new Error(`another event ${index} when cut at ${cut}`);
        }
      }
    }
    const single = eventsOf(Array.from(bytes, (byte) => Uint8Array.of(byte)));
    expect(decodeAll(single)).toEqual(decodeAll(whole));
  });

  forEach(successful, 'finish, with all text, all calls and all signatures', (recording) => {
    const { raw, deltas, text, reasoning, calls, finish, errors } = completionOf(recording);
    const parts = partsOf(raw);
    const isThought = (part: JsonObject) => part['thought'] === true;
    const textOf = (of: readonly JsonObject[]) => of.map((part) => part['text'] ?? '').join('');
    expect(errors).toEqual([]);
    expect(text).toBe(textOf(parts.filter((part) => !isThought(part))));
    expect(reasoning).toBe(textOf(parts.filter(isThought)));
    const named = parts
      .map((part) => asObject(part['functionCall']))
      .filter((call) => call?.['name'] !== undefined);
    expect(calls.map(({ name }) => name)).toEqual(named.map((call) => call?.['name']));
    for (const [index, call] of calls.entries()) {
      const args: unknown = JSON.parse(call.arguments);
      if (named[index]?.['args'] !== undefined) expect(args).toEqual(named[index]['args']);
    }
    const signatures = parts
      .map((part) => part['thoughtSignature'])
      .filter((signature) => signature !== undefined);
    const written = JSON.stringify(deltas);
    for (const signature of signatures) expect(written).toContain(signature);
    expect(finish).toBe(calls.length > 0 ? 'tool_calls' : finish);
    expect(['stop', 'length', 'tool_calls', 'content_filter']).toContain(finish);
  });

  forEach(successful, 'have the usage that @pydantic/genai-prices extracts', (recording) => {
    const { raw, usage } = completionOf(recording);
    const last = raw.findLast(
      (response) => asObject(response['usageMetadata'])?.['promptTokenCount'] !== undefined,
    );
    if (!last) {
      // A prompt that Model Armor blocked has no counts.
      expect(usage).toBeUndefined();
      return;
    }
    const google = findProvider({ providerId: 'google' });
    if (!google) throw new Error('the oracle does not know Google');
    const oracle = extractUsage(google, last).usage as Readonly<Record<string, number>>;
    expect({
      prompt: usage?.promptTokens,
      cached: usage?.cachedTokens,
      completion: usage?.completionTokens,
      reasoning: usage?.reasoningTokens,
      images: usage?.imageTokens,
    }).toEqual({
      prompt: oracle['input_tokens'],
      cached: oracle['cache_read_tokens'] ?? 0,
      // Gemini omits counts of zero.
      completion: oracle['output_tokens'] ?? 0,
      reasoning: oracle['output_reasoning_tokens'] ?? 0,
      images: oracle['input_image_tokens'] ?? 0,
    });
  });

  forEach(responses, 'have one completion each', ({ body }) => {
    expect(gemini.readResponse(asObject(parseJson(body)) as JsonObject, 1).choices).toHaveLength(1);
  });

  const failed = recordings.filter(({ status }) => status !== 200);
  forEach(failed, 'that failed are classified', ({ body, status }) => {
    const error = gemini.readError(parseJson(body), noHeader);
    expect(error.message).not.toBe('');
    expect(gemini.kindOfError(error, status, 'gemini-x')).not.toBe('failed');
  });
});
