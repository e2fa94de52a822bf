/** Where a person's browser has got to. */
export interface Visited {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser of a person who signs in at the identity provider: keeps cookies by origin and follows what it is sent. */
export function createVisitor() {
  const jars = new Map<string, Map<string, string>>();

  async function visit(address: string | URL, form?: Record<string, string>): Promise<Visited> {
    const url = new URL(address);
    const jar = jars.get(url.origin) ?? new Map<string, string>();
    jars.set(url.origin, jar);
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '' || /expires=thu, 01 jan 1970/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Goes on from a page of the provider, as this person, until it sends the browser back to the dashboard. */
  async function signInAtProvider(from: URL | string, login: string, answer: 'agree' | 'abort' = 'agree') {
    let next = new URL(from);
    const { origin } = next;
    for (let steps = 0; steps < 20; steps += 1) {
      if (next.origin !== origin) return next;
      const { url, status, headers, text } = await visit(next);
      const [, prompt] = /name="prompt" value="(login|consent)"/.exec(text) ?? [];
      if (prompt !== undefined && answer === 'abort') next = new URL(`${url.pathname}/abort`, origin);
      else if (prompt !== undefined) next = located(await visit(url, { prompt, login, password: 'any' }));
      else if (headers.has('location')) next = located({ url, headers });
      else throw new Error(`the provider answered ${status} at ${url.pathname}: ${text}`);
    }
    throw new Error('the provider goes round in circles');
  }

  return {
    visit,
    signInAtProvider,
    /** Of the site that the address is of. */
    cookies: (address: string) => Object.fromEntries(jars.get(new URL(address).origin) ?? []),
  };
}

export type Visitor = ReturnType<typeof createVisitor>;

/** Where an answer sends the browser to. */
export function located({ url, headers }: Pick<Visited, 'url' | 'headers'>): URL {
  return new URL(headers.get('location') ?? '', url);
}
