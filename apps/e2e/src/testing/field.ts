import type { Locator, Page } from './chromium';

/**
 * The field with exactly this label, apart from a note in parentheses after it. `getByLabel` also finds longer
 * labels, for example a search field of the page before.
 */
export function field(within: Page | Locator, label: string): Locator {
  const pattern = label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return within.getByLabel(new RegExp(`^${pattern}( \\(.+\\))?$`));
}
