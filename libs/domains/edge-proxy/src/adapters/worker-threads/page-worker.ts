import { parentPort } from 'node:worker_threads';
import type { DocumentSize } from '@gateway/public-api';
import { countPages } from './count-pages';
import type { PageReply, PageRequest } from './page-threads';
import { lowerPriority } from './priority';

/** The program of a thread that counts the pages of one request, in a bundle with the library that reads PDF. */
lowerPriority();
// The library warns about broken documents.
Object.assign(console, { warn: () => {} });

parentPort?.on('message', (request: PageRequest) => {
  void count(request).then((reply) => parentPort?.postMessage(reply));
});

async function count({ id, documents }: PageRequest): Promise<PageReply> {
  const counts: DocumentSize[] = [];
  for (const [document, pdf] of documents.entries()) {
    const counted = await countPages(pdf);
    if ('problem' in counted)
      return { id, counts: { kind: 'unreadable', document, problem: counted.problem } };
    counts.push(counted);
  }
  return { id, counts: { kind: 'counted', documents: counts } };
}
