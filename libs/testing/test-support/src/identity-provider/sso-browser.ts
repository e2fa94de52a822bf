/** The response to a browser's request. */
export interface VisitedPage {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A simulated browser for single sign-on: stores cookies by origin and follows redirects. */
export function createSsoBrowser() {
  const jars = new Map<string, Map<string, string>>();

  async function visit(address: string | URL, form?: Record<string, string>): Promise<VisitedPage> {
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

  /** Signs in at the provider and returns the redirect back to the dashboard. */
  async function signInAtProvider(from: URL | string, login: string, decision: 'agree' | 'abort' = 'agree') {
    let next = new URL(from);
    const { origin } = next;
    for (let steps = 0; steps < 20; steps += 1) {
      if (next.origin !== origin) return next;
      const { url, status, headers, text } = await visit(next);
      const [, prompt] = /name="prompt" value="(login|consent)"/.exec(text) ?? [];
      if (prompt !== undefined && decision === 'abort') next = new URL(`${url.pathname}/abort`, origin);
      else if (prompt !== undefined) next = redirectOf(await visit(url, { prompt, login, password: 'any' }));
      else if (headers.has('location')) next = redirectOf({ url, headers });
      else throw new Error(`the provider returned ${status} at ${url.pathname}: ${text}`);
    }
    throw new Error('too many redirects by the provider');
  }

  return {
    visit,
    signInAtProvider,
    /** Cookies of the URL's origin. */
    cookies: (address: string) => Object.fromEntries(jars.get(new URL(address).origin) ?? []),
  };
}

export type SsoBrowser = ReturnType<typeof createSsoBrowser>;

/** The redirect target of a response. */
export function redirectOf({ url, headers }: Pick<VisitedPage, 'url' | 'headers'>): URL {
  return new URL(headers.get('location') ?? '', url);
}
