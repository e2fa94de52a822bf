import { createServer } from 'node:net';
import { wholeAnswer } from '../canned';
import { HttpMessageReader, type HttpMessage } from '../http-message';
import { newTally, runLoad } from '../load';
import { scenarioName } from '../measure';
import { readOptions } from '../options';
import { listen } from '../roles/listen';
import { clientConditions, numberedBodies, organizationsCondition } from './conditions';
import { firstTokenRows } from './first-token';
import { benchKey } from './organizations';
import { renderFirstToken } from './render-conditions';

const promptOf = (body: string): string =>
  (JSON.parse(body) as { messages: { content: string }[] }).messages[1]?.content ?? '';

describe('what clients send', () => {
  it('is a prompt of the size that its name says, and never the same again', () => {
    for (const [index, size] of [90, 90, 8_000, 1_000_000].entries()) {
      const { next } = clientConditions()[index] ?? {};
      const prompts = [next?.().body, next?.().body].map((body) => promptOf(body ?? ''));
      expect(prompts.map(({ length }) => length)).toEqual([size, size]);
      expect(prompts[0]).not.toBe(prompts[1]);
    }
    const make = numberedBodies(90);
    expect(make()).toHaveLength(make().length);
  });

  it('has an Idempotency-Key of its own in each request, or none', () => {
    const keys = (index: number) =>
      [1, 2].map(() => clientConditions()[index]?.next?.().headers?.['idempotency-key']);
    expect(keys(0)).toEqual([undefined, undefined]);
    expect(new Set(keys(1)).size).toBe(2);
  });

  it('comes from one organization after another', () => {
    const { next } = organizationsCondition(3);
    expect([1, 2, 3, 4].map(() => next?.().apiKey)).toEqual([0, 1, 2, 0].map(benchKey));
    expect(scenarioName(organizationsCondition(10_000))).toBe('10,000 organizations, c=32');
  });

  it('goes over the wire as it is, with the key and the headers of that request alone', async () => {
    const received: HttpMessage[] = [];
    const server = createServer((socket) => {
      socket.setEncoding('latin1');
      const reader = new HttpMessageReader((message) => {
        received.push(message);
        const answer = wholeAnswer();
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`);
      });
      socket.on('data', (text: string) => reader.push(text));
    });
    const { port, close } = await listen(server, () => undefined);
    const body = numberedBodies(90);
    let number = 0;
    await runLoad({
      destination: { port, path: '/', apiKey: 'sk-same', headers: { 'x-all': 'yes' } },
      ...{ kind: 'whole', body: 'never sent', chunks: 0, connections: 1, warmUpMs: 0, windowMs: 20 },
      tally: newTally(),
      next: () => ({ body: body(), apiKey: `sk-${number}`, headers: { 'x-own': String(number++) } }),
    });
    await close();
    expect(received).toHaveLength(number);
    for (const [index, { head, body: sent }] of received.entries()) {
      expect(head).toContain(`authorization: bearer sk-${index}\r\n`);
      expect(head).toContain(`x-all: yes\r\nx-own: ${index}\r\n`);
      expect(promptOf(sent)).toContain(String(index).padStart(9, '0'));
    }
  });

  it('is asked for by the command line', () => {
    expect(readOptions(['--conditions', '--generations', '1000'])).toMatchObject({
      isConditions: true,
      generations: 1_000,
    });
    expect(readOptions(['--conditions'])?.generations).toBeUndefined();
  });
});

describe('the first token', () => {
  it('is compared with the upstream in the same run', () => {
    const rows = firstTokenRows(
      new Map([
        ['upstream', [1, 2, 3]],
        ['gateway', [5, 6, 7]],
      ]),
    );
    expect(rows).toMatchObject([
      { target: 'upstream', p50Ms: 2, addedP50Ms: 0 },
      { target: 'gateway', p50Ms: 6, p99Ms: 7, addedP50Ms: 4 },
    ]);
    expect(renderFirstToken(rows)).toMatch(/gateway +6\.00 +7\.00 +4\.00$/m);
    expect(firstTokenRows(new Map([['gateway', [1]]]))).toMatchObject([{ addedP50Ms: null }]);
  });
});
