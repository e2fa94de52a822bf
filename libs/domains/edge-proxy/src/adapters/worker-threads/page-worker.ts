import { getHeapStatistics } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import type { DocumentSize, PageCounts } from '@gateway/public-api';
import { countPages } from './count-pages';
import type { PageReply, PageRequest } from './page-threads';
import { lowerPriority } from './priority';

/** The program of a thread that counts the pages of documents, in a bundle with the library that reads PDF. */
lowerPriority();
// The library warns about broken documents.
Object.assign(console, { warn: () => {} });

parentPort?.on('message', (request: PageRequest) => {
  void count(request.documents).then((counts) => {
    const { used_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics();
    const memoryBytes = heapBytes + externalBytes;
    parentPort?.postMessage({ id: request.id, counts, memoryBytes } satisfies PageReply);
  });
});

async function count(documents: PageRequest['documents']): Promise<PageCounts> {
  const counts: DocumentSize[] = [];
  for (const [document, pdf] of documents.entries()) {
    const counted = await countPages(pdf);
    if ('problem' in counted) return { kind: 'unreadable', document, problem: counted.problem };
    counts.push(counted);
  }
  return { kind: 'counted', documents: counts };
}
