import { readFileSync } from 'node:fs';
import type { z } from 'zod';

/** All issues of the settings. Contains names and reasons, never values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly issues: readonly string[]) {
    super(['The configuration is invalid:', ...issues.map((issue) => `  - ${issue}`)].join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const FILE_SUFFIX = '_FILE';

/**
 * Reads settings by a schema whose fields are the names of environment
 * variables. A setting can also be read from a file, such as a mounted secret,
 * whose path is in `NAME_FILE`. A trailing line break of the file is dropped. An
 * empty variable counts as absent. Unknown variables are ignored.
 *
 * @returns the parsed settings, deeply frozen.
 * @throws ConfigError with all issues.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  environment: Environment,
): z.output<Schema> {
  const issues: string[] = [];
  const unreadable = new Set<string>();
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const source = valueOf(name, environment);
    if ('issue' in source) {
      issues.push(source.issue);
      unreadable.add(name);
    } else if (source.value !== undefined) {
      values[name] = source.value;
    }
  }

  const parsed = schema.safeParse(values);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      // A setting whose file is unreadable is not reported as missing as well.
      if (unreadable.has(String(issue.path[0]))) continue;
      issues.push(`${issue.path.join('.') || 'settings'}: ${issue.message}`);
    }
  }
  if (issues.length > 0 || !parsed.success) throw new ConfigError(issues);
  return deepFreeze(parsed.data);
}

function valueOf(name: string, environment: Environment): { value: string | undefined } | { issue: string } {
  const direct = environment[name] || undefined;
  const path = environment[name + FILE_SUFFIX] || undefined;
  if (path === undefined) return { value: direct };
  if (direct !== undefined) return { issue: `${name}: cannot be set together with ${name}${FILE_SUFFIX}` };
  try {
    return { value: readFileSync(path, 'utf8').replace(/\r?\n$/, '') || undefined };
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    return { issue: `${name}${FILE_SUFFIX}: the file cannot be read (${reason})` };
  }
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  // Instances of classes, such as URL, are not frozen.
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
