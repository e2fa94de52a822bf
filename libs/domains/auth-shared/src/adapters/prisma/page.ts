import type { PageRequest } from '../../core/ports';

/** Newest first: ids sort by time. */
export function newestFirst({ size, after }: PageRequest) {
  return {
    where: after === undefined ? {} : { id: { lt: after } },
    orderBy: { id: 'desc' as const },
    take: size,
  };
}

/** Matches columns that contain the text, in any case. Prisma passes LIKE's wildcards through, so they are escaped. */
export function containing(text: string) {
  return { contains: text.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' as const };
}
