import { apiPath, useOperation } from '../../api/rest.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { Choice } from '../../design/fields.tsx';
import { percent } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, NEAR } from '../../design/pieces.tsx';
import { LevelTable } from '../level-table.tsx';

const SHARES = ['0', '0.5', String(NEAR), '0.9', '1'];
const FEATURES_OFFERED = 100;
const PAGE = 25;

/** Every customer with a limit or budget, the fullest first. */
export function LevelsScreen() {
  const { feature = '', above = String(NEAR), after = '' } = usePlace().query;
  const share = SHARES.find((one) => one === above) ?? String(NEAR);
  const query = { above: share, featureKey: feature, cursor: after, limit: PAGE };
  const read = useOperation<'usageLevels.list'>(apiPath(['usage', 'levels'], query));
  const link = (cursor: string | undefined) =>
    linkTo(['overview', 'levels'], { feature, above: share, after: cursor });
  return (
    <Screen title="Limits and budgets" above={{ text: 'Overview', link: linkTo(['overview']) }}>
      <Filters feature={feature} share={share} />
      <Card title={share === '0' ? 'All customers with usage' : `Used ${percent(Number(share))} or more`}>
        <Loaded read={read} lines={10}>
          {({ data, nextCursor }) => (
            <>
              <LevelTable levels={data} empty="No customer has used that much." />
              <div class="row">
                {after === '' ? null : <a href={link(undefined)}>First page</a>}
                {nextCursor ? <a href={link(nextCursor)}>Next page</a> : null}
              </div>
            </>
          )}
        </Loaded>
      </Card>
    </Screen>
  );
}

function Filters({ feature, share }: { feature: string; share: string }) {
  const { data } = useOperation<'features.list'>(apiPath(['features'], { pageSize: FEATURES_OFFERED }));
  const metered = (data?.data ?? []).filter(({ type }) => type === 'metered');
  const known = metered.map(({ key, name }) => [key, name] as const);
  const others =
    feature === '' || known.some(([key]) => key === feature) ? [] : [[feature, feature] as const];
  return (
    <div class="fields">
      <Choice
        label="Feature"
        value={feature}
        options={[['', 'All features'], ...known, ...others]}
        onChoose={(one) => changeQuery({ feature: one, after: undefined })}
      />
      <Choice
        label="Used at least"
        value={share}
        options={SHARES.map((one) => [one, one === '0' ? 'Anything' : percent(Number(one))] as const)}
        onChoose={(one) => changeQuery({ above: one, after: undefined })}
      />
    </div>
  );
}
