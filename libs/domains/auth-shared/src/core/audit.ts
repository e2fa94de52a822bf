import type { JsonObject } from '@gateway/base';

export { auditOf } from '@gateway/base';

/** The before and after of each field that differs. */
export function changedFields(before: JsonObject, after: JsonObject): JsonObject {
  const changed: Record<string, { before: unknown; after: unknown }> = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const was = before[field] ?? null;
    const is = after[field] ?? null;
    if (JSON.stringify(was) !== JSON.stringify(is)) changed[field] = { before: was, after: is };
  }
  return { changed };
}
