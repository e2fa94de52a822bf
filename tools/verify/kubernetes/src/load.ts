import { createChatClient, isServed, startTraffic, type Attempt, type Tenant } from '@gateway/load';
import { type AdminClient, createTenant, seededRandom, signIn } from '@gateway/test-support';
import type { Access } from './access';
import type { Release } from './release';

/** Of the demo's models. */
const MODEL = 'demo/standard';
const CREDIT_USD = '1000';
const TENANTS = ['first', 'second', 'third'];

/** What clients of the edge's service saw during a step. */
export interface Seen {
  readonly requests: number;
  /** By code; "lost" and "late" are those without a response. */
  readonly errors: Readonly<Record<string, number>>;
  /** Responses that no gateway may send: no envelope, an unknown code. */
  readonly wrong: readonly string[];
}

/** Requests from organizations of its own, and their outcomes. */
export class Load {
  readonly attempts: Attempt[] = [];
  readonly model = MODEL;
  private count = 0;

  private constructor(
    private readonly baseUrl: string,
    private readonly rate: number,
    readonly dashboard: AdminClient,
    readonly tenants: readonly Tenant[],
  ) {}

  static async open(release: Release, { apiUrl, dashboardUrl }: Access, rate: number): Promise<Load> {
    const { adminEmail, adminPassword } = await release.login();
    const dashboard = await signIn(dashboardUrl, adminEmail, adminPassword);
    const tenants: Tenant[] = [];
    for (const name of TENANTS)
      tenants.push({ name, ...(await createTenant(dashboard, { name, credit: CREDIT_USD })) });
    return new Load(`${apiUrl}/v1`, rate, dashboard, tenants);
  }

  /** Sends requests until `work` has finished, to the edge's service or another URL of it. */
  async during(work: () => Promise<void>, baseUrl = this.baseUrl): Promise<Seen> {
    this.count += 1;
    const client = createChatClient(baseUrl, MODEL);
    const traffic = startTraffic({
      client,
      tenants: this.tenants,
      random: seededRandom(this.count),
      name: `load${this.count}`,
      rate: this.rate,
    });
    try {
      await work();
    } finally {
      await traffic.stop();
      await client.close();
      this.attempts.push(...traffic.attempts);
    }
    return seenIn(traffic.attempts);
  }
}

export function seenIn(attempts: readonly Attempt[]): Seen {
  const errors: Record<string, number> = {};
  for (const attempt of attempts.filter((each) => !isServed(each))) {
    const name = attempt.code ?? attempt.outcome;
    errors[name] = (errors[name] ?? 0) + 1;
  }
  const wrong = attempts.flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
  return { requests: attempts.length, errors, wrong };
}
