import type { MailContent } from '@gateway/base';

export interface AlertPagesOptions {
  /** Rejects while auth is unavailable; empty if the organization does not exist. */
  readonly organizationName: (organizationId: string) => Promise<string>;
  /** The dashboard's origin; undefined: unknown, so emails have no link. */
  readonly dashboardUrl: () => string | undefined;
}

/** The names and pages that emails about an organization have. */
export interface AlertPages {
  /** The name of the organization, or its id while the name is unavailable. */
  nameOf(organizationId: string): Promise<string>;
  linkTo(organizationId: string, path: string, label: string): Pick<MailContent, 'link'>;
}

export function createAlertPages({ organizationName, dashboardUrl }: AlertPagesOptions): AlertPages {
  return {
    nameOf: async (organizationId) =>
      (await organizationName(organizationId).catch(() => '')) || organizationId,
    linkTo(organizationId, path, label) {
      const origin = dashboardUrl();
      return origin === undefined ? {} : { link: { label, url: `${origin}/o/${organizationId}${path}` } };
    },
  };
}
