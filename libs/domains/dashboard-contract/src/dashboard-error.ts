import { dashboardErrors, type DashboardErrorCode, type DashboardErrorRow } from './errors';

export interface DashboardErrorOptions {
  /** Public text; that of the error table by default. */
  readonly message?: string;
  /** The invalid field. */
  readonly param?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
  /** For the logs only. */
  readonly cause?: unknown;
}

/** An error of the dashboard API's error table. */
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

  /** The response body, in the public API's error format. */
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
