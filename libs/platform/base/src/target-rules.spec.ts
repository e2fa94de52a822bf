import { mayUseTarget, NO_TARGET_RULES, restrictsTargets, type TargetRules } from './target-rules';

const EU = { provider: 'Acme', region: 'eu-west-1' };
const NOWHERE = { provider: 'acme' };

it.each<[string, Partial<TargetRules>, boolean, boolean]>([
  ['no rules', {}, true, true],
  ['an allowed provider, in any case', { allowedProviders: ['acme'] }, true, true],
  ['another allowed provider', { allowedProviders: ['other'] }, false, false],
  ['a denied provider', { deniedProviders: ['acme'] }, false, false],
  [
    'a provider that is both allowed and denied',
    { allowedProviders: ['acme'], deniedProviders: ['acme'] },
    false,
    false,
  ],
  ['an allowed region excludes a target without a region', { allowedRegions: ['eu-west-1'] }, true, false],
  ['another allowed region', { allowedRegions: ['us'] }, false, false],
  ['a denied region', { deniedRegions: ['eu-west-1'] }, false, true],
  ['both lists must agree', { allowedProviders: ['acme'], deniedRegions: ['eu-west-1'] }, false, true],
])('%s', (_, rules, inRegion, withoutRegion) => {
  const all = { ...NO_TARGET_RULES, ...rules };
  expect([mayUseTarget(all, EU), mayUseTarget(all, NOWHERE)]).toEqual([inRegion, withoutRegion]);
  expect(restrictsTargets(all)).toBe(Object.keys(rules).length > 0);
});
