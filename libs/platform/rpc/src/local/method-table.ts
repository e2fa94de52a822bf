import type { ServedMethod, ServedMethods } from '../served-methods';
import { MalformedFrame } from './frame';

/** What a server tells its callers: for each method service, name, and whether it streams. */
type MethodRow = readonly [service: string, method: string, streams: boolean];

export interface NumberedMethod {
  readonly number: number;
  readonly streams: boolean;
}

/** Where a caller finds the number of a method. */
export type MethodTable = ReadonlyMap<string, ReadonlyMap<string, NumberedMethod>>;

/** The methods in the order of their numbers. */
export function numberedMethods(served: ServedMethods): readonly ServedMethod[] {
  return [...served.values()].flatMap((methods) => [...methods.values()]);
}

export function writeMethodTable(methods: readonly ServedMethod[]): Buffer {
  const rows = methods.map(({ service, method, streams }): MethodRow => [service, method, streams]);
  return Buffer.from(JSON.stringify(rows));
}

/** @throws MalformedFrame */
export function readMethodTable(body: Buffer): MethodTable {
  const table = new Map<string, Map<string, NumberedMethod>>();
  for (const [number, row] of rowsOf(body).entries()) {
    if (!isMethodRow(row)) throw new MalformedFrame('a table of methods with an unknown row');
    const [service, method, streams] = row;
    const methods = table.get(service) ?? new Map<string, NumberedMethod>();
    table.set(service, methods.set(method, { number, streams }));
  }
  return table;
}

function rowsOf(body: Buffer): readonly unknown[] {
  try {
    const rows: unknown = JSON.parse(body.toString());
    if (Array.isArray(rows)) return rows;
  } catch {
    // Told below.
  }
  throw new MalformedFrame('a table of methods that is none');
}

function isMethodRow(row: unknown): row is MethodRow {
  if (!Array.isArray(row)) return false;
  const [service, method, streams] = row as unknown[];
  return typeof service === 'string' && typeof method === 'string' && typeof streams === 'boolean';
}
