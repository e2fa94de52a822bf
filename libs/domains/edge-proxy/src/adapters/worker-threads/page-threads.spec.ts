import fc from 'fast-check';
import type { PageCounts } from '@gateway/public-api';
import {
  bundleProgram,
  compressedPdfDocument,
  eventually,
  exhaustingPdfDocuments,
  fuzzRuns,
  hostilePdfDocuments,
  pdfDocument,
  pdfDocumentOf,
  pdfStream,
} from '@gateway/test-support';
import { countPages } from './count-pages';
import type { PageThreads } from '../../core';
import { createPageThreads, type PageThreadsOptions } from './page-threads';

const program = bundleProgram('libs/domains/edge-proxy/src/adapters/worker-threads/page-worker.ts');

const opened: PageThreads[] = [];
function open(options: PageThreadsOptions = {}): PageThreads {
  const threads = createPageThreads({ program: () => program, ...options });
  opened.push(threads);
  return threads;
}
afterEach(async () => {
  for (const threads of opened.splice(0)) await threads.stop();
});

const caller = { owner: 'org_1' };

/** The pages, what is unreadable, or the code of a failure. */
async function outcome(counting: Promise<PageCounts>): Promise<string> {
  return counting.then(
    (counts) =>
      counts.kind === 'counted'
        ? counts.documents.map((each) => each.pages).join()
        : `unreadable ${counts.document}`,
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}

describe('the pages of a document', () => {
  it.each([1, 2, 7, 500])('are counted: %d', async (pages) => {
    const threads = open();
    const documents = [pdfDocument(pages), compressedPdfDocument(pages)];
    expect(await threads.count(documents, caller)).toEqual({
      kind: 'counted',
      documents: [
        { pages, characters: 0 },
        { pages, characters: 0 },
      ],
    });
  });

  it('are those of the last revision, in a document with several', async () => {
    const later = pdfDocument(3).subarray('%PDF-1.7\n%0123\n'.length);
    expect(await countPages(Buffer.concat([pdfDocument(1), later]))).toEqual({ pages: 3, characters: 0 });
  });

  it('are not counted in any part of a document', async () => {
    const whole = pdfDocument(3);
    const part = fc.integer({ min: 0, max: whole.length - '%%EOF\n'.length });
    await fc.assert(
      fc.asyncProperty(part, async (length) => {
        expect(await countPages(whole.subarray(0, length))).toEqual({ problem: expect.any(String) });
      }),
      fuzzRuns(),
    );
  });

  it('are counted without an exception, whatever the bytes', async () => {
    const whole = pdfDocument(2);
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })), {
      maxLength: 9,
    });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changed) bytes[at] = value;
        const counted = await countPages(bytes);
        expect(Object.keys(counted)).toContain('problem' in counted ? 'problem' : 'pages');
      }),
      fuzzRuns(),
    );
  });
});

describe('the text of a document', () => {
  const charactersIn = async (pdf: Buffer) => {
    const counted = await countPages(pdf);
    return 'problem' in counted ? counted.problem : counted.characters;
  };
  const LONG = 'x'.repeat(100_000);
  const font = (map: string) => ['<</Type/Font/ToUnicode 6 0 R>>', pdfStream(map)];

  it.each<[string, Buffer, number]>([
    ['on its page', pdfDocumentOf(`BT (${LONG}) Tj ET`), 100_000],
    ['with escaped and nested parentheses', pdfDocumentOf(String.raw`(a\)b(c)) Tj [(d) -3 (e)] TJ`), 8],
    ['in hexadecimal', pdfDocumentOf(`BT <${'78'.repeat(100_000)}> Tj ET`), 100_000],
    ['in a form', pdfDocumentOf('/F Do', { objects: [pdfStream(`(${LONG}) Tj`, '/Subtype/Form')] }), 100_000],
    [
      'in content that says it is an image',
      pdfDocumentOf(`(${LONG}) Tj`, { contentDict: '/Subtype/Image' }),
      100_000,
    ],
    [
      'in a font with several characters for a code',
      pdfDocumentOf('(abcd) Tj', { objects: font('<01> <006600660069>') }),
      12,
    ],
    ['without any: drawings', pdfDocumentOf('1 2 m 3 4 l S\n'.repeat(100_000)), 0],
    ['without any: dictionaries', pdfDocumentOf('/P <</N 0>> BDC EMC'), 0],
  ])('is measured: %s', async (_where, pdf, characters) => {
    expect(await charactersIn(pdf)).toBe(characters);
  });
});

describe('a hostile document is unreadable, and the next one is counted', () => {
  it.each(Object.entries(hostilePdfDocuments))('%s', async (_fault, hostile) => {
    const threads = open();
    const counted = await threads.count([pdfDocument(2), hostile()], caller);
    expect(counted).toEqual({ kind: 'unreadable', document: 1, problem: expect.stringMatching(/\.$/) });
    expect(await outcome(threads.count([pdfDocument(2)], caller))).toBe('2');
  });

  it.each(Object.entries(exhaustingPdfDocuments))('%s', async (_fault, hostile) => {
    const threads = open({ maxCountMs: 2_000, maxHeapMib: 64 });
    expect(await outcome(threads.count([hostile()], caller))).toBe('unreadable 0');
    // On a busy machine the start of a thread can take longer than this limit.
    await eventually('the next document is counted', async () => {
      return (await outcome(threads.count([pdfDocument(2)], caller))) === '2' || undefined;
    });
  });
});

it('a thread counts many documents, and is replaced once it uses much memory', async () => {
  let started = 0;
  const threads = open({
    program: () => {
      started += 1;
      return program;
    },
  });
  const count = (pdf: Buffer) => outcome(threads.count([pdf], caller));
  for (let pages = 1; pages <= 20; pages += 1) expect(await count(pdfDocument(pages))).toBe(`${pages}`);
  expect(started).toBe(1);
  const names = Array.from({ length: 400_000 }, (_, index) => `/Name${index} 0`).join(' ');
  expect(await count(pdfDocumentOf('', { objects: [`<<${names}>>`] }))).toBe('1');
  expect(await count(pdfDocument(2))).toBe('2');
  expect(started).toBe(2);
});

it('a bomb uses no more memory than the limit of decompression', async () => {
  const bomb = hostilePdfDocuments['a bomb that is compressed twice']?.() ?? Buffer.alloc(0);
  const before = process.memoryUsage().arrayBuffers;
  await countPages(bomb);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * 1024 * 1024);
});

it('a count leaves the event loop to other requests', async () => {
  const document = pdfDocument(20_000);
  let turns = 0;
  let isCounted = false;
  const counting = outcome(open({ maxCountMs: 600_000 }).count([document], caller)).finally(
    () => (isCounted = true),
  );
  while (!isCounted) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  expect(await counting).toBe('20000');
  expect(turns).toBeGreaterThan(10);
});

describe('the queue', () => {
  it('is bounded, and owners take turns', async () => {
    const threads = open({ threads: 1, maxQueued: 3 });
    const results = ['a', 'a', 'a', 'a', 'a', 'b'].map((owner) => threads.count([pdfDocument()], { owner }));
    expect(await Promise.all(results.map(outcome))).toEqual([
      '1', // Runs.
      '1',
      '1',
      'no_capacity', // Lost its place to the document of b.
      'no_capacity', // Fourth queued document.
      '1',
    ]);
  });

  it('has no cancelled document', async () => {
    const threads = open({ threads: 1, maxQueued: 1 });
    const cancel = new AbortController();
    const running = outcome(threads.count([pdfDocument()], caller));
    const queued = outcome(threads.count([pdfDocument()], { ...caller, signal: cancel.signal }));
    cancel.abort(new Error('cancelled'));
    expect(await outcome(threads.count([pdfDocument()], caller))).toBe('1');
    expect(await Promise.all([running, queued])).toEqual(['1', 'cancelled']);
  });

  it('is empty after a stop', async () => {
    const threads = open();
    const results = [pdfDocument(), pdfDocument()].map((each) => outcome(threads.count([each], caller)));
    await threads.stop();
    expect(await Promise.all(results)).toEqual(['no_capacity', 'no_capacity']);
    expect(await outcome(threads.count([pdfDocument()], caller))).toBe('no_capacity');
  });
});

it('a missing program is an internal error, not a fault of the document', async () => {
  expect(
    await outcome(open({ program: () => '/nowhere/page-worker.js' }).count([pdfDocument()], caller)),
  ).toBe('internal_error');
});
