// `npm run dead-letters -- list|show|redeliver|discard`: manages dead letters through the API of a running gateway.
// Only the API, not the database, records each action in the audit log.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { exitOnFailure, Misused, root, StepFailed as Failure } from './lib/run.mjs';

const USAGE = `npm run dead-letters -- COMMAND

  list [GROUP/TOPIC] [--state pending|redelivering|discarded]
  show GROUP/TOPIC/POSITION
  redeliver GROUP/TOPIC/POSITION…
  discard GROUP/TOPIC/POSITION… --reason TEXT

Uses the gateway that \`npm start\` runs. For another gateway, set
GATEWAY_DASHBOARD_URL, GATEWAY_DASHBOARD_EMAIL and GATEWAY_DASHBOARD_PASSWORD.`;

try {
  const { command, ids, state, reason } = readArguments(process.argv.slice(2));
  const api = await signIn(readCredentials());
  try {
    if (command === 'list') await list(api, ids, state);
    if (command === 'show') await show(api, ids);
    if (command === 'redeliver') await change(api, ids, 'redeliver', {});
    if (command === 'discard') await change(api, ids, 'discard', { reason });
  } finally {
    await api.call('DELETE', '/api/session');
  }
} catch (error) {
  exitOnFailure(error);
}

function readArguments(args) {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: { state: { type: 'string' }, reason: { type: 'string' } },
    });
  } catch (error) {
    throw new Misused(error.message, USAGE);
  }
  const [command, ...ids] = parsed.positionals;
  const { state, reason } = parsed.values;
  if (!['list', 'show', 'redeliver', 'discard'].includes(command)) {
    throw new Misused(command === undefined ? 'missing command' : `unknown command '${command}'`, USAGE);
  }
  const parts = command === 'list' ? 2 : 3;
  for (const id of ids) {
    if (id.split('/').length !== parts)
      throw new Misused(`'${id}' is not ${parts === 2 ? 'GROUP/TOPIC' : 'GROUP/TOPIC/POSITION'}`, USAGE);
  }
  if (command !== 'list' && ids.length === 0)
    throw new Misused(`${command} needs at least one GROUP/TOPIC/POSITION`, USAGE);
  if (command === 'discard' && !reason) throw new Misused('discard needs --reason TEXT', USAGE);
  return { command, ids, state, reason };
}

/** From the environment, or from the file that `npm start` writes. */
function readCredentials() {
  const {
    GATEWAY_DASHBOARD_URL: url,
    GATEWAY_DASHBOARD_EMAIL: email,
    GATEWAY_DASHBOARD_PASSWORD: password,
  } = process.env;
  if (url && email && password) return { url, email, password };
  if (url || email || password) {
    throw new Failure(
      'Set all three of GATEWAY_DASHBOARD_URL, GATEWAY_DASHBOARD_EMAIL and GATEWAY_DASHBOARD_PASSWORD.',
    );
  }
  const file = path.resolve(root, process.env.GATEWAY_STATE_DIR ?? '.gateway', 'dev.json');
  try {
    const { dashboardUrl, adminEmail, adminPassword } = JSON.parse(readFileSync(file, 'utf8'));
    return { url: dashboardUrl, email: adminEmail, password: adminPassword };
  } catch {
    throw new Failure(
      `GATEWAY_DASHBOARD_URL is not set, and there is no running gateway in ${file}. Run \`npm start\` first.`,
    );
  }
}

async function signIn({ url, email, password }) {
  let cookie = '';
  async function call(method, where, body) {
    const response = await fetch(new URL(where, url), {
      method,
      headers: { 'content-type': 'application/json', cookie },
      body: body === undefined ? undefined : JSON.stringify(body),
    }).catch((error) => {
      throw new Failure(`Cannot reach the gateway at ${url}: ${error.cause?.message ?? error.message}`);
    });
    const text = await response.text();
    const json = text === '' ? undefined : JSON.parse(text);
    if (!response.ok) throw new Failure(`${method} ${where}: ${json?.error?.message ?? response.status}`);
    return { json, response };
  }
  const { response } = await call('POST', '/api/session', { email, password });
  cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { call };
}

async function list(api, ids, state = 'pending') {
  const { groups } = (await api.call('GET', '/api/dead-letters')).json;
  for (const { group, topic, pending, redelivering, discarded } of groups) {
    console.log(
      `${group}/${topic}: ${pending} pending, ${redelivering} redelivering, ${discarded} discarded`,
    );
  }
  if (groups.length === 0) console.log('No consumer group has dead letters.');
  const names = ids.length > 0 ? ids : groups.map(({ group, topic }) => `${group}/${topic}`);
  for (const name of names) {
    for (let token = ''; token !== null;) {
      const query = new URLSearchParams({ state, page_size: '200', page_token: token });
      const { data, next_page_token: next } = (await api.call('GET', `${pathOf(name)}?${query}`)).json;
      for (const { position, key, attempts, failed_at: at, reason, discarded } of data) {
        const why = discarded ? `discarded: ${discarded.reason}` : reason;
        console.log(`${name}/${position}  ${at}  ${key}  ${attempts} attempts  ${why}`);
      }
      token = next;
    }
  }
}

async function show(api, ids) {
  for (const id of ids)
    console.log(JSON.stringify((await api.call('GET', pathOf(id))).json.dead_letter, null, 2));
}

async function change(api, ids, verb, body) {
  for (const id of ids) {
    await api.call('POST', `${pathOf(id)}/${verb}`, body);
    console.log(
      verb === 'discard' ? `${id} discarded` : `${id} is being redelivered; run \`show\` to see the result`,
    );
  }
}

function pathOf(name) {
  return `/api/dead-letters/${name.split('/').map(encodeURIComponent).join('/')}`;
}
