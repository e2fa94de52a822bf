import { asObject, parseJson } from '../../core/completion/json';
import { filesOf, linesOf, readCassettes, type Recording } from './recordings';

/** Recorded responses to `generateContent` and `streamGenerateContent`; none where the recordings are absent. */
export function geminiRecordings(): readonly Recording[] {
  return [
    ...filesOf('vercel-ai/google', '.json').flatMap(({ name, text }) => ofGenerateContent(name, [text])),
    ...filesOf('vercel-ai/google', '.chunks.txt').flatMap(({ name, text }) =>
      ofGenerateContent(name, linesOf(text), true),
    ),
    ...readCassettes('pydantic-ai/test_google')
      .filter(({ url }) => /generateContent/i.test(url))
      .map(({ name, url, status, body }) => ({
        name,
        status,
        isStream: url.includes('streamGenerateContent'),
        body: body.toString(),
      })),
  ];
}

/** Files of the Interactions API are omitted. */
function ofGenerateContent(name: string, lines: readonly string[], isStream = false): readonly Recording[] {
  const first = asObject(parseJson(lines[0] ?? '')) ?? {};
  if (!('candidates' in first) && !('error' in first)) return [];
  const code = asObject(first['error'])?.['code'];
  const body = isStream ? lines.map((line) => `data: ${line}\r\n\r\n`).join('') : (lines[0] ?? '');
  return [{ name, status: typeof code === 'number' ? code : 200, isStream, body }];
}
