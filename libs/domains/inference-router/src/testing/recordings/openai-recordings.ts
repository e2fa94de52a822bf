import { asObject, parseJson } from '../../core/completion/json';
import { filesOf, linesOf, type Recording } from './recordings';

const FOLDERS = ['vercel-ai/openai', 'vercel-ai/openai-compatible', 'vercel-ai/azure'];

/** Recorded chat completions of servers that speak OpenAI's protocol; none where the recordings are absent. */
export function openaiRecordings(): readonly Recording[] {
  return FOLDERS.flatMap((folder) => [
    ...filesOf(folder, '.json').map(({ name, text }) => recordingOf(name, false, text)),
    ...filesOf(folder, '.chunks.txt').map(({ name, text }) =>
      recordingOf(name, true, [...linesOf(text), '[DONE]'].map((line) => `data: ${line}\n\n`).join('')),
    ),
    ...filesOf(folder, '.sse').map(({ name, text }) => recordingOf(name, true, text)),
  ]).filter(isOfChatCompletions);
}

function recordingOf(name: string, isStream: boolean, body: string): Recording {
  const isError = !isStream && asObject(asObject(parseJson(body))?.['error']) !== undefined;
  return { name, isStream, status: isError ? 400 : 200, body };
}

/** The folders have recordings of other APIs, too: Responses, text completions, images. */
function isOfChatCompletions({ isStream, status, body }: Recording): boolean {
  if (status !== 200) return true;
  const first = isStream ? /^data: (.*)$/m.exec(body)?.[1] : body;
  const { object, choices } = asObject(parseJson(first ?? '')) ?? {};
  return Array.isArray(choices) && object !== 'text_completion';
}
