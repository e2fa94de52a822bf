import { createChatClient, isServed, startTraffic, type Attempt, type Tenant } from '@gateway/load';
import { DashboardClient, seededRandom } from '@gateway/test-support';
import type { Release } from './release';

/** Of the demo's models. */
const MODEL = 'demo/standard';
const CREDIT_USD = '1000';
const TENANTS = ['first', 'second', 'third'];

/** What clients of the edge's service saw while something else went on. */
export interface Seen {
  readonly requests: number;
  /** By code; "lost" and "late" are those that got no answer. */
  readonly errors: Readonly<Record<string, number>>;
  /** Answers that no gateway may give: no envelope, an unknown code. */
  readonly wrong: readonly string[];
}

/** Requests from organizations of its own, and all that became of them. */
export class Load {
  readonly attempts: Attempt[] = [];
  readonly model = MODEL;
  private count = 0;

  private constructor(
    private readonly baseUrl: string,
    private readonly rate: number,
    readonly dashboard: DashboardClient,
    readonly tenants: readonly Tenant[],
  ) {}

  static async open(release: Release, rate: number): Promise<Load> {
    const { adminEmail, adminPassword } = await release.login();
    const url = `http://${await release.address('dashboard-api')}`;
    const dashboard = await DashboardClient.signIn(url, adminEmail, adminPassword);
    const tenants: Tenant[] = [];
    for (const name of TENANTS) tenants.push({ name, ...(await dashboard.createTenant(name, CREDIT_USD)) });
    return new Load(`http://${await release.address('edge-proxy')}/v1`, rate, dashboard, tenants);
  }

  /** Sends requests for as long as `work` takes, to the edge's service or another way to it. */
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
