import type { PageRequest } from '../../core/ports';

/** Newest first: ids sort by time. */
export function newestFirst({ size, after }: PageRequest) {
  return {
    where: after === undefined ? {} : { id: { lt: after } },
    orderBy: { id: 'desc' as const },
    take: size,
  };
}
