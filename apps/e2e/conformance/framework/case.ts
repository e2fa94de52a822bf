import type { ErrorCode } from '@gateway/errors';
import type { Deployment, Need } from './deployment';

/** Parts of the public contract that a case can name. */
export const sections = {
  '1': 'What the service does',
  '2': 'Resources and their fields',
  '3': 'States and transitions',
  '4': 'Endpoints',
  '5': 'Authentication',
  '6': 'Events and streaming',
  '7': 'Errors',
  '8': 'Limits',
  '9': 'Versioning',
  '10': 'Order of checks',
  '11': 'Headers and what client libraries rely on',
} as const;

export type Section = keyof typeof sections;

/** One statement of the contract and how to see that it is true. */
export interface ConformanceCase {
  readonly section: Section;
  /** The statement, in few words; unique within its section. */
  readonly line: string;
  /** The error code that this case shows with all its columns, if it does. */
  readonly code?: ErrorCode;
  readonly needs?: readonly Need[];
  /** It mostly waits, as for a minute to pass, and disturbs nobody: it runs beside the others. */
  readonly waits?: boolean;
  /** Throws when the statement is not true. */
  readonly prove: (deployment: Deployment) => Promise<void>;
}

/** The cases of one section, in one file. */
export function casesOf(
  section: Section,
  cases: readonly Omit<ConformanceCase, 'section'>[],
): readonly ConformanceCase[] {
  return cases.map((one) => ({ section, ...one }));
}
