import { modelWith, ORGANIZATION } from '../../testing/fixtures';
import { allowedModels } from './allowed-models';

const models = [
  { ...modelWith('both'), target_places: [place('a', 'eu'), place('b', null)] },
  { ...modelWith('only-b'), target_places: [place('b', null)] },
  { ...modelWith('embedding'), max_output_tokens: 0, target_places: [place('b', null)] },
];

function place(provider: string, region: string | null) {
  return { provider, region };
}

const idsWith = (rules: object) =>
  allowedModels(models, { ...ORGANIZATION.target_rules, ...rules }).map(({ id }) => id);

it.each<[rules: object, ids: readonly string[]]>([
  [{}, ['both', 'only-b']],
  [{ denied_providers: ['a'] }, ['both', 'only-b']],
  [{ denied_providers: ['b'] }, ['both']],
  [{ allowed_regions: ['eu'] }, ['both']],
  [{ allowed_providers: ['c'] }, []],
])('with the rules %j these are allowed: %j', (rules, ids) => {
  expect(idsWith(rules)).toEqual(ids);
});
