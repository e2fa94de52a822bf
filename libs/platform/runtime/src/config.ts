import { readFileSync } from 'node:fs';
import type { z } from 'zod';

/** Everything that is wrong with the settings, at once. Holds names and reasons, never values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: readonly string[]) {
    super(['The configuration has faults:', ...faults.map((fault) => `  - ${fault}`)].join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const FILE_SUFFIX = '_FILE';

/**
 * Reads settings by a schema whose fields are the names of environment
 * variables. A setting may come from a file instead: `NAME_FILE` holds the path
 * (how orchestrators mount secrets); the line break at its end is dropped. An
 * empty variable counts as absent. Variables that the schema does not name are
 * ignored.
 *
 * @returns the parsed settings, frozen through and through.
 * @throws ConfigError with all faults together.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  environment: Environment,
): z.output<Schema> {
  const faults: string[] = [];
  const unreadable = new Set<string>();
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const source = valueOf(name, environment);
    if ('fault' in source) {
      faults.push(source.fault);
      unreadable.add(name);
    } else if (source.value !== undefined) {
      values[name] = source.value;
    }
  }

  const parsed = schema.safeParse(values);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      // A setting whose file cannot be read is not also called missing.
      if (unreadable.has(String(issue.path[0]))) continue;
      faults.push(`${issue.path.join('.') || 'settings'}: ${issue.message}`);
    }
  }
  if (faults.length > 0 || !parsed.success) throw new ConfigError(faults);
  return deepFreeze(parsed.data);
}

function valueOf(name: string, environment: Environment): { value: string | undefined } | { fault: string } {
  const direct = environment[name] || undefined;
  const path = environment[name + FILE_SUFFIX] || undefined;
  if (path === undefined) return { value: direct };
  if (direct !== undefined) return { fault: `${name}: set both directly and by ${name}${FILE_SUFFIX}` };
  try {
    return { value: readFileSync(path, 'utf8').replace(/\r?\n$/, '') || undefined };
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    return { fault: `${name}${FILE_SUFFIX}: the file cannot be read (${reason})` };
  }
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  // Other instances, such as a URL, guard themselves.
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
