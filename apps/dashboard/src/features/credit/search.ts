import { enumParam, omitUndefined, stringParam } from '../../app/search';

const VIEWS = ['credits', 'all'] as const;

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;
const DAY = /^\d{4}-(0[1-9]|1[0-2])-\d{2}$/;

/** The search parameters of the credit page: what its statement shows. */
export function readCreditSearch(search: Record<string, unknown>) {
  const [month, day] = [stringParam(search, 'month'), stringParam(search, 'day')];
  return omitUndefined({
    month: month !== undefined && MONTH.test(month) ? month : undefined,
    /** Absent: one line per day. */
    view: enumParam(search, 'view', VIEWS),
    /** The transactions of this day. */
    day: day !== undefined && DAY.test(day) ? day : undefined,
    /** The open dialog. */
    action: enumParam(search, 'action', ['add']),
  });
}

export type CreditSearch = ReturnType<typeof readCreditSearch>;
