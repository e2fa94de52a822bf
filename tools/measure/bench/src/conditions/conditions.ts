import { randomUUID } from 'node:crypto';
import { requestBody } from '../canned';
import { type OwnRequest } from '../load';
import { type Scenario } from '../measure';
import { prose } from '../ordinary-bodies';
import { benchKey } from './organizations';

const NUMBER_DIGITS = 9;
const NUMBER_MARK = '#'.repeat(NUMBER_DIGITS);

/** Bodies with a prompt of so many characters of which no two are the same: a count that is cached helps none. */
export function numberedBodies(characters: number): () => string {
  const text = prose(Math.max(0, characters - NUMBER_DIGITS - 1), 0);
  const [before = '', after = ''] = requestBody('whole', `${NUMBER_MARK} ${text}`).split(NUMBER_MARK);
  let number = 0;
  return () => `${before}${String(number++).padStart(NUMBER_DIGITS, '0')}${after}`;
}

function prompts(name: string, characters: number, connections: number): Scenario {
  const body = numberedBodies(characters);
  return { kind: 'whole', connections, name, next: () => ({ body: body() }) };
}

/** About so many characters. */
const SIXTEEN_WORDS = 90;
const KB = 1_000;

/** What a client can send: each prompt is new. */
export function clientConditions(): readonly Scenario[] {
  return [
    prompts('16 words', SIXTEEN_WORDS, 32),
    withIdempotencyKeys(prompts('16 words, Idempotency-Key', SIXTEEN_WORDS, 32)),
    prompts('8 kB prompt', 8 * KB, 32),
    // Of so many megabytes a second few are enough to keep a core busy.
    prompts('1 MB prompt', 1_000 * KB, 4),
  ];
}

function withIdempotencyKeys(scenario: Scenario): Scenario {
  const own = (): OwnRequest => ({
    ...scenario.next?.(),
    headers: { 'idempotency-key': randomUUID() },
  });
  return { ...scenario, next: own };
}

/** Each request comes from the next of so many organizations. */
export function organizationsCondition(organizations: number, where = ''): Scenario {
  const scenario = prompts(`${organizations.toLocaleString('en')} organizations${where}`, SIXTEEN_WORDS, 32);
  let number = 0;
  const own = (): OwnRequest => ({ ...scenario.next?.(), apiKey: benchKey(number++ % organizations) });
  return { ...scenario, next: own };
}

/** One organization, on the database with a history. */
export function historyCondition(rows: number): Scenario {
  return prompts(`one organization, ${rows.toLocaleString('en')} generations`, SIXTEEN_WORDS, 32);
}
