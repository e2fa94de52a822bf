import { AdminCallFailed, type AdminClient } from '@gateway/test-support';
import type { ScreenIds } from './screens';
import type { TestEnv } from './test-env';

export interface Hostile {
  readonly ids: ScreenIds;
  /** Additional pages, other than all screens, that show the texts. */
  readonly paths: readonly string[];
  /** The accepted texts as pages must show them: each must appear on at least one page. */
  readonly shown: readonly string[];
}

/** An organization in which every writable field holds each of the texts that it accepts. */
export async function seedHostile(testEnv: TestEnv, texts: readonly string[]): Promise<Hostile> {
  const { admin } = testEnv;
  const { organizationId, apiKey, keyId } = await testEnv.tenant();
  const path = `/api/organizations/${organizationId}`;
  const shown: string[] = [];
  /** Prefixes each text with its field, to distinguish them. */
  const write = async (field: string, text: string, send: (marked: string) => Promise<unknown>) => {
    const marked = `${field} ${text}`;
    if (await isAccepted(() => send(marked))) shown.push(marked.replace('\u202e', '⟨U+202E⟩'));
  };
  const generationIds: string[] = [];
  const projectIds: string[] = [];
  for (const text of texts) {
    await write('org', text, (name) => admin.call('POST', '/api/organizations', { name }));
    await write('key', text, (name) => admin.call('POST', `${path}/keys`, { name, scopes: ['chat'] }));
    await write('project', text, async (name) => {
      const { project } = await admin.call<{ project: { id: string } }>('POST', `${path}/projects`, { name });
      projectIds.push(project.id);
    });
    await write('token', text, (name) =>
      admin.call('POST', `${path}/management-tokens`, {
        ...{ name, access: 'read', role: 'member' },
        expires_on: new Date().toISOString().slice(0, 10),
      }),
    );
    await write('note', text, (note) => admin.call('POST', `${path}/credits`, { amount_usd: '1', note }));
    await write('reason', text, (reason) => admin.call('POST', `${path}/suspend`, { reason }));
    await admin.call('POST', `${path}/resume`, {});
    await write('correction', text, (reason) => correct(admin, path, reason));
    await write('drain', text, (reason) => drain(admin, reason));
    await write('user', text, async (user) => {
      const { id } = await testEnv.client(apiKey).chat.completions.create({
        model: 'demo/small',
        max_tokens: 10,
        user,
        messages: [{ role: 'user', content: text }],
      });
      generationIds.push(id);
    });
    // Pages show these shortened or encoded, so the tests only check that they do no harm.
    const email = `${text.replace(/[\s@]/g, '')}@example.com`;
    await isAccepted(() => admin.call('POST', `${path}/invitations`, { email, role: 'member' }));
    await signInFrom(testEnv, text);
    await isAccepted(() =>
      admin.call('PUT', `${path}/credit-alert`, {
        threshold_usd: '1',
        webhook_url: `https://example.com/${text}`,
        emails: [],
      }),
    );
  }
  const { organization } = await admin.call<{ organization: { id: string } }>('POST', '/api/organizations', {
    name: 'empty',
  });
  const base = `/o/${organizationId}`;
  return {
    ids: {
      ...{ organizationId, emptyId: organization.id, keyId },
      ...{ projectId: projectIds[0] ?? '', generationId: generationIds[0] ?? '' },
    },
    paths: [
      ...generationIds.map((id) => `${base}/generations/${id}`),
      ...['organization.', 'key.', 'credit', 'invitation.'].map((action) => `${base}/audit?action=${action}`),
      '/operator/audit?action=target.',
    ],
    shown,
  };
}

/** False when the API rejected the text as invalid. Other failures are thrown. */
async function isAccepted(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    const { status } = error as { status?: number };
    if ((error instanceof AdminCallFailed || error instanceof Error) && status === 400) return false;
    throw error;
  }
}

async function correct(admin: AdminClient, path: string, reason: string): Promise<void> {
  const body = { amount_usd: '0.5', reason };
  const { confirmation_token } = await admin.call<{ confirmation_token: string }>(
    'POST',
    `${path}/corrections/preview`,
    body,
  );
  await admin.call('POST', `${path}/corrections`, { ...body, confirmation_token });
}

async function drain(admin: AdminClient, reason: string): Promise<void> {
  const target = { provider: 'emulator', provider_model: 'emu-long' };
  // The audit log has only drains that change something, so the previous one ends first.
  await admin.call('PUT', '/api/operator/targets/drain', { ...target, drained: false, reason: 'next' });
  await admin.call('PUT', '/api/operator/targets/drain', { ...target, drained: true, reason });
}

async function signInFrom(testEnv: TestEnv, device: string): Promise<void> {
  const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
  const response = await fetch(`${dashboardUrl}/api/session`, {
    method: 'POST',
    // Headers are bytes, which fetch takes as Latin-1.
    headers: {
      'content-type': 'application/json',
      'user-agent': Buffer.from(device, 'utf8').toString('latin1'),
    },
    body: JSON.stringify({ email: adminEmail, password: adminPassword }),
  });
  if (!response.ok) throw new Error(`sign-in returned ${response.status}`);
  await response.body?.cancel();
}
