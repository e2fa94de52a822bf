import {
  dashboardErrors,
  type DashboardErrorCode,
  type DashboardErrorRow,
} from '@gateway/dashboard-contract';

export type { DashboardErrorCode };

export interface DashboardErrorOptions {
  /** Public text; the table's when absent. */
  readonly message?: string;
  /** The offending field. */
  readonly param?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
  /** For our logs only. */
  readonly cause?: unknown;
}

/** An error on its way to the browser. */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
  readonly param: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: DashboardErrorCode,
    options: DashboardErrorOptions = {},
  ) {
    super(options.message ?? dashboardErrors[code].message, { cause: options.cause });
    this.param = options.param;
    this.metadata = options.metadata ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }

  get row(): DashboardErrorRow {
    return dashboardErrors[this.code];
  }

  /** The body of the answer: the envelope of the public API. */
  envelope(): { readonly error: Readonly<Record<string, unknown>> } {
    return {
      error: {
        message: this.message,
        type: this.row.type,
        ...(this.param === undefined ? {} : { param: this.param }),
        code: this.code,
        metadata: this.metadata,
      },
    };
  }
}
