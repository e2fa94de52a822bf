import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';

/** Responses of real providers. They are not part of the project: a folder above it may have them. */
const folder = findAbove(__dirname, 'shared/fixtures/providers');

export const hasRecordings = folder !== undefined;

function findAbove(start: string, path: string): string | undefined {
  const found = join(start, path);
  if (existsSync(found)) return found;
  const parent = dirname(start);
  return parent === start ? undefined : findAbove(parent, path);
}

export interface RecordedExchange {
  readonly name: string;
  readonly url: string;
  readonly requestBody: string;
  readonly status: number;
  /** In the names' lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The exchanges of VCR cassettes, in order; none where the recordings are absent. */
export function readCassettes(subfolder: string): readonly RecordedExchange[] {
  return filesOf(subfolder, '.yaml').flatMap(({ name, text }) => {
    const { interactions } = parse(text, { customTags: ['binary'] }) as {
      interactions: CassetteInteraction[];
    };
    return interactions.map(({ request, response }, index) => ({
      name: `${name} ${index + 1}`,
      url: request.uri,
      requestBody: textOf(request.body ?? request.parsed_body ?? ''),
      status: response.status.code,
      headers: Object.fromEntries(
        Object.entries(response.headers).map(([header, values]) => [
          header.toLowerCase(),
          textOf(values[0] ?? ''),
        ]),
      ),
      body: bodyOf(response),
    }));
  });
}

export interface RecordedFile {
  readonly name: string;
  readonly text: string;
}

/** The files of a folder whose names end so, sorted by name; none where the recordings are absent. */
export function filesOf(subfolder: string, ending: string): readonly RecordedFile[] {
  if (folder === undefined) return [];
  const path = join(folder, subfolder);
  return readdirSync(path)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => ({ name: name.slice(0, -ending.length), text: readFileSync(join(path, name), 'utf8') }));
}

/** A response whose events are server-sent. */
export interface Recording {
  readonly name: string;
  readonly status: number;
  readonly isStream: boolean;
  /** JSON, or server-sent events. */
  readonly body: string;
}

/** Of a file with the data of an event in each line. */
export function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

interface CassetteInteraction {
  readonly request: { readonly uri: string; readonly body?: unknown; readonly parsed_body?: unknown };
  readonly response: CassetteResponse;
}

interface CassetteResponse {
  readonly status: { readonly code: number };
  readonly headers: Readonly<Record<string, readonly unknown[]>>;
  readonly body?: { readonly string: string | Uint8Array };
  readonly parsed_body?: unknown;
}

function bodyOf({ body, parsed_body: parsed }: CassetteResponse): Buffer {
  if (body === undefined) return Buffer.from(JSON.stringify(parsed));
  return typeof body.string === 'string' ? Buffer.from(body.string) : Buffer.from(body.string);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value instanceof Uint8Array ? Buffer.from(value).toString() : JSON.stringify(value);
}
