import { asObject, parseJson } from '../../core/completion/json';
import { filesOf, linesOf, readCassettes, type Recording } from './recordings';

/** Recorded responses of Anthropic; none where the recordings are absent. */
export function anthropicRecordings(): readonly Recording[] {
  return [
    ...filesOf('vercel-ai/anthropic', '.json').map(({ name, text }) => responseOf(name, 200, text)),
    ...filesOf('vercel-ai/anthropic', '.chunks.txt').map(({ name, text }) => ({
      name,
      status: 200,
      isStream: true,
      body: linesOf(text)
        .map((line) => `event: any\ndata: ${line}\n\n`)
        .join(''),
    })),
    ...readCassettes('pydantic-ai/test_anthropic').map(({ name, status, body }) =>
      responseOf(name, status, body.toString()),
    ),
  ].filter(isOfMessages);
}

function responseOf(name: string, status: number, body: string): Recording {
  return { name, status, isStream: parseJson(body) === undefined, body };
}

/** Cassettes have responses of other methods and providers, too. */
function isOfMessages({ isStream, body }: Recording): boolean {
  if (isStream) return true;
  const type = asObject(parseJson(body))?.['type'];
  return type === 'message' || type === 'error';
}
