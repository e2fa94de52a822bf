import type { ErrorCode } from '@gateway/errors';
import type { OtherDialect } from '../../src/testing/dialects';
import type { Deployment, Need } from './deployment';
import type { OtherFormat } from './format';

/** Sections of the specification. */
export const sections = {
  '1': 'Features of the service',
  '2': 'Resources and their fields',
  '3': 'States and transitions',
  '4': 'Endpoints',
  '5': 'Authentication',
  '6': 'Events and streaming',
  '7': 'Errors',
  '8': 'Limits',
  '9': 'Versioning',
  '10': 'Order of checks',
  '11': 'Headers and client libraries',
} as const;

export type Section = keyof typeof sections;

/** A statement of the specification and its test. */
export interface ConformanceCase {
  readonly section: Section;
  /** The statement; unique within its section. */
  readonly title: string;
  /** The error code that this case covers completely, if any. */
  readonly code?: ErrorCode;
  readonly needs?: readonly Need[];
  /** The dialects other than OpenAI's in which the case runs as well. */
  readonly dialects?: readonly OtherDialect[];
  /** The public formats other than chat completions in which the case runs as well. */
  readonly formats?: readonly OtherFormat[];
  /** Mostly waits, for example for the next minute, so it runs concurrently with the other cases. */
  readonly concurrent?: boolean;
  /** Throws if the statement is not true. */
  readonly verify: (deployment: Deployment) => Promise<void>;
}

/** The cases of a section. */
export function casesOf(
  section: Section,
  cases: readonly Omit<ConformanceCase, 'section'>[],
): readonly ConformanceCase[] {
  return cases.map((one) => ({ section, ...one }));
}
