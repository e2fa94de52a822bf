import type { Actor, Member } from '@gateway/contracts/auth';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { DashboardError } from '../../core/dashboard-error';

/** What the session check leaves for the handlers. */
export interface SignedIn {
  readonly member: Member;
  readonly sessionToken: string;
  readonly expiresUnixMs: bigint;
}

export function signedInOf(response: Response): SignedIn {
  const signedIn = response.locals['signedIn'] as SignedIn | undefined;
  if (!signedIn) throw new DashboardError('not_signed_in');
  return signedIn;
}

export function actorOf(response: Response): Actor {
  const { member } = signedInOf(response);
  return { id: member.id, label: member.email, ipAddress: addressOf(response) };
}

/** The client's address in canonical form; empty when none can be read. */
export function addressOf(response: Response): string {
  return (response.locals['clientAddress'] as string | undefined) ?? '';
}

/** The body in its shape, or the first fault of it. */
export function readBody<Schema extends z.ZodType>(request: Request, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse((request.body as unknown) ?? {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const param = pathOf([...issue.path, issue.keys[0] ?? '']);
    throw new DashboardError('invalid', { message: `Unknown field: ${param}.`, param });
  }
  const param = pathOf(issue?.path ?? []);
  if (param === '') throw new DashboardError('invalid', { message: 'The body must be a JSON object.' });
  throw new DashboardError('invalid', { message: `${param}: ${issue?.message ?? 'not valid'}.`, param });
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

export function pathParameter(request: Request, name: string): string {
  const value = request.params[name];
  if (typeof value !== 'string') throw new DashboardError('not_found');
  return value;
}

const MAX_PAGE_SIZE = 200;

/** The page that the query asks for. */
export function readPage(request: Request): { pageSize: number; pageToken: string } {
  const { page_size: size = '50', page_token: token = '' } = request.query;
  if (typeof size !== 'string' || !/^[1-9]\d{0,2}$/.test(size) || Number(size) > MAX_PAGE_SIZE) {
    throw new DashboardError('invalid', {
      message: `page_size must be a whole number from 1 to ${MAX_PAGE_SIZE}.`,
      param: 'page_size',
    });
  }
  if (typeof token !== 'string') {
    throw new DashboardError('invalid', { message: 'page_token must be given once.', param: 'page_token' });
  }
  return { pageSize: Number(size), pageToken: token };
}
