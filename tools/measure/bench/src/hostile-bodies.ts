import { gzipSync } from 'node:zlib';
import { MODEL } from './canned';
import { type BodyUnderTest } from './measure-bodies';

const MB = 1_000_000;
/** Just below the limit of 32 MiB. */
const LARGEST = 33 * MB;

function repeat(part: string, bytes: number): string {
  return part.repeat(Math.floor(bytes / Buffer.byteLength(part)));
}

/** A valid chat with more fields after the messages. */
function chat(content: string, more = ''): string {
  return `{"model":"${MODEL}","max_tokens":16,"messages":[{"role":"user","content":"${content}"}]${more}}`;
}

function numbered(count: number, each: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => each(index)).join();
}

/** Base64 of a PNG's header and so many bytes after it, which nobody decodes. */
function imageOf(bytes: number): string {
  const header = Buffer.from('89504e470d0a1a0a0000000d4948445200000400000004000806000000', 'hex');
  const image = Buffer.alloc(bytes, 0x5a);
  header.copy(image);
  return image.toString('base64');
}

function withImage(bytes: number, more = ''): string {
  const url = `data:image/png;base64,${imageOf(bytes)}${more}`;
  return `{"model":"${MODEL}","max_tokens":16,"messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"${url}"}}]}]}`;
}

const bodies: Readonly<Record<string, [make: () => string, how?: 'gzip' | 'keyed']>> = {
  '8 MB of [], (gzip)': [() => chat('Hi', `,"stop":[${repeat('[],', 8 * MB)}[]]`), 'gzip'],
  '33 MB of [], (gzip)': [() => chat('Hi', `,"stop":[${repeat('[],', LARGEST)}[]]`), 'gzip'],
  '33 MB of {},': [() => chat('Hi', `,"stop":[${repeat('{},', LARGEST)}{}]`)],
  '33 MB of 1,': [() => chat('Hi', `,"stop":[${repeat('1,', LARGEST)}1]`)],
  '33 MB of "",': [() => chat('Hi', `,"stop":[${repeat('"",', LARGEST)}""]`)],
  '2.7 million names': [() => chat('Hi', `,"metadata":{${numbered(2_700_000, (at) => `"${at}":1`)}}`)],
  'one name over and over': [() => `{${repeat('"a":1,', LARGEST)}"a":1}`],
  '10 million brackets': [() => `{"messages":${'['.repeat(10 * MB)}`],
  'objects in objects': [() => repeat('{"a":', LARGEST)],
  '130,000 names': [() => chat('Hi', `,"metadata":{${numbered(130_000, (at) => `"name ${at}":${at}`)}}`)],
  '130,000 long names': [
    () => chat('Hi', `,"metadata":{${numbered(130_000, (at) => `"${'x'.repeat(230)}${at}":1`)}}`),
    'keyed',
  ],
  '4,000 values': [() => chat('Hi', `,"metadata":{${numbered(3_990, (at) => `"${at}":[]`)}}`), 'keyed'],
  '2,000 messages': [
    () =>
      `{"model":"${MODEL}","max_tokens":16,"messages":[${numbered(2_000, (at) => `{"role":"user","content":"message ${at}, ${'a word '.repeat(20)}"}`)}]}`,
    'keyed',
  ],
  '33 MB of one string': [() => chat('a'.repeat(LARGEST))],
  '33 MB of escapes': [() => chat(repeat('\\u4e00', LARGEST)), 'keyed'],
  '33 MB of ideographs': [() => chat(repeat('\u4e00', LARGEST)), 'keyed'],
  '33 MB of quotes': [() => chat(repeat('\\"', LARGEST))],
  '33 MB of white space (gzip)': [() => chat('Hi', ' '.repeat(LARGEST)), 'gzip'],
  'a number of 33 MB': [() => chat('Hi', `,"temperature":${'9'.repeat(LARGEST)}`)],
  '33 MB, broken at the end': [() => `${chat('a'.repeat(LARGEST)).slice(0, -1)},`],
  '1.9 million letters': [() => chat(repeat('qwrtzpsdfghjklyxcvbnm', 1.9 * MB))],
  '250 kB of escapes': [() => chat(repeat('\\u4e00', 250_000)), 'keyed'],
  'image of 20 MB, broken': [() => withImage(20 * MB, '*')],
  'image of 1 MB': [() => withImage(1 * MB)],
  'image of 5 MB': [() => withImage(5 * MB)],
  'image of 20 MB': [() => withImage(20 * MB)],
};

export const hostileBodies: readonly BodyUnderTest[] = Object.entries(bodies).map(([name, [make, how]]) => ({
  name,
  make: () => (how === 'gzip' ? gzipSync(make()) : Buffer.from(make())),
  gzip: how === 'gzip',
  idempotencyKey: how === 'keyed',
}));
