import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DialectName } from '../../core/dialects/registry';

/** A response of a provider. README.md names the sources. */
export interface Recording {
  readonly dialect: DialectName;
  readonly name: string;
  readonly source: 'pydantic-ai' | 'vercel-ai';
  readonly status: number;
  readonly isStream: boolean;
  /** The header `x-amzn-errortype`. */
  readonly errorType?: string;
  readonly bytes: Buffer;
  /** The bytes as text. */
  readonly body: string;
}

/** A line of a file. Binary event streams are in base64. */
type Line = Omit<Recording, 'dialect' | 'bytes' | 'body'> &
  ({ readonly body: string } | { readonly base64: string });

/** All recordings of a dialect. */
export function recordingsOf(dialect: DialectName): readonly Recording[] {
  const lines = readFileSync(join(__dirname, `${dialect}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const recording = JSON.parse(line) as Line;
    const bytes =
      'base64' in recording ? Buffer.from(recording.base64, 'base64') : Buffer.from(recording.body);
    return { ...recording, dialect, bytes, body: bytes.toString() };
  });
}
