import { chunkText } from '../canned';
import { machineFacts } from '../machine';
import type { Row } from '../measure';
import { benchDialects, cannedDialects, dialectOf } from './canned-dialects';
import { dialectRows, renderDialects } from './run-dialects';

const row = (target: string, cpuMicrosecondsPerRequest: number | null): Row => ({
  scenario: 'stream of 100, c=32',
  target,
  requests: 10,
  requestsPerSecond: 5,
  chunksPerSecond: 500,
  p50Ms: 1,
  p99Ms: 2,
  firstByteP50Ms: 1,
  cpuMicrosecondsPerRequest,
  databaseCpuMicrosecondsPerRequest: null,
  residentMiB: null,
});

const render = (rows: readonly Row[]) =>
  renderDialects({
    machine: machineFacts(undefined),
    rows: dialectRows(rows),
    charges: { exact: true, responses: 40, text: 'exact.' },
  });

describe('the figures of the dialects', () => {
  it('compare the CPU time with that of the dialect openai, and with the goals', () => {
    const rows = [row('openai', 800), row('anthropic', 1_040), row('gemini', 1_600), row('converse', 1_288)];
    expect(dialectRows(rows).map(({ cpuRatio }) => cpuRatio)).toEqual([1, 1.3, 2, 1.61]);
    expect(render(rows)).toContain('✓ anthropic: at most 1.3 × CPU time of the dialect openai: 1.30');
    expect(render(rows)).toContain('✗ converse: at most 1.6 × CPU time of the dialect openai: 1.61');
  });

  it('have no ratio where the CPU time is unknown', () => {
    const text = render(benchDialects.map((dialect) => row(dialect, null)));
    expect(text).not.toMatch(/[✓✗]/);
    expect(text).toContain('anthropic');
  });
});

describe('the canned responses', () => {
  it('are those of the dialect in the path of a request', () => {
    const paths = [
      '/v1/chat/completions',
      '/v1/messages',
      '/v1/models/echo-1:streamGenerateContent?alt=sse',
      '/v1/model/us.anthropic.echo-1/converse-stream',
    ];
    expect(paths.map((path) => dialectOf(`POST ${path} HTTP/1.1`))).toEqual(benchDialects);
  });

  it.each(Object.entries(cannedDialects))('of %s have each chunk once, in order', (_, { events }) => {
    const all = events(12);
    const texts = all.flatMap((event) => /" tok\d+"/.exec(event)?.[0] ?? []);
    expect(texts).toEqual(Array.from({ length: 12 }, (_each, index) => `"${chunkText(index)}"`));
    // As HTTP chunks, whose length is that of the text.
    for (const event of all) expect(Buffer.byteLength(event, 'latin1')).toBe(event.length);
  });
});
