import { asObject, type JsonObject } from '../../completion/json';
import { malformed } from '../failures';

/** The deepest nesting of streamed arguments. */
const MAX_DEPTH = 64;

type Key = string | number;
type Container = Record<string, unknown> | unknown[];

/** A step of a JSON path: `.name`, `['name']` or `[0]`. */
const STEP = /\.([^.[\]]+)|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\d{1,6}))\]/y;

/**
 * Assembles the arguments of a function call that is streamed as `partialArgs`: values with a JSON path each, strings in
 * several parts.
 */
export class PartialArguments {
  private readonly root: Record<string, unknown> = emptyObject();

  /** @throws UpstreamFailure for a path or value that is unreadable. */
  add(value: unknown): void {
    const part = asObject(value);
    const path = part?.['jsonPath'];
    if (!part || typeof path !== 'string') throw malformed('a partial argument without a path');
    const keys = parsePath(path);
    const last = keys.pop() as Key;
    let container: Container = this.root;
    for (const [index, key] of keys.entries()) {
      const next = keys[index + 1] ?? last;
      container = childOf(container, key, typeof next === 'number');
    }
    setValue(container, last, part);
  }

  toJson(): string {
    return JSON.stringify(this.root);
  }
}

/** Without a prototype, so that the key "__proto__" is like any other. */
function emptyObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function parsePath(path: string): Key[] {
  if (!path.startsWith('$')) throw malformed('an argument path that is not absolute');
  const keys: Key[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const step = STEP.exec(path);
    if (!step) throw malformed('an unreadable argument path');
    const [, name, single, double, index] = step;
    keys.push(index === undefined ? (name ?? unescapeKey(single ?? double ?? '')) : Number(index));
  }
  if (keys.length === 0 || keys.length > MAX_DEPTH)
    throw malformed('an argument path of no or too many steps');
  return keys;
}

function unescapeKey(quoted: string): string {
  return quoted.replace(/\\(.)/g, '$1');
}

function childOf(container: Container, key: Key, isArray: boolean): Container {
  const known = read(container, key);
  if (known === undefined) {
    const child = isArray ? [] : emptyObject();
    write(container, key, child);
    return child;
  }
  if (typeof known !== 'object' || known === null) throw malformed('an argument within a value');
  return known as Container;
}

function setValue(container: Container, key: Key, part: JsonObject): void {
  const { stringValue, numberValue, boolValue } = part;
  if (typeof stringValue === 'string') {
    const known = read(container, key);
    write(container, key, typeof known === 'string' ? known + stringValue : stringValue);
  } else if (typeof numberValue === 'number') write(container, key, numberValue);
  else if (typeof boolValue === 'boolean') write(container, key, boolValue);
  else if ('nullValue' in part) write(container, key, null);
  else throw malformed('a partial argument without a value');
}

function read(container: Container, key: Key): unknown {
  checkKey(container, key);
  return (container as Record<Key, unknown>)[key];
}

function write(container: Container, key: Key, value: unknown): void {
  checkKey(container, key);
  (container as Record<Key, unknown>)[key] = value;
}

/** Elements arrive in order. A gap would let one event allocate a huge array. */
function checkKey(container: Container, key: Key): void {
  if (Array.isArray(container) !== (typeof key === 'number')) throw malformed('mixed argument paths');
  if (Array.isArray(container) && (key as number) > container.length) {
    throw malformed('an argument out of order');
  }
}
