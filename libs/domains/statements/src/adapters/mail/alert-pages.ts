import type { MailContent } from '@gateway/base';

export interface AlertPagesOptions {
  /** Rejects while auth is unavailable; empty if the organization does not exist. */
  readonly organizationName: (organizationId: string) => Promise<string>;
  /** The IANA time zones of people by email. Rejects while auth is unavailable. */
  readonly timeZones: (emails: readonly string[]) => Promise<Readonly<Record<string, string>>>;
  /** The dashboard's origin; undefined: unknown, so emails have no link. */
  readonly dashboardUrl: () => string | undefined;
}

/** The names, time zones and pages that emails about an organization have. */
export interface AlertPages {
  /** The name of the organization, or its id while the name is unavailable. */
  nameOf(organizationId: string): Promise<string>;
  /** The IANA time zones by email, of people who have one; none while auth is unavailable. */
  timeZonesOf(emails: readonly string[]): Promise<Readonly<Record<string, string>>>;
  linkTo(organizationId: string, path: string, label: string): Pick<MailContent, 'link'>;
}

export function createAlertPages({
  organizationName,
  timeZones,
  dashboardUrl,
}: AlertPagesOptions): AlertPages {
  return {
    nameOf: async (organizationId) =>
      (await organizationName(organizationId).catch(() => '')) || organizationId,
    timeZonesOf: (emails) => timeZones(emails).catch(() => ({})),
    linkTo(organizationId, path, label) {
      const origin = dashboardUrl();
      return origin === undefined ? {} : { link: { label, url: `${origin}/o/${organizationId}${path}` } };
    },
  };
}
