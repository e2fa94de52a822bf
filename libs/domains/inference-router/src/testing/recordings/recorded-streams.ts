import type { DialectName } from '../../core/dialects/registry';
import { asObject, parseJson } from '../../core/completion/json';
import { eventFrame } from '../event-stream-frames';
import { anthropicRecordings } from './anthropic-recordings';
import { geminiRecordings } from './gemini-recordings';
import { openaiRecordings } from './openai-recordings';
import { filesOf, linesOf, readCassettes, type Recording } from './recordings';

export interface RecordedStream {
  readonly dialect: DialectName;
  readonly name: string;
  readonly bytes: Buffer;
}

/** The recorded streams of all dialects; none where the recordings are absent. */
export function recordedStreams(): readonly RecordedStream[] {
  return [
    ...streamsOf('openai', openaiRecordings()),
    ...streamsOf('anthropic', anthropicRecordings()),
    ...streamsOf('gemini', geminiRecordings()),
    ...converseStreams(),
  ];
}

/** The recorded responses of all dialects that are not streamed; none where the recordings are absent. */
export function recordedResponses(): readonly RecordedStream[] {
  const all = [
    ['openai', openaiRecordings()],
    ['anthropic', anthropicRecordings()],
    ['gemini', geminiRecordings()],
  ] as const;
  return [
    ...all.flatMap(([dialect, recordings]) =>
      recordings
        .filter(({ isStream, status }) => !isStream && status === 200)
        .map(({ name, body }) => ({ dialect, name, bytes: Buffer.from(body) })),
    ),
    ...readCassettes('pydantic-ai/test_bedrock')
      .filter(({ url, status }) => url.endsWith('/converse') && status === 200)
      .map(({ name, body }) => ({ dialect: 'converse', name, bytes: body }) as const),
    ...filesOf('vercel-ai/amazon-bedrock', '.json').map(
      ({ name, text }) => ({ dialect: 'converse', name, bytes: Buffer.from(text) }) as const,
    ),
  ];
}

function streamsOf(dialect: DialectName, recordings: readonly Recording[]): RecordedStream[] {
  return recordings
    .filter(({ isStream, status }) => isStream && status === 200)
    .map(({ name, body }) => ({ dialect, name, bytes: Buffer.from(body) }));
}

function converseStreams(): RecordedStream[] {
  const cassettes = readCassettes('pydantic-ai/test_bedrock')
    .filter(({ url, status }) => url.endsWith('/converse-stream') && status === 200)
    .map(({ name, body }) => ({ dialect: 'converse', name, bytes: body }) as const);
  const files = filesOf('vercel-ai/amazon-bedrock', '.chunks.txt').map(
    ({ name, text }) => ({ dialect: 'converse', name, bytes: framesOf(text) }) as const,
  );
  return [...cassettes, ...files];
}

/** The frames of a file that has only the events. */
function framesOf(text: string): Buffer {
  const events = linesOf(text).flatMap((line) => Object.entries(asObject(parseJson(line)) ?? {}));
  return Buffer.concat(events.map(([type, payload]) => eventFrame(type, asObject(payload) ?? {})));
}
