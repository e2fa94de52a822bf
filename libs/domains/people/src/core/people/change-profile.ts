import { isTimeZone } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { auditOf, invalid, MAX_NAME_CHARACTERS, readText, type AdminRefusal } from '@gateway/auth-shared';
import type { ProfileChanges } from '../ports';
import { ownAccount, type FromSession, type OwnAccountPorts } from '../sign-in/own-account';

/** @returns empty for no name. Angle brackets are refused, since labels have the email in them. */
export function readPersonName(name: string): string | AdminRefusal {
  if (name.trim() === '') return '';
  if (/[<>]/.test(name)) return invalid('name', 'name must not contain "<" or ">".');
  return readText('name', name, MAX_NAME_CHARACTERS);
}

/** Changes how others see the signed-in person, and the time zone of their emails. */
export async function changeProfile(
  ports: OwnAccountPorts,
  {
    person,
    name: requested,
    timeZone,
  }: FromSession & { readonly [Field in keyof ProfileChanges]?: string | undefined },
): Promise<AdminRefusal | undefined> {
  const account = await ownAccount(ports, { person });
  if (isRefusal(account)) return account;
  const name = requested === undefined ? undefined : readPersonName(requested);
  if (isRefusal(name)) return name;
  if (timeZone !== undefined && !isTimeZone(timeZone))
    return invalid('time_zone', 'time_zone must be an IANA time zone, such as Europe/Berlin.');
  const changes = { ...(name !== undefined && { name }), ...(timeZone !== undefined && { timeZone }) };
  const details = {
    ...(name !== undefined && { name }),
    ...(timeZone !== undefined && { time_zone: timeZone }),
  };
  if (Object.keys(details).length === 0) return undefined;
  const { actor, member } = account;
  const audit = auditOf({ actor, action: 'member.change_profile', target: member.id, details }, ports);
  await ports.members.changeProfile(member.id, changes, audit);
  return undefined;
}
