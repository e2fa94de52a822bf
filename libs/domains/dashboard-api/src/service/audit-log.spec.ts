import type { AuditEntry, ListAuditResponse } from '@gateway/contracts/auth';
import { listAudit } from './audit-log';

/** A service that pages through entries with these ids, newest first. */
function logWith(...ids: readonly string[]) {
  return {
    listAudit: async ({
      pageSize,
      pageToken,
    }: {
      pageSize: number;
      pageToken: string;
    }): Promise<ListAuditResponse> => {
      const rest = [...ids]
        .sort()
        .reverse()
        .filter((id) => pageToken === '' || id < pageToken);
      const page = rest.slice(0, pageSize);
      const entries = page.map((id) => ({ id }) as AuditEntry);
      return { entries, nextPageToken: rest.length > pageSize ? (page.at(-1) ?? '') : '' };
    },
  };
}

async function pagesOf(pageSize: number, ...auditLogs: readonly object[]) {
  const ports = { auditLogs } as never;
  const pages: string[][] = [];
  let pageToken = '';
  do {
    const page = await listAudit(ports, { pageSize, pageToken });
    pages.push(page.entries.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return pages;
}

describe('the audit log of all services', () => {
  it('is one list, newest first, in pages without gaps or repetitions', async () => {
    const logs = [logWith('a1', 'a4', 'a7', 'a8'), logWith('a2', 'a3'), logWith('a5', 'a6', 'a9')] as const;
    for (const size of [1, 2, 3, 4, 20]) {
      const pages = await pagesOf(size, ...logs);
      expect(pages.flat()).toEqual(['a9', 'a8', 'a7', 'a6', 'a5', 'a4', 'a3', 'a2', 'a1']);
      expect(pages.slice(0, -1).every((page) => page.length === size)).toBe(true);
    }
  });

  it('contains an entry once that two services of one database serve', async () => {
    expect(await pagesOf(2, logWith('a3'), logWith('a1', 'a2'), logWith('a1', 'a2'))).toEqual([
      ['a3', 'a2'],
      ['a1'],
    ]);
  });

  it('fails rather than omit the entries of an unavailable service', async () => {
    const unavailable = { listAudit: () => Promise.reject(new Error('unavailable')) };
    await expect(pagesOf(2, logWith('a1'), unavailable)).rejects.toThrow('unavailable');
  });
});
